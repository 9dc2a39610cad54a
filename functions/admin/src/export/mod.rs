//! Writes everything of a company as an archive into a folder, while the service goes on.
//!
//! **One moment.** The company's events have numbers without gaps, so no lock is needed. Events that came while everything was
//! read name the resources that have changed. These are read again until no record is newer than the last event, so that
//! every record is as of that event.

mod folder;
mod media;
mod unit;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use serde_json::json;
use shared::app::App;
use shared::auth::OperatorAccess;
use shared::clock::Stopwatch;
use shared::domain::history::HistoryEntry;
use shared::domain::id::CompanyId;
use shared::domain::privacy::receipt::{ReceiptKey, ReceiptKeys};
use shared::http::view::ReceiptView;
use shared::store::{ArchiveRecord, EntryKey, EventSequence, VersionedItem};

use crate::archive::{
    self, ArchiveFile, FORMAT, MANIFEST, MEDIA, Manifest, MediaCount, PATIENCE, Result, SIGNATURE,
};
use folder::ArchiveFolder;
use unit::ArchiveUnit;

/// How often what has changed is read again. Each round is shorter than the one before, unless the company never rests.
const ROUNDS: usize = 10;
/// Events that are read together.
const EVENTS_TOGETHER: usize = 100;
/// The pause before another look for events whose numbers the index does not show yet, and the most of these looks.
const PAUSE: Duration = Duration::from_millis(500);
const LOOKS: usize = 240;

/// Longer than an event waits for its number, unless the table's stream is late.
const NUMBERING: Duration = Duration::from_secs(2);
/// Read units of DynamoDB a second. A partition allows 3,000, and the rest is for the company's users.
const UNITS_PER_SECOND: f64 = 300.0;
/// The export of a company.
pub struct CompanyExport {
    access: OperatorAccess,
    company: CompanyId,
    stopwatch: Stopwatch,
    report: fn(&str),
}

/// What an export has written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExportResult {
    /// The number of the last event in it.
    pub sequence: u64,
    /// Whether every record is as of that event.
    pub is_exact: bool,
    /// The records in all files.
    pub records: u64,
    /// The stored files.
    pub media: u64,
    /// Their bytes.
    pub media_bytes: u64,
    /// Photos and CVs that records name, but that were deleted before they could be copied.
    pub media_missing: u64,
    /// What it has used of DynamoDB.
    pub read_units: f64,
}

/// What is known of the archive while it is written.
struct ArchiveState {
    folder: ArchiveFolder,
    /// The last event when the records were read, or read again.
    sequence: u64,
    /// What may be newer than that.
    newer: BTreeSet<ArchiveUnit>,
}

impl CompanyExport {
    /// `report` is told the progress.
    pub fn new(app: &App, company: CompanyId, report: fn(&str)) -> Self {
        let access = OperatorAccess::of(app).with_patience(PATIENCE);
        Self { access, company, stopwatch: Stopwatch::start(), report }
    }

    /// Writes the archive into a folder that is empty or does not exist.
    ///
    /// # Errors
    /// Fails if there is no such company, if an item cannot be read, if a receipt cannot be signed for want of `RECEIPT_KEY`, and if
    /// DynamoDB, S3 or the disk refuse for good. Then delete the folder: a part of an archive is none.
    pub async fn write_to(&self, folder: &Path) -> Result<ExportResult> {
        let created_at = self.access.now;
        let signer = self.signer()?;
        let before = self.sequence().await?;
        if self.access.store.company(&self.company).await?.is_none() {
            return Err(format!("there is no company {}", self.company).into());
        }
        let folder = ArchiveFolder::create(folder)?;
        let mut state = ArchiveState { folder, sequence: before.last, newer: BTreeSet::new() };
        self.read_all(&mut state).await?;
        self.read_again(&mut state).await?;
        self.read_feed(&mut state).await?;
        let media = media::copy_all(self, &mut state.folder).await?;
        self.describe(state, media, created_at, signer)
    }

