//! Reminding a candidate of its interview.

use axum::Json;
use shared::Result;
use shared::auth::guard::OnCandidate;
use shared::auth::policy::ChangeProject;
use shared::domain::candidate::Candidate;
use shared::http::view::CandidateView;

use crate::view::show;

/// POST …/candidates/{candidateId}/reminder/
pub(crate) async fn create(guard: OnCandidate<ChangeProject>) -> Result<Json<CandidateView>> {
    let step = Candidate::clone(&guard.candidate).remind(guard.now)?;
    guard.store.commit(guard.store.change_candidate(&guard.candidate, &step, guard.now)).await?;
    Ok(show(&guard, &step.candidate))
}
