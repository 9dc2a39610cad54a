//! Imports candidates: creates each one, sets the deadline and invites them. The response reports each entry's result;
//! a dry run only predicts it.

mod apply;
mod entry;
mod holders;
mod judge;
mod result;
mod view;

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::policy::ChangeProject;
use shared::domain::project::Project;
use shared::http::body::import::MAX_ENTRIES;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::view::CandidateView;
use shared::http::{AttemptResult, JsonEntries, QueryParameters, RequestAttempt};
use shared::store::IMPORT_PATIENCE;

use apply::apply_entries;
pub(crate) use entry::read_candidate;
use entry::{ImportedCandidate, ReadEntry, read_entries};
use judge::judge_entries;
use result::ImportEntryResult;
use view::ImportReport;

use crate::entries::{dry_run, in_slot};

type ImportAccess = Admitted<Project, ChangeProject>;

/// POST …/candidates/import/
pub(crate) async fn create(
    access: ImportAccess,
    query: QueryParameters,
    JsonEntries { entries, .. }: JsonEntries<CandidateView, MAX_ENTRIES>,
) -> Result<CommittedResponse<Json<ImportReport>>> {
    let is_dry_run = dry_run::read(query)?.unwrap_or_default();
    let entries = read_entries(entries, access.now);
    if is_dry_run {
        dry_run::require_no_key(&access)?;
        let (results, mails) = in_slot(&access, judge_entries(&access, entries)).await?;
        let report = ImportReport::new(&access, results, false).of_dry_run(mails);
        return access.commit(access.store.empty_transaction(), Json(report)).await;
    }
    access.run_once(IMPORT_PATIENCE, |attempt| in_slot(&access, import(&access, entries, attempt))).await
}

async fn import(
    access: &ImportAccess,
    entries: Vec<ReadEntry>,
    attempt: RequestAttempt,
) -> Result<AttemptResult<Json<ImportReport>>> {
    let results = apply_entries(access, entries, &attempt).await?;
    // Do not store an unfinished report for replay, so that a retry with the same key does the rest.
    let is_unfinished = results.iter().any(ImportEntryResult::may_succeed_later);
    let report = Json(ImportReport::new(access, results, attempt.is_keyed()));
    Ok(if is_unfinished { AttemptResult::Unfinished(report) } else { AttemptResult::Done(report) })
}
