//! Actions on the candidate of the path.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, CandidateTarget};
use shared::domain::candidate::Candidate;
use shared::domain::policy::ChangeProject;
use shared::domain::transition::{AdvanceTerms, CandidateAction};
use shared::http::exchange::respond::CommittedResponse;
use shared::http::view::CandidateView;

use crate::view::view;

/// Takes an action that needs nothing but the candidate, and responds with them.
pub(crate) async fn take_action(
    access: Admitted<Candidate, ChangeProject>,
    action: CandidateAction,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    let CandidateTarget { company, project, candidate, .. } = &access.target;
    let terms = AdvanceTerms::of(project, company);
    let key = access.new_access_key(project.id, candidate.id).await?;
    let Some(change) = action.change(candidate, &terms, access.now, key)? else {
        return access.show(view(&access, candidate).await?);
    };
    let shown = Json(view(&access, &change.candidate).await?);
    access.commit(access.store.change_candidate(candidate, &change, access.now), shown).await
}
