//! Reminds candidates of their interview.

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::candidate::Candidate;
use shared::domain::policy::ChangeProject;
use shared::domain::transition::CandidateAction;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::view::CandidateView;

use crate::action::take_action;

/// POST …/candidates/{candidateId}/reminder/
pub(crate) async fn create(
    access: Admitted<Candidate, ChangeProject>,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    take_action(access, CandidateAction::Remind).await
}
