//! Observes the progress of an archive that is being written.

use std::path::Path;

use super::{ExportResult, Result};
use crate::domain::export::ExportProgress;
use crate::domain::history::erasure::ErasedItem;

/// Receives the progress of an archive that is being written. An error ends the export.
pub trait ExportObserver: Send {
    fn note(&mut self, progress: ExportProgress) -> impl Future<Output = Result<()>> + Send;

    /// The items that were erased since the last call and must not be in the archive.
    fn erased(&mut self) -> impl Future<Output = Result<Vec<ErasedItem>>> + Send {
        async { Ok(Vec::new()) }
    }

    /// Publishes the archive in `folder`. Returns false if an item was erased that may be in the archive, so that it must be written again.
    fn publish(
        &mut self,
        _folder: &Path,
        _result: &ExportResult,
    ) -> impl Future<Output = Result<bool>> + Send {
        async { Ok(true) }
    }
}

/// An observer that ignores all progress.
impl ExportObserver for () {
    async fn note(&mut self, _: ExportProgress) -> Result<()> {
        Ok(())
    }
}
