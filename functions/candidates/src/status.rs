//! The status of a candidate, which changes by the rules of its life.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, AnswersTarget, CandidateInterview};
use shared::domain::candidate::Candidate;
use shared::domain::policy::{AdvanceCandidate, CallerRelation, ChangeProject};
use shared::domain::transition::{Actor, AdvanceTerms};
use shared::http::exchange::respond::CommittedResponse;
use shared::http::view::CandidateView;

use crate::view::{view, viewer};

/// PATCH …/candidates/{candidateId}/status/advance/
pub(crate) async fn advance(
    access: Admitted<CandidateInterview, AdvanceCandidate>,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    let AnswersTarget { of, interview, answers } = &access.target;
    let actor = match of.relation {
        CallerRelation::Own => Actor::Candidate,
        _ => Actor::Manager,
    };
    let terms = AdvanceTerms::of(&of.project, &of.company).with_interview(
        &of.project,
        interview,
        answers,
        of.candidate.adjusted(),
        access.now,
    );
    let key = access.new_access_key(of.project.id, of.candidate.id);
    let change = Candidate::clone(&of.candidate).advance(actor, &terms, access.now, key)?;
    let shown = Json(CandidateView::new(&change.candidate, &viewer(&access, &of.relation, &of.project)));
    let writes = access.store.advance_candidate(&of.candidate, &change, &of.project, answers, access.now);
    access.commit(writes, shown).await
}

/// PATCH …/candidates/{candidateId}/status/skip/
pub(crate) async fn skip(
    access: Admitted<Candidate, ChangeProject>,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    let change = Candidate::clone(&access.target.candidate).skip(access.now)?;
    let shown = Json(view(&access, &change.candidate));
    access.commit(access.store.change_candidate(&access.target.candidate, &change, access.now), shown).await
}
