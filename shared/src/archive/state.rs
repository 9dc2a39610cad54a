//! The state of an archive that is being written.

use std::collections::BTreeSet;

use super::Result;
use super::folder::ArchiveFolder;
use super::observer::ExportObserver;
use super::unit::ArchiveUnit;
use crate::domain::export::ExportProgress;
use crate::store::{ArchiveRecord, EventSequence};

pub(super) struct ArchiveState<O> {
    pub(super) folder: ArchiveFolder,
    pub(super) progress: ExportProgress,
    pub(super) observer: O,
    /// The company's event sequence when the records were last read.
    pub(super) sequence: EventSequence,
    /// The units that may have changed after the last event of `sequence`.
    pub(super) newer: BTreeSet<ArchiveUnit>,
    /// The units that were read again after the media were listed.
    pub(super) reread: BTreeSet<ArchiveUnit>,
}

impl<O: ExportObserver> ArchiveState<O> {
    /// Appends records. They must sort after all records of their kind that were added before.
    pub(super) fn append(&mut self, records: Vec<ArchiveRecord>) -> Result<()> {
        self.progress.records += records.len() as u64;
        self.folder.append(records)
    }

    pub(super) async fn note(&mut self) -> Result<()> {
        self.observer.note(self.progress).await
    }
}
