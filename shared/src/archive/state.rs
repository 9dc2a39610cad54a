//! The state of an archive while it is written.

use std::collections::BTreeSet;

use super::Result;
use super::folder::ArchiveFolder;
use super::observer::ExportObserver;
use super::unit::ArchiveUnit;
use crate::domain::export::ExportProgress;
use crate::store::{ArchiveRecord, EventSequence};

/// An archive that is being written.
pub(super) struct ArchiveState<O> {
    pub(super) folder: ArchiveFolder,
    pub(super) progress: ExportProgress,
    pub(super) observer: O,
    /// The numbers of events when the records were read, or read again.
    pub(super) sequence: EventSequence,
    /// The units that may have changed after the last one of `sequence`.
    pub(super) newer: BTreeSet<ArchiveUnit>,
    /// The units that were read again since media were listed.
    pub(super) reread: BTreeSet<ArchiveUnit>,
}

impl<O: ExportObserver> ArchiveState<O> {
    /// Adds records, each behind all of its kind that were added before.
    pub(super) fn append(&mut self, records: Vec<ArchiveRecord>) -> Result<()> {
        self.progress.records += records.len() as u64;
        self.folder.append(records)
    }

    pub(super) async fn note(&mut self) -> Result<()> {
        self.observer.note(self.progress).await
    }
}
