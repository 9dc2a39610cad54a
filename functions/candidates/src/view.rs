//! Shows a candidate to the caller with the fields that their relation to the candidate allows.

use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::candidate::Candidate;
use shared::http::view::CandidateView;

/// The view of the requested candidate in the state `now`.
pub(crate) async fn view<A>(access: &Admitted<Candidate, A>, now: &Candidate) -> Result<CandidateView> {
    let viewer = access.candidate_viewer(&access.target.relation, &access.target.project, [now]).await?;
    Ok(CandidateView::new(now, &viewer))
}
