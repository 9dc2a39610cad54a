//! Writes all data of a company as an archive into a folder, while the company keeps working.
//!
//! **Consistency.** No lock is needed, because the company's events have numbers without gaps. Events that get their
//! numbers during the export name the resources that have changed. These are read again until no record is newer than
//! the last event, so that every record shows the state as of that event.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use serde_json::json;

use super::folder::ArchiveFolder;
use super::media::MediaList;
use super::observer::ExportObserver;
use super::state::ArchiveState;
use super::unit::ArchiveUnit;
use super::{
    ArchiveFile, FORMAT, MANIFEST, MEDIA, Manifest, MediaCount, Result, SIGNATURE, describe, receipt,
    receipt_key,
};
use crate::auth::SystemAccess;
use crate::clock::Stopwatch;
use crate::domain::archive::RecordKind;
use crate::domain::export::ExportProgress;
use crate::domain::history::HistoryEntry;
use crate::domain::id::CompanyId;
use crate::domain::privacy::receipt::{ReceiptKey, ReceiptKeys};
use crate::http::reference::ReferenceUris;
use crate::http::view::ReceiptView;
use crate::store::{ArchiveRecord, ArchivedUsage, EntryKey, EventSequence, VersionedItem};

/// How often changed resources are read again. Each round is shorter than the one before, unless the company changes without pause.
const ROUNDS: usize = 10;
/// How many events are read together.
const EVENTS_TOGETHER: usize = 100;
/// The pause before checking again for events that the index does not show yet, and the most checks without progress.
const PAUSE: Duration = Duration::from_millis(500);
const LOOKS: usize = 240;
/// How long to wait for events to get their numbers: longer than that takes, unless the table's stream is late.
const NUMBERING: Duration = Duration::from_secs(2);
/// The estimated progress, in percent, at the end of each part of the work.
const RECORDS_READ: u64 = 70;
const READ_AGAIN: u32 = 75;
const MEDIA_LISTED: u32 = 90;

/// The options of an [`ArchiveWriter`].
#[derive(Debug, Clone, Copy)]
pub struct WriterOptions {
    /// The most read units of DynamoDB per second. A partition allows 3,000; the rest is left to the company's users.
    pub units_per_second: u32,
    /// Whether to copy the media into the folder, in addition to their list.
    pub copies_media: bool,
}

/// Writes the archive of a company.
pub struct ArchiveWriter<'a> {
    system: &'a SystemAccess,
    company: CompanyId,
    options: WriterOptions,
    /// The keys that sign the archive. They stay the same if their secret is replaced in the meantime.
    signer: Arc<ReceiptKeys>,
    stopwatch: Stopwatch,
}

/// The outcome of an export.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExportResult {
    /// The number of the last event in the archive.
    pub sequence: u64,
    /// Whether every record shows the state as of the last event.
    pub is_exact: bool,
    /// The number of records in all files.
    pub records: u64,
    /// The number of media files.
    pub media: u64,
    /// The size of all media files in bytes.
    pub media_bytes: u64,
    /// How many photos, CVs and files of recordings the records name that no longer existed when the files were listed.
    pub media_missing: u64,
    /// The read units of DynamoDB that the export consumed.
    pub read_units: f64,
}

impl<'a> ArchiveWriter<'a> {
    /// Prepares an archive, and fetches the keys that sign it.
    ///
    /// # Errors
    /// Fails if the key's secret cannot be fetched from Secrets Manager.
    pub async fn begin(system: &'a SystemAccess, company: CompanyId, options: WriterOptions) -> Result<Self> {
        let signer = system.receipt_keys().await?;
        Ok(Self { system, company, options, signer, stopwatch: Stopwatch::start() })
    }

    /// Writes the archive into a folder that is empty or does not exist.
    ///
    /// # Errors
    /// Fails if there is no such company, if an item cannot be read, if DynamoDB, S3 or the disk fail permanently, and if
    /// the observer ends the export. Then delete the folder: it holds no complete archive.
    pub async fn write_to(&self, folder: &Path, observer: impl ExportObserver) -> Result<ExportResult> {
        let created_at = self.system.now;
        let before = self.sequence().await?;
        if self.system.store.company(&self.company).await?.is_none() {
            return Err(format!("there is no company {}", self.company).into());
        }
        let folder = ArchiveFolder::create(folder)?;
        let progress = ExportProgress::default();
        let (newer, reread) = (BTreeSet::new(), BTreeSet::new());
        let mut state = ArchiveState { folder, progress, observer, sequence: before, newer, reread };
        self.read_all(&mut state).await?;
        let objects = self.system.objects()?;
        let path = state.folder.path().to_owned();
        let mut list = MediaList::new(&objects, &self.company, &path, self.options.copies_media)?;
        let mut is_first = true;
        loop {
            let erased = state.observer.erased().await?;
            state.newer.extend(erased.into_iter().flat_map(ArchiveUnit::erased_with));
            self.read_again(&mut state).await?;
            state.progress.percent = READ_AGAIN;
            let reread = std::mem::take(&mut state.reread);
            list.list((!is_first).then_some(&reread), &mut state).await?;
            is_first = false;
            let media = self.settle_media(&mut list, &mut state).await?;
            state.progress.percent = MEDIA_LISTED;
            self.read_feed(&mut state).await?;
            let result = self.describe(&mut state, media, created_at)?;
            if state.observer.publish(&path, &result).await? {
                return Ok(result);
            }
        }
    }

