//! Reopens interviews that are complete or whose time has ended.

use axum::Json;
use chrono::{DateTime, Utc};
use shared::Result;
use shared::auth::access::{Admitted, AnswersTarget};
use shared::domain::answers::Answers;
use shared::domain::candidate::{Candidate, CandidateProfile, ReopeningMessage, ReopeningReason};
use shared::domain::policy::ChangeProject;
use shared::domain::project::ProjectStatus;
use shared::domain::transition::{ReopeningRequest, ReopeningTerms};
use shared::http::BodyFields;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::iso8601::parse_timestamp;
use shared::http::view::CandidateView;

/// POST …/candidates/{candidateId}/interview/reopen/
pub(crate) async fn reopen(
    access: Admitted<Answers, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    let request = read_request(body, access.now)?;
    let AnswersTarget { project, candidate, relation, .. } = &access.target;
    let terms = ReopeningTerms {
        is_running: project.status == ProjectStatus::Running,
        has_evaluation: has_evaluation(&access).await?,
    };
    let key = access.new_access_key(project.id, candidate.id).await?;
    let change = Candidate::clone(candidate).reopen(request, terms, access.now, key)?;
    let viewer = access.candidate_viewer(relation, project, [&change.candidate]).await?;
    let shown = Json(CandidateView::new(&change.candidate, &viewer));
    let writes = access.store.advance_candidate(candidate, &change, project, access.now);
    access.commit(writes, shown).await
}

/// Whether an evaluation of the candidate is stored, even a draft.
// Read after the candidate: saving an evaluation also writes the candidate, so the transaction fails if one is saved in
// between.
async fn has_evaluation(access: &Admitted<Answers, ChangeProject>) -> Result<bool> {
    let Candidate { company, project, id, scores, .. } = &*access.target.candidate;
    // `scores` also has entries of drafts and deleted evaluations, so check the evaluations themselves.
    if scores.is_empty() {
        return Ok(false);
    }
    access.store.has_evaluation(company, *project, *id).await
}

/// Reads the request to reopen an interview.
pub(crate) fn read_request(mut body: BodyFields, now: DateTime<Utc>) -> Result<ReopeningRequest> {
    let reason = body.required("reason", ReopeningReason::parse);
    let message = body.clearable("message", ReopeningMessage::parse).flatten();
    let deadline =
        body.text("deadline", |text| CandidateProfile::check_deadline(parse_timestamp(text)?, now));
    body.finish(|| Some(ReopeningRequest { reason: reason?, message, deadline }))
}
