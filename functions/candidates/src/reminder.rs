//! Reminding a candidate of its interview.

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::candidate::Candidate;
use shared::domain::policy::ChangeProject;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::view::CandidateView;

use crate::view::view;

/// POST …/candidates/{candidateId}/reminder/
pub(crate) async fn create(
    access: Admitted<Candidate, ChangeProject>,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    let change = Candidate::clone(&access.target.candidate).remind(access.now)?;
    let shown = Json(view(&access, &change.candidate));
    access.commit(access.store.change_candidate(&access.target.candidate, &change, access.now), shown).await
}
