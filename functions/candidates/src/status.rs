//! Moves a candidate to the next status.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, AnswersTarget, CandidateInterview};
use shared::domain::answers::Answers;
use shared::domain::candidate::{Candidate, CandidateStatus};
use shared::domain::policy::{AdvanceCandidate, CallerRelation, ChangeProject};
use shared::domain::transition::{Actor, AdvanceTerms, CandidateAction};
use shared::http::exchange::respond::CommittedResponse;
use shared::http::view::CandidateView;

use crate::action::take_action;

/// PATCH …/candidates/{candidateId}/status/advance/
pub(crate) async fn advance(
    access: Admitted<CandidateInterview, AdvanceCandidate>,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    let AnswersTarget { company, project, candidate, relation, questionnaire, answers } = &access.target;
    let actor = match relation {
        CallerRelation::ThisCandidate => Actor::Candidate,
        _ => Actor::Manager,
    };
    // Drafts become answers when the candidate completes the interview.
    let ended = access.store.end_drafts(Answers::clone(answers)).await?;
    let terms = AdvanceTerms::of(project, company).with_interview(
        project,
        questionnaire,
        &ended.answers,
        candidate.adjusted(),
        access.now,
    );
    let key = access.new_access_key(project.id, candidate.id).await?;
    let change = Candidate::clone(candidate).advance(actor, &terms, access.now, key)?;
    let viewer = access.candidate_viewer(relation, project, [&change.candidate]).await?;
    let shown = Json(CandidateView::new(&change.candidate, &viewer));
    let writes = match change.candidate.status {
        CandidateStatus::Interviewed => {
            access.store.end_interview(candidate, &change, answers, &ended, access.now)
        }
        _ => access.store.advance_candidate(candidate, &change, project, access.now),
    };
    access.commit(writes, shown).await
}

/// PATCH …/candidates/{candidateId}/status/skip/
pub(crate) async fn skip(
    access: Admitted<Candidate, ChangeProject>,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    take_action(access, CandidateAction::Skip).await
}
