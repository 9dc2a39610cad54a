//! The status of a candidate, which changes by the rules of its life.

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::candidate::Candidate;
use shared::domain::policy::{AdvanceCandidate, CallerRelation, ChangeProject};
use shared::domain::transition::{Actor, AdvanceTerms};
use shared::http::respond::CommittedResponse;
use shared::http::view::CandidateView;

use crate::view::view;

/// PATCH …/candidates/{candidateId}/status/advance/
pub(crate) async fn advance(
    access: Admitted<Candidate, AdvanceCandidate>,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    let actor = match access.target.relation {
        CallerRelation::Own => Actor::Candidate,
        _ => Actor::Manager,
    };
    let terms = AdvanceTerms::of(&access.target.project, &access.target.company);
    let key = access.new_access_key(access.target.project.id, access.target.candidate.id);
    let step = Candidate::clone(&access.target.candidate).advance(actor, &terms, access.now, key)?;
    let shown = Json(view(&access, &step.candidate));
    access.commit(access.store.change_candidate(&access.target.candidate, &step, access.now), shown).await
}

/// PATCH …/candidates/{candidateId}/status/skip/
pub(crate) async fn skip(
    access: Admitted<Candidate, ChangeProject>,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    let step = Candidate::clone(&access.target.candidate).skip(access.now)?;
    let shown = Json(view(&access, &step.candidate));
    access.commit(access.store.change_candidate(&access.target.candidate, &step, access.now), shown).await
}
