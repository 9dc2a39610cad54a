//! Exports: archives of their company that owners request.

#[cfg(test)]
mod tests;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::history::erasure::ErasedItem;
use crate::history::{EventType, FieldChanges, ResourceChange, ResourceRef};
use crate::id::{CompanyId, CustomerId, ExportId};
use crate::names::named;
use crate::work::WorkState;

/// How many exports a company may request within [`WINDOW`].
const MAX_REQUESTS: usize = 4;
/// The time in which requests are counted.
const WINDOW: TimeDelta = TimeDelta::hours(24);
/// How long an archive can be downloaded.
const DOWNLOADABLE: TimeDelta = TimeDelta::hours(72);
/// How long an export is listed, from its request on.
const LISTED: TimeDelta = TimeDelta::days(7);
/// The pause after an attempt that has failed.
const PAUSE: TimeDelta = TimeDelta::minutes(2);
/// The maximum number of erasures between two steps of a worker. After more, the worker starts over.
const MOST_ERASED: usize = 100;
/// An upper limit for the time between the recorded moment of a deletion, which is when its function began, and its end.
const DELETION: TimeDelta = TimeDelta::minutes(16);
/// The maximum number of attempts.
const ATTEMPTS: u32 = 3;

/// The company has an export that has not ended.
pub const EXPORT_RUNNING: Refusal = Refusal {
    code: "export_running",
    detail: "An export of this company is still running. Wait until it has ended, or delete it.",
};

named! {
    /// How far an export has come.
    #[schemars(extend("x-closed-set" = true))]
    pub enum ExportStatus {
        /// The export has not started. It starts within minutes.
        Pending = "pending",
        /// The archive is being written.
        Running = "running",
        /// The archive can be downloaded.
        Successful = "successful",
        /// No archive could be written. Request another export.
        Failed = "failed",
        /// The archive was deleted, after it could be downloaded for 72 hours.
        Expired = "expired",
    }
}

named! {
    /// Why an export has failed.
    pub enum ExportFailure {
        /// The company has more data than one export can hold. The operator of the service can export it.
        TooLarge = "too_large",
        /// The service has failed three times to write the archive.
        Internal = "internal",
    }
}

named! {
    /// A mail about an export.
    pub enum ExportMail {
        /// The export was requested.
        Requested = "export-requested",
        /// The archive can be downloaded.
        Finished = "export-finished",
        /// The export has failed.
        Failed = "export-failed",
    }
}

/// How much an export has written so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportProgress {
    /// Records that were read.
    pub records: u64,
    /// Photos, CVs and recordings that were listed.
    pub media: u64,
    /// The estimated share of work done, in percent.
    pub percent: u32,
}

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedFile {
    pub name: String,
    /// The size in bytes.
    pub size: u64,
    /// The hash in hexadecimal.
    pub sha256: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedArchive {
    /// Names the attempt that wrote the archive: the version of the export when the attempt began.
    pub attempt: u64,
    /// The number of the last event in the archive.
    pub sequence: u64,
    /// Whether all records show the state after that event.
    pub is_exact: bool,
    /// All files except media; the manifest and its signature come first.
    pub files: Vec<ExportedFile>,
    /// The number of lines in the list of media.
    pub media: u64,
}

/// An archive of a company that an owner has requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompanyExport {
    pub id: ExportId,
    pub company: CompanyId,
    /// When the export was requested.
    pub created_at: DateTime<Utc>,
    /// The owner who has requested the export.
    pub created_by: CustomerId,
    pub status: ExportStatus,
    /// How often the service has begun to write the archive.
    pub attempts: u32,
    /// When the last attempt began; `None` before the first.
    pub begun_at: Option<DateTime<Utc>>,
    /// When the archive is to be written, or when its files are to be deleted.
    pub work: WorkState,
    pub progress: ExportProgress,
    /// When the archive became available, or the export failed; `None` before.
    pub finished_at: Option<DateTime<Utc>>,
    /// The archive; `None` unless it can be downloaded.
    pub archive: Option<ExportedArchive>,
    /// Why the export failed; `None` if it did not.
    pub failure: Option<ExportFailure>,
    /// When an owner or an erasure deleted the export; `None` if neither did. A deleted export is not shown. It counts among the
    /// day's requests only if an owner deleted it.
    pub deleted_at: Option<DateTime<Utc>>,
    /// Items that were erased while the archive is being written, and that its worker does not know of yet.
    pub erased: Vec<ErasedItem>,
    /// Whether an erasure deleted the export, so that it does not count among the day's requests.
    pub is_withdrawn: bool,
}