    /// Reads records again until they and the list of media agree.
    // A photo may be replaced, or an answer converted, after its record was read. Files that are still missing after another read are lost.
    async fn settle_media<O: ExportObserver>(
        &self,
        list: &mut MediaList<'_>,
        state: &mut ArchiveState<O>,
    ) -> Result<MediaCount> {
        let mut lost = BTreeSet::new();
        for _ in 0..ROUNDS {
            let disagreeing = list.disagreeing();
            if disagreeing.is_empty() || disagreeing == lost {
                break;
            }
            state.newer.extend(disagreeing.iter().copied());
            state.reread.clear();
            self.read_again(state).await?;
            list.list(Some(&std::mem::take(&mut state.reread)), state).await?;
            lost = disagreeing;
        }
        list.count()
    }

    /// Reports the progress to the observer, and waits while the reads so far exceed `units_per_second`.
    async fn keep_pace<O: ExportObserver>(&self, state: &mut ArchiveState<O>) -> Result<()> {
        state.note().await?;
        let seconds = self.system.usage().read_units() / f64::from(self.options.units_per_second);
        let due = Duration::from_secs_f64(seconds);
        self.system.pause(due.saturating_sub(self.stopwatch.elapsed())).await;
        Ok(())
    }

    async fn sequence(&self) -> Result<EventSequence> {
        let found = self.system.store.sequence(&self.company).await?;
        Ok(found.map_or_else(
            || EventSequence::new(self.company.clone(), self.system.now),
            |sequence| EventSequence::clone(&sequence),
        ))
    }

