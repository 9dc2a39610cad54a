//! `import-company`: a company from an archive, which may come from anybody.

mod afterwards;
mod converted;
mod copied;
mod half;
mod hostile;
mod identity;
mod interruptions;
mod named;
mod start;
mod tampering;
mod under_way;

pub(crate) use identity::assert_moves;

use std::path::Path;

use admin::import::{ArchiveImport, ImportOptions, ImportResult, TrustedKeys, start_company};
use tests::app::TestApp;

/// Imports an archive that nobody vouches for, with all that it has.
fn anyway() -> ImportOptions {
    let trusted = TrustedKeys::OfArchive;
    ImportOptions { trusted, name: None, keeps_grants: true, allows_missing: false, erased: Vec::new() }
}

async fn try_import(app: &TestApp, folder: &Path, options: ImportOptions) -> Result<ImportResult, String> {
    let import = ArchiveImport::new(app.app(), folder, options, |_| {}).map_err(|error| error.to_string())?;
    import.run().await.map_err(|error| error.to_string())
}

/// Imports the archive of acme, and starts the company.
async fn import_and_start(app: &TestApp, folder: &Path) {
    try_import(app, folder, anyway()).await.unwrap();
    start(app, "acme").await;
}

/// Starts an imported company, and tells whether it was started before.
async fn start(app: &TestApp, company: &str) -> bool {
    start_company(app.app(), company.parse().unwrap()).await.unwrap().was_started
}