/// The latest export of a company.
// Each request for an export replaces this item, so that one of two concurrent requests detects the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatestExport {
    pub company: CompanyId,
    pub export: ExportId,
}

/// Why no export may be requested now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportRefusal {
    /// An export is still running.
    Running,
    /// There were too many requests; the time until another export may be requested.
    Throttled(TimeDelta),
}

impl CompanyExport {
    /// The duration of a worker's lease. After it, another worker starts over.
    // Longer than a function can run.
    pub const LEASE: TimeDelta = TimeDelta::minutes(16);

    /// An export that `customer` requests at `now`.
    pub fn requested(id: ExportId, company: CompanyId, customer: CustomerId, now: DateTime<Utc>) -> Self {
        Self {
            id,
            company,
            created_at: now,
            created_by: customer,
            status: ExportStatus::Pending,
            attempts: 0,
            begun_at: None,
            work: WorkState::due(now),
            progress: ExportProgress::default(),
            finished_at: None,
            archive: None,
            failure: None,
            deleted_at: None,
            erased: Vec::new(),
            is_withdrawn: false,
        }
    }

    /// Checks that a company with these `exports`, deleted ones included, may request another one at `now`.
    pub fn check_request<'a>(
        exports: impl IntoIterator<Item = &'a Self>,
        now: DateTime<Utc>,
    ) -> Result<(), ExportRefusal> {
        let mut requests: Vec<DateTime<Utc>> = Vec::new();
        for export in exports {
            if export.is_under_way() {
                return Err(ExportRefusal::Running);
            }
            let counts = !export.is_withdrawn && export.created_at > now - WINDOW;
            requests.extend(counts.then_some(export.created_at));
        }
        requests.sort();
        // This request must leave the window before another one fits.
        match requests.len().checked_sub(MAX_REQUESTS).and_then(|place| requests.get(place)) {
            Some(oldest) => Err(ExportRefusal::Throttled(*oldest + WINDOW - now)),
            None => Ok(()),
        }
    }

    /// Whether the archive is yet to be written or completed.
    pub fn is_under_way(&self) -> bool {
        self.deleted_at.is_none() && matches!(self.status, ExportStatus::Pending | ExportStatus::Running)
    }

    /// When the archive can no longer be downloaded; `None` if it never can be.
    pub fn expires_at(&self) -> Option<DateTime<Utc>> {
        matches!(self.status, ExportStatus::Successful | ExportStatus::Expired)
            .then(|| self.finished_at.map(|at| at + DOWNLOADABLE))?
    }

    /// When the lease of the last attempt ends, so that its worker has certainly stopped; `None` before the first attempt.
    fn lease_ends_at(&self) -> Option<DateTime<Utc>> {
        self.begun_at.map(|begun| begun + Self::LEASE)
    }

    /// Whether a worker may be writing the archive at `now`.
    pub fn is_being_written(&self, now: DateTime<Utc>) -> bool {
        self.status == ExportStatus::Running && self.work.is_leased(now)
    }

    /// When the export is removed from the list.
    pub fn forgotten_at(&self) -> DateTime<Utc> {
        self.created_at + LISTED
    }

    /// Leases the export to a worker that writes the archive from `now` on. `None` after too many attempts.
    pub fn lease(self, now: DateTime<Utc>) -> Option<Self> {
        (self.attempts < ATTEMPTS).then(|| Self {
            status: ExportStatus::Running,
            attempts: self.attempts + 1,
            begun_at: Some(now),
            erased: Vec::new(),
            work: WorkState::leased(now + Self::LEASE),
            progress: ExportProgress::default(),
            ..self
        })
    }

    /// The export with this progress, after its worker has dealt with all erasures.
    pub fn advanced(self, progress: ExportProgress) -> Self {
        Self { progress, erased: Vec::new(), ..self }
    }

    /// Whether the worker of the attempt in `before` is still writing the archive.
    pub fn continues(&self, before: &Self) -> bool {
        self.status == ExportStatus::Running && self.begun_at == before.begun_at && self.deleted_at.is_none()
    }

    /// Ends the lease of an attempt that failed at `now`. The next attempt is due after a pause.
    pub fn release(self, now: DateTime<Utc>) -> Self {
        Self { work: WorkState::due(now + PAUSE), ..self }
    }

    /// The export with an archive that can be downloaded from `now` on.
    pub fn finished(self, archive: ExportedArchive, now: DateTime<Utc>) -> Self {
        Self {
            status: ExportStatus::Successful,
            finished_at: Some(now),
            progress: ExportProgress { percent: 100, ..self.progress },
            archive: Some(archive),
            work: WorkState::due(now + DOWNLOADABLE),
            ..self
        }
    }

    /// The export after the service gave it up at `now`.
    pub fn failed(self, failure: ExportFailure, now: DateTime<Utc>) -> Self {
        let failure = Some(failure);
        // Due at once, so that the files of the attempt are deleted.
        Self {
            status: ExportStatus::Failed,
            finished_at: Some(now),
            failure,
            work: WorkState::due(now),
            ..self
        }
    }

    /// The export after its deletion at `now`. It is due at once, so that its files are deleted.
    pub fn deleted(self, now: DateTime<Utc>) -> Self {
        Self { deleted_at: Some(now), archive: None, work: WorkState::due(now), ..self }
    }

    /// The export after the erasure of an item that was deleted at `gone_at`. If the archive may contain the item, a finished
    /// export is deleted, and the worker of a running one is told; the erasure of the company deletes any export. `None` if the
    /// archive cannot contain the item, or if the worker is told already.
    pub fn after_erasure(
        self,
        erased: ErasedItem,
        gone_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Option<Self> {
        let began_afterwards = self.begun_at.is_some_and(|begun| begun > gone_at + DELETION);
        match self.status {
            _ if self.deleted_at.is_some() => None,
            _ if erased == ErasedItem::Company => Some(self.deleted(now)),
            _ if began_afterwards => None,
            // The worker re-reads the item when it finds it here.
            ExportStatus::Running if self.erased.contains(&erased) => None,
            ExportStatus::Running if self.erased.len() < MOST_ERASED => {
                let mut after = self;
                after.erased.push(erased);
                Some(after)
            }
            ExportStatus::Running => {
                let progress = ExportProgress::default();
                // The attempt has not failed, so it does not count.
                let attempts = self.attempts.saturating_sub(1);
                let work = WorkState::due(now);
                Some(Self { status: ExportStatus::Pending, attempts, progress, work, ..self })
            }
            ExportStatus::Successful => Some(Self { is_withdrawn: true, ..self.deleted(now) }),
            ExportStatus::Pending | ExportStatus::Failed | ExportStatus::Expired => None,
        }
    }

    /// The export after its files were deleted at `now`. If an attempt may still store files, they are deleted again after its lease.
    pub fn without_files(self, now: DateTime<Utc>) -> Self {
        // Keep the export leased until the end of the worker's lease, because the worker may still store files.
        let is_unfinished = matches!(self.status, ExportStatus::Pending | ExportStatus::Running);
        let leased_until = self.lease_ends_at().filter(|end| is_unfinished && now < *end);
        let status = match self.status {
            ExportStatus::Successful => ExportStatus::Expired,
            status => status,
        };
        Self { status, archive: None, work: WorkState { leased_until, ..WorkState::IDLE }, ..self }
    }

    /// The history entry for the change from `before`. Only the success and the deletion of an export have one.
    pub fn change_since(&self, before: &Self) -> Option<ResourceChange> {
        let event = match (before, self) {
            (Self { deleted_at: None, .. }, Self { deleted_at: Some(_), .. }) => {
                EventType::CompanyExportDeleted
            }
            (Self { finished_at: None, .. }, Self { status: ExportStatus::Successful, .. }) => {
                EventType::CompanyExported
            }
            _ => return None,
        };
        let resource = ResourceRef::Export { export: self.id };
        Some(ResourceChange::new(&self.company, resource, vec![event], FieldChanges::default()))
    }
}
