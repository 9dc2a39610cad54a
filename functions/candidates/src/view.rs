//! The view that each guard's caller has.

use axum::Json;
use shared::auth::guard::{InProject, OnCandidate};
use shared::auth::policy::Grant;
use shared::domain::candidate::Candidate;
use shared::http::view::{CandidateView, Viewer};

/// Whoever looks at candidates of the guard's project.
pub(crate) fn viewer<G: Grant>(guard: &InProject<G>) -> Viewer<'_> {
    Viewer::new(guard.caller.customer(), &guard.standing(), &guard.project, guard.references())
}

/// The guard's candidate, as it is now.
pub(crate) fn show<G: Grant>(guard: &OnCandidate<G>, now: &Candidate) -> Json<CandidateView> {
    let viewer = Viewer::new(guard.caller.customer(), &guard.standing(), &guard.project, guard.references());
    Json(CandidateView::new(now, &viewer))
}
