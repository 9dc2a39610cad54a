//! `import-company`: a company from an archive, which may come from anybody.

mod afterwards;
mod copied;
mod hostile;
mod identity;
mod interruptions;
mod tampering;
mod under_way;

pub(crate) use identity::assert_moves;

use std::path::Path;

use admin::import::{ArchiveImport, ImportOptions, ImportResult, TrustedKey};
use tests::app::TestApp;

/// Imports an archive that nobody vouches for, with all that it has.
fn anyway() -> ImportOptions {
    ImportOptions { trusted: TrustedKey::OfArchive, name: None, keeps_grants: true }
}

async fn try_import(app: &TestApp, folder: &Path, options: ImportOptions) -> Result<ImportResult, String> {
    let import = ArchiveImport::new(app.app(), folder, options, |_| {}).map_err(|error| error.to_string())?;
    import.run().await.map_err(|error| error.to_string())
}
