//! Records of deletions, stored outside the table: they must be repeated after the table is restored.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{CandidateId, CompanyId, CustomerId, ProjectId, VideoId};
use crate::names::named;

/// The record of a deletion. It stays valid while it is kept, because identifiers are not reused in that time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureRecord {
    /// The company of the item.
    pub company: CompanyId,
    /// The deleted item.
    pub erased: ErasedItem,
    /// When the deletion was recorded, to the second. Each attempt to erase what the deletion left behind records it before it
    /// erases files.
    pub at: DateTime<Utc>,
}

named! {
    /// Why something was erased.
    pub enum ErasureReason {
        /// Deleted by a user, or by a service with a named token.
        Deleted = "deleted",
        /// Erasure was requested by the candidate, or by a manager for them.
        Requested = "requested",
        /// The retention period of the company or of the project had passed.
        Retention = "retention",
        /// The company's contract has ended.
        CompanyClosed = "company_closed",
        /// Deleted before, and again because the service was restored to a moment before the deletion.
        Restored = "restored",
    }
}

/// The cause of an erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureCause {
    pub reason: ErasureReason,
    /// When an erasure that a restoration of the service has undone was first recorded; `None` if none was undone.
    pub deleted_before: Option<DateTime<Utc>>,
    /// Until when the client may still upload files; `None` if it cannot.
    pub settles_at: Option<DateTime<Utc>>,
}

impl From<ErasureReason> for ErasureCause {
    fn from(reason: ErasureReason) -> Self {
        Self { reason, deleted_before: None, settles_at: None }
    }
}

impl ErasureRecord {
    /// The cause for erasing the item again after a restoration.
    pub fn cause(&self) -> ErasureCause {
        ErasureCause { deleted_before: Some(self.at), ..ErasureReason::Restored.into() }
    }
}

/// The numbers of erased items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ErasureCounts {
    /// The number of items that the deletion itself deleted: the candidate, names, search entries, shares. 0 if they had been
    /// deleted before.
    pub items: usize,
    /// The number of evaluations, including drafts.
    pub evaluations: usize,
    /// The number of history entries that now contain only author, types and time, including that of the deletion.
    pub history_entries: usize,
    /// The number of files.
    pub files: usize,
    /// The total size of the files, in bytes.
    pub bytes: u64,
}

impl ErasureCounts {
    /// Returns the larger value of each count: an earlier, interrupted attempt may have erased most of the data.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            items: self.items.max(other.items),
            evaluations: self.evaluations.max(other.evaluations),
            history_entries: self.history_entries.max(other.history_entries),
            files: self.files.max(other.files),
            bytes: self.bytes.max(other.bytes),
        }
    }

    /// Whether all counts are 0.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The sum of each count.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            items: self.items + other.items,
            evaluations: self.evaluations + other.evaluations,
            history_entries: self.history_entries + other.history_entries,
            files: self.files + other.files,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// For how many days copies of erased data are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyRetention {
    /// Backups of the table, and previous versions of files.
    pub recovery_days: i64,
    pub log_days: i64,
}

/// The erasure of a candidate, as the history keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct ErasureDetails {
    /// Why the candidate was erased. Only events `candidate.erased` have this field.
    #[schemars(extend("examples" = []))]
    pub reason: ErasureReason,
    /// The numbers of erased items. Only events `candidate.erased` have this field.
    #[schemars(extend("examples" = []))]
    pub erased: ErasureCounts,
}

/// An item with personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ErasedItem {
    /// A candidate.
    Candidate { project: ProjectId, candidate: CandidateId },
    /// A staff user.
    Customer { customer: CustomerId },
    /// A welcome video.
    Video { video: VideoId },
    /// The company, whose contract has ended.
    Company,
}
