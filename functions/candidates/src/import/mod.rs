//! Importing candidates: each one is created, gets its deadline and is invited, or the response says why not.

mod apply;
mod entry;
mod view;

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::policy::ChangeProject;
use shared::domain::project::Project;
use shared::http::body::import::MAX_ENTRIES;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::{IdempotentRun, JsonEntries, RunResult};
use shared::store::IMPORT_PATIENCE;

use apply::{ImportEntryResult, apply_entries};
pub(crate) use entry::read_candidate;
use entry::{ImportedCandidate, ReadEntry, read_entries};
use view::ImportReport;

type ImportAccess = Admitted<Project, ChangeProject>;

/// POST …/candidates/import/
pub(crate) async fn create(
    access: ImportAccess,
    JsonEntries(entries): JsonEntries<MAX_ENTRIES>,
) -> Result<CommittedResponse<Json<ImportReport>>> {
    let entries = read_entries(entries);
    access.run_once(IMPORT_PATIENCE, |run| import(&access, entries, run)).await
}

async fn import(
    access: &ImportAccess,
    entries: Vec<ReadEntry>,
    run: IdempotentRun,
) -> Result<RunResult<Json<ImportReport>>> {
    let results = apply_entries(access, entries, &run).await?;
    // Not kept for replay, so that a retry with the same key does the rest.
    let is_unfinished = results.iter().any(ImportEntryResult::may_succeed_later);
    let report = Json(ImportReport::new(access, results, run.is_keyed));
    Ok(if is_unfinished { RunResult::Unfinished(report) } else { RunResult::Done(report) })
}
