//! Writes a company as a signed archive into a folder, in the format of `functions/PORTABILITY.md`.

use std::path::Path;

use shared::app::App;
use shared::archive::{ArchiveWriter, ExportObserver, ExportResult, Result, WriterOptions};
use shared::auth::OperatorAccess;
use shared::domain::id::CompanyId;

use crate::PATIENCE;

/// A tenth of a partition's capacity, because the program has time.
const OPTIONS: WriterOptions = WriterOptions { units_per_second: 300, copies_media: true };

/// Writes the archive of a company, with all its files, into a folder that is empty or does not exist.
///
/// # Errors
/// Fails like [`ArchiveWriter::begin`] and [`ArchiveWriter::write_to`]. Then delete the folder: an incomplete archive
/// is useless.
pub async fn export_company(
    app: &App,
    company: CompanyId,
    folder: &Path,
    observer: impl ExportObserver,
) -> Result<ExportResult> {
    let operator = OperatorAccess::of(app).with_patience(PATIENCE);
    ArchiveWriter::begin(&operator, company, OPTIONS).await?.write_to(folder, observer).await
}