    /// Waits until what was read so far is no more than the export may read.
    async fn keep_pace(&self) {
        let due = Duration::from_secs_f64(self.access.usage().read_units() / UNITS_PER_SECOND);
        tokio::time::sleep(due.saturating_sub(self.stopwatch.elapsed())).await;
    }

    fn signer(&self) -> Result<&ReceiptKeys> {
        Ok(self
            .access
            .config()
            .receipt_keys
            .as_ref()
            .ok_or("RECEIPT_KEY is missing, which signs the archive")?)
    }

    async fn sequence(&self) -> Result<EventSequence> {
        let found = self.access.store.sequence(&self.company).await?;
        Ok(found.map_or_else(
            || EventSequence::new(self.company.clone(), self.access.now),
            |sequence| EventSequence::clone(&sequence),
        ))
    }

    async fn read_all(&self, state: &mut ArchiveState) -> Result<()> {
        let records = self.read_unit(ArchiveUnit::Company).await?;
        self.note_newer(state, &records).await?;
        state.folder.append(records)?;
        let projects = self.access.store.archive_projects(&self.company).await?;
        for (place, project) in projects.iter().enumerate() {
            (self.report)(&format!("project {} of {}", place + 1, projects.len()));
            let records = self.access.store.archive_project(&self.company, *project).await?;
            self.note_newer(state, &records).await?;
            state.folder.append(records)?;
            let mut after = None;
            loop {
                let page = self.access.store.archive_candidates(&self.company, *project, after).await?;
                self.keep_pace().await;
                self.note_newer(state, &page.records).await?;
                state.folder.append(page.records)?;
                after = page.reached;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Those of this deployment, and those that came with the company.
    async fn receipt_keys(&self) -> Result<Vec<ArchiveRecord>> {
        let mut keys: BTreeSet<ReceiptKey> = self.signer()?.public().iter().copied().collect();
        let imported = self.access.store.imported_receipt_keys(&self.company).await?;
        keys.extend(imported.into_iter().map(|imported| imported.key));
        keys.iter().map(archive::receipt_key).collect()
    }

    /// Notes whose last event is not among those up to the archive's last one.
    async fn note_newer(&self, state: &mut ArchiveState, records: &[ArchiveRecord]) -> Result<()> {
        let mut units: BTreeMap<(&str, u64), ArchiveUnit> = BTreeMap::new();
        let mut entries: Vec<EntryKey> = Vec::new();
        for record in records {
            if let Some(entry) = &record.last_event {
                units.insert(entry.place(), ArchiveUnit::of(record.kind.level(), &record.id)?);
                entries.push(entry.clone());
            }
        }
        let newer = self.access.store.entries_after(&entries, state.sequence).await?;
        state.newer.extend(newer.iter().filter_map(|entry| units.get(&entry.place())));
        Ok(())
    }

    /// Reads again what has changed, until nothing is newer than the last event.
    async fn read_again(&self, state: &mut ArchiveState) -> Result<()> {
        for round in 1..=ROUNDS {
            let now = self.sequence().await?;
            let mut units = std::mem::take(&mut state.newer);
            let mut after = state.sequence;
            self.for_each_event(&now, &mut after, |event| {
                units.extend(ArchiveUnit::changed_with(event.change.resource));
                Ok(())
            })
            .await?;
            state.sequence = now.last;
            (self.report)(&format!("round {round}: {} have changed", units.len()));
            let mut records = Vec::new();
            for unit in &units {
                records.extend(self.read_unit(*unit).await?);
                self.keep_pace().await;
            }
            self.note_newer(state, &records).await?;
            state.folder.replace(&units, records)?;
            tokio::time::sleep(NUMBERING).await;
            self.note_deleted(state).await?;
            if state.newer.is_empty() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Notes what was deleted after the archive's last event.
    // Such a record may have been gone when it was read, although it existed as of that event. No item is left that would tell.
    async fn note_deleted(&self, state: &mut ArchiveState) -> Result<()> {
        let now = self.sequence().await?;
        let newer = &mut state.newer;
        let mut after = state.sequence;
        self.for_each_event(&now, &mut after, |event| {
            if event.change.types.iter().any(|name| name.ends_with(".deleted")) {
                newer.extend(ArchiveUnit::changed_with(event.change.resource));
            }
            Ok(())
        })
        .await
    }

    async fn read_unit(&self, unit: ArchiveUnit) -> Result<Vec<ArchiveRecord>> {
        let store = &self.access.store;
        Ok(match unit {
            ArchiveUnit::Company => {
                let records = store.archive_company(&self.company).await?;
                let mut records = records.ok_or("the company was erased while it was read")?;
                records.extend(self.receipt_keys().await?);
                records
            }
            ArchiveUnit::Project(project) => store.archive_project(&self.company, project).await?,
            ArchiveUnit::Candidate(project, candidate) => {
                store.archive_candidate(&self.company, project, candidate).await?
            }
        })
    }

    async fn read_feed(&self, state: &mut ArchiveState) -> Result<()> {
        (self.report)("events");
        let sequence = EventSequence { last: state.sequence, ..self.sequence().await? };
        let access = &self.access;
        let mut after = 0;
        let folder = &mut state.folder;
        self.for_each_event(&sequence, &mut after, |event| {
            let record = access.store.archive_event(event)?;
            let receipt = ReceiptView::of(event, access.references(), self.access.config())?;
            let receipt = receipt.map(|receipt| archive::receipt(&record.id, &receipt)).transpose()?;
            folder.append([record].into_iter().chain(receipt).collect())
        })
        .await
    }

    /// Calls `take` with the events after number `after`, up to the last one of `sequence`.
    async fn for_each_event(
        &self,
        sequence: &EventSequence,
        after: &mut u64,
        mut take: impl FnMut(&VersionedItem<HistoryEntry>) -> Result<()>,
    ) -> Result<()> {
        let mut looks = 0;
        while *after < sequence.last {
            let Self { access, .. } = self;
            let page =
                access.store.events_after(sequence, *after, EVENTS_TOGETHER, access.now, |_| true).await?;
            self.keep_pace().await;
            for event in &page.events {
                if event.sequence.is_some_and(|number| number <= sequence.last) {
                    take(event)?;
                }
            }
            looks = if page.reached > *after { 0 } else { looks + 1 };
            *after = page.reached;
            if looks == LOOKS {
                return Err(format!("the index does not show event {}", *after + 1).into());
            }
            if looks > 0 {
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok(())
    }

    fn describe(
        &self,
        state: ArchiveState,
        media: MediaCount,
        created_at: DateTime<Utc>,
        signer: &ReceiptKeys,
    ) -> Result<ExportResult> {
        let path = state.folder.path().to_owned();
        let written = state.folder.finish()?;
        let records: BTreeMap<String, u64> =
            written.iter().map(|(kind, file)| (kind.name().to_owned(), file.lines)).collect();
        let mut files: Vec<ArchiveFile> = written.into_iter().map(|(_, file)| file).collect();
        files.push(archive::describe(&path, MEDIA.to_owned())?);
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let result = ExportResult {
            sequence: state.sequence,
            is_exact: state.newer.is_empty(),
            records: records.values().sum(),
            media: media.count,
            media_bytes: media.bytes,
            media_missing: media.missing,
            read_units: self.access.usage().read_units(),
        };
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            company: self.company.clone(),
            base_url: self.access.config().base_url.as_str().trim_end_matches('/').to_owned(),
            created_at: created_at.to_rfc3339_opts(SecondsFormat::Secs, true),
            sequence: state.sequence,
            is_exact: result.is_exact,
            newer_records: state.newer.len() as u64,
            files,
            records,
            media,
        };
        let manifest = serde_json_canonicalizer::to_vec(&json!(manifest))?;
        std::fs::write(path.join(SIGNATURE), signer.sign_manifest(&manifest))?;
        // Last: a folder with a manifest is a whole archive.
        std::fs::write(path.join(MANIFEST), manifest)?;
        Ok(result)
    }
}