    async fn read_all<O: ExportObserver>(&self, state: &mut ArchiveState<O>) -> Result<()> {
        let store = &self.system.store;
        let records = self.read_unit(ArchiveUnit::Company).await?;
        self.note_newer(state, &records).await?;
        state.append(records)?;
        let all = store.company_remains(&self.company).await?.candidates;
        let mut read = 0;
        for project in store.archive_projects(&self.company).await? {
            let records = store.archive_project(&self.company, project).await?;
            self.note_newer(state, &records).await?;
            state.append(records)?;
            let mut after = None;
            loop {
                let page = store.archive_candidates(&self.company, project, after).await?;
                read +=
                    page.records.iter().filter(|record| record.kind == RecordKind::Candidates).count() as u64;
                // Limit the share, because candidates may be created during the export.
                let share = RECORDS_READ * read.min(all) / all.max(1);
                state.progress.percent = u32::try_from(share)?;
                self.keep_pace(state).await?;
                self.note_newer(state, &page.records).await?;
                state.append(page.records)?;
                after = page.reached;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The records of the keys that verify receipts: those of this deployment, and those that were imported with the company.
    async fn receipt_keys(&self) -> Result<Vec<ArchiveRecord>> {
        let mut keys: BTreeSet<ReceiptKey> = self.signer.public().iter().copied().collect();
        let imported = self.system.store.imported_receipt_keys(&self.company).await?;
        keys.extend(imported.into_iter().map(|imported| imported.key));
        keys.iter().map(receipt_key).collect()
    }

    /// Adds to `newer` the units of those records whose last event comes after the archive's last event.
    async fn note_newer<O>(&self, state: &mut ArchiveState<O>, records: &[ArchiveRecord]) -> Result<()> {
        let mut units: BTreeMap<(&str, u64), ArchiveUnit> = BTreeMap::new();
        let mut entries: Vec<EntryKey> = Vec::new();
        for record in records {
            if let Some(entry) = &record.last_event {
                units.insert(entry.place(), ArchiveUnit::of(record.kind.level(), &record.id)?);
                entries.push(entry.clone());
            }
        }
        let newer = self.system.store.entries_after(&entries, state.sequence.last).await?;
        state.newer.extend(newer.iter().filter_map(|entry| units.get(&entry.place())));
        Ok(())
    }

    /// Reads changed units again until no record is newer than the last event.
    async fn read_again<O: ExportObserver>(&self, state: &mut ArchiveState<O>) -> Result<()> {
        for _ in 0..ROUNDS {
            let now = self.sequence().await?;
            let mut units = std::mem::take(&mut state.newer);
            let mut after = state.sequence.last;
            self.for_each_event(state, &now, &mut after, |_, event| {
                units.extend(ArchiveUnit::changed_with(event.change.resource));
                Ok(())
            })
            .await?;
            state.sequence = now;
            let mut records = Vec::new();
            state.reread.extend(units.iter().copied());
            for unit in &units {
                records.extend(self.read_unit(*unit).await?);
                self.keep_pace(state).await?;
            }
            self.note_newer(state, &records).await?;
            state.folder.replace(&units, records)?;
            state.note().await?;
            self.system.pause(NUMBERING).await;
            self.note_deleted(state).await?;
            if state.newer.is_empty() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Adds to `newer` the units in which something was deleted after the archive's last event.
    // A deleted record may be missing in the archive although it existed as of the last event, and no item is left to show that.
    async fn note_deleted<O: ExportObserver>(&self, state: &mut ArchiveState<O>) -> Result<()> {
        let now = self.sequence().await?;
        let mut after = state.sequence.last;
        self.for_each_event(state, &now, &mut after, |state, event| {
            if event.change.types.iter().any(|name| name.ends_with(".deleted")) {
                state.newer.extend(ArchiveUnit::changed_with(event.change.resource));
            }
            Ok(())
        })
        .await
    }

    async fn read_unit(&self, unit: ArchiveUnit) -> Result<Vec<ArchiveRecord>> {
        let store = &self.system.store;
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

    async fn read_feed<O: ExportObserver>(&self, state: &mut ArchiveState<O>) -> Result<()> {
        let sequence = EventSequence { last: state.sequence.last, ..self.sequence().await? };
        let config = self.system.config();
        let references = ReferenceUris::new(config);
        let mut after = 0;
        for kind in [RecordKind::Events, RecordKind::Receipts, RecordKind::Usage] {
            state.folder.clear(kind)?;
        }
        // Read the usage as of the last event, as all records.
        let usage = self.system.store.usage_up_to(&state.sequence).await?;
        state.append(ArchivedUsage::all_of(&usage).map(ArchivedUsage::to_record).collect())?;
        self.for_each_event(state, &sequence, &mut after, |state, event| {
            let record = self.system.store.archive_event(event)?;
            let signed = ReceiptView::of(event, references, config, &self.signer)?;
            let signed = signed.map(|signed| receipt(&record.id, &signed)).transpose()?;
            state.append([record].into_iter().chain(signed).collect())
        })
        .await
    }

    /// Calls `take` with the events after number `after`, up to the last one of `sequence`.
    async fn for_each_event<O: ExportObserver>(
        &self,
        state: &mut ArchiveState<O>,
        sequence: &EventSequence,
        after: &mut u64,
        mut take: impl FnMut(&mut ArchiveState<O>, &VersionedItem<HistoryEntry>) -> Result<()>,
    ) -> Result<()> {
        let mut looks = 0;
        while *after < sequence.last {
            let SystemAccess { store, now, .. } = self.system;
            let page = store.events_after(sequence, *after, EVENTS_TOGETHER, *now, |_| true).await?;
            self.keep_pace(state).await?;
            for event in &page.events {
                if event.sequence.is_some_and(|number| number <= sequence.last) {
                    take(state, event)?;
                }
            }
            looks = if page.reached > *after { 0 } else { looks + 1 };
            *after = page.reached;
            if looks == LOOKS {
                return Err(format!("the index does not show event {}", *after + 1).into());
            }
            if looks > 0 {
                self.system.pause(PAUSE).await;
            }
        }
        Ok(())
    }

    fn describe<O>(
        &self,
        state: &mut ArchiveState<O>,
        media: MediaCount,
        created_at: DateTime<Utc>,
    ) -> Result<ExportResult> {
        let path = state.folder.path().to_owned();
        let written = state.folder.describe()?;
        let records: BTreeMap<String, u64> =
            written.iter().map(|(kind, file)| (kind.name().to_owned(), file.lines)).collect();
        let mut files: Vec<ArchiveFile> = written.into_iter().map(|(_, file)| file).collect();
        files.push(describe(&path, MEDIA.to_owned())?);
        files.sort_by(|file, other| file.name.cmp(&other.name));
        let result = ExportResult {
            sequence: state.sequence.last,
            is_exact: state.newer.is_empty(),
            records: records.values().sum(),
            media: media.count,
            media_bytes: media.bytes,
            media_missing: media.missing,
            read_units: self.system.usage().read_units(),
        };
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            company: self.company.clone(),
            base_url: self.system.config().base_url.as_str().trim_end_matches('/').to_owned(),
            created_at: created_at.to_rfc3339_opts(SecondsFormat::Secs, true),
            sequence: state.sequence.last,
            is_exact: result.is_exact,
            newer_records: state.newer.len() as u64,
            files,
            records,
            media,
        };
        let manifest = serde_json_canonicalizer::to_vec(&json!(manifest))?;
        std::fs::write(path.join(SIGNATURE), self.signer.sign_manifest(&manifest))?;
        // Write the manifest last: a folder with a manifest is a complete archive.
        std::fs::write(path.join(MANIFEST), manifest)?;
        Ok(result)
    }
}
