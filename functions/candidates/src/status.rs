//! The status of a candidate, which changes by the rules of its life.

use axum::Json;
use shared::Result;
use shared::auth::guard::{Beside, OnCandidate};
use shared::auth::policy::{AdvanceCandidate, ChangeProject, Standing};
use shared::domain::candidate::Candidate;
use shared::domain::company::Company;
use shared::domain::transition::{Actor, Terms};
use shared::http::view::CandidateView;

use crate::view::show;

/// PATCH …/candidates/{candidateId}/status/advance/
pub(crate) async fn advance(
    Beside(guard, company): Beside<OnCandidate<AdvanceCandidate>, Company>,
) -> Result<Json<CandidateView>> {
    let actor = match guard.standing() {
        Standing::Itself => Actor::Candidate,
        _ => Actor::Manager,
    };
    let terms = Terms::of(&guard.project, &company);
    let key = guard.new_access_key(guard.project.id, guard.candidate.id);
    let step = Candidate::clone(&guard.candidate).advance(actor, &terms, guard.now, key)?;
    guard.store.commit(guard.store.change_candidate(&guard.candidate, &step, guard.now)).await?;
    Ok(show(&guard, &step.candidate))
}

/// PATCH …/candidates/{candidateId}/status/skip/
pub(crate) async fn skip(guard: OnCandidate<ChangeProject>) -> Result<Json<CandidateView>> {
    let step = Candidate::clone(&guard.candidate).skip()?;
    guard.store.commit(guard.store.change_candidate(&guard.candidate, &step, guard.now)).await?;
    Ok(show(&guard, &step.candidate))
}
