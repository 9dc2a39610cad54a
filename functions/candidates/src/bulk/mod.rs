//! One action on many candidates: advances, reminds, skips, cancels or sets a deadline. The response reports each
//! candidate's result; a dry run only predicts it.

mod apply;
mod plan;
mod request;
mod selection;
mod view;

use axum::Json;
use shared::auth::access::Admitted;
use shared::domain::id::CandidateId;
use shared::domain::policy::ChangeProject;
use shared::domain::project::Project;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::wire::Uri;
use shared::http::{AttemptResult, BodyFields, QueryParameters, RequestAttempt};
use shared::store::IMPORT_PATIENCE;
use shared::{Error, Result};

pub(crate) use request::BulkRequest;
pub(crate) use view::{BulkReport, STATUS_CHANGED};

use crate::entries::lanes::{EntryOutcome, may_succeed_later};
use crate::entries::{dry_run, in_slot};

/// The required permission: changing the project allows each action on each of its candidates.
type BulkAccess = Admitted<Project, ChangeProject>;

/// The outcome of an entry.
struct EntryResult {
    /// `None` if the project has no candidate with the name in the request.
    candidate: Option<CandidateId>,
    outcome: EntryOutcome<ActedEntry>,
}

/// The result of an action on a candidate.
struct ActedEntry {
    /// The reason if the action was refused.
    refusal: Option<Error>,
    /// The link to the interview if the action was taken and the interview is open; `None` in a dry run.
    link: Option<Uri>,
    /// Whether the candidate has the deadline that was to be set before the action.
    has_deadline: bool,
}

/// POST …/candidates/bulk/
pub(crate) async fn create(
    access: BulkAccess,
    query: QueryParameters,
    body: BodyFields,
) -> Result<CommittedResponse<Json<BulkReport>>> {
    let is_dry_run = dry_run::read(query)?;
    let project = access.target.project.id;
    let request =
        BulkRequest::read(body, is_dry_run, access.company_id(), project, access.references(), access.now)?;
    if request.is_dry_run {
        dry_run::require_no_key(&access)?;
        let report = in_slot(&access, judge(&access, &request)).await?;
        return access.commit(access.store.empty_transaction(), Json(report)).await;
    }
    access.run_once(IMPORT_PATIENCE, |attempt| in_slot(&access, act(&access, request, attempt))).await
}

async fn judge(access: &BulkAccess, request: &BulkRequest) -> Result<BulkReport> {
    let selection = request.wanted.select(access).await?;
    let (results, mails) = apply::judge(access, request, &selection).await?;
    Ok(BulkReport::new(access, request, &selection, results, false).of_dry_run(mails))
}

async fn act(
    access: &BulkAccess,
    request: BulkRequest,
    attempt: RequestAttempt,
) -> Result<AttemptResult<Json<BulkReport>>> {
    let selection = attempt.select(|| request.wanted.select(access)).await?;
    let results = apply::apply(access, &request, &selection, &attempt).await?;
    // Do not store an unfinished report for replay, so that a retry with the same key does the rest.
    let is_unfinished = results.iter().any(|result| match &result.outcome {
        EntryOutcome::Done(acted) => acted.refusal.as_ref().is_some_and(may_succeed_later),
        outcome => outcome.may_succeed_later(),
    });
    let report = Json(BulkReport::new(access, &request, &selection, results, attempt.is_keyed()));
    Ok(if is_unfinished { AttemptResult::Unfinished(report) } else { AttemptResult::Done(report) })
}
