//! One action on many candidates: each is advanced, reminded, skipped or given a deadline, or the response says why not. A dry run
//! only says what would become of each.

mod apply;
mod plan;
mod request;
mod selection;
mod view;

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::id::CandidateId;
use shared::domain::policy::ChangeProject;
use shared::domain::project::Project;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::wire::Uri;
use shared::http::{BodyFields, IdempotentRun, QueryParameters, RunResult};
use shared::store::IMPORT_PATIENCE;

pub(crate) use request::BulkRequest;
pub(crate) use view::{BulkReport, STATUS_CHANGED};

use crate::entries::dry_run;
use crate::entries::lanes::EntryOutcome;

/// Callers who may change the project may take each of the actions on each of its candidates.
type BulkAccess = Admitted<Project, ChangeProject>;

/// What became of an entry.
struct EntryResult {
    /// `None` if no candidate of the project has the name.
    candidate: Option<CandidateId>,
    /// Once the action is taken, the link to the interview while it is open. A dry run has none.
    outcome: EntryOutcome<Option<Uri>>,
}

/// POST …/candidates/bulk/
pub(crate) async fn create(
    access: BulkAccess,
    query: QueryParameters,
    body: BodyFields,
) -> Result<CommittedResponse<Json<BulkReport>>> {
    let is_dry_run = dry_run::read(query)?;
    let request = BulkRequest::read(body, is_dry_run, access.references())?;
    if request.is_dry_run {
        dry_run::require_no_key(&access)?;
        let selection = request.wanted.select(&access).await?;
        let (results, mails) = apply::judge(&access, &request, &selection).await?;
        let report = BulkReport::new(&access, results, selection.has_more, false).of_dry_run(mails);
        return access.commit(access.store.empty_transaction(), Json(report)).await;
    }
    access.run_once(IMPORT_PATIENCE, |run| act(&access, request, run)).await
}

async fn act(
    access: &BulkAccess,
    request: BulkRequest,
    run: IdempotentRun,
) -> Result<RunResult<Json<BulkReport>>> {
    let selection = run.select(|| request.wanted.select(access)).await?;
    let results = apply::apply(access, &request, &selection, &run).await?;
    // Not kept for replay, so that a retry with the same key does the rest.
    let is_unfinished = results.iter().any(|result| result.outcome.may_succeed_later());
    let report = Json(BulkReport::new(access, results, selection.has_more, run.is_keyed()));
    Ok(if is_unfinished { RunResult::Unfinished(report) } else { RunResult::Done(report) })
}
