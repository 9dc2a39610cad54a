//! The view that the caller of each guard has.

use shared::auth::access::{CandidateAccess, Context};
use shared::domain::candidate::Candidate;
use shared::domain::policy::Standing;
use shared::domain::project::Project;
use shared::http::view::{CandidateView, Viewer};

/// The caller as a viewer of candidates of a project.
pub(crate) fn viewer<'a>(access: &'a Context, standing: &Standing, project: &'a Project) -> Viewer<'a> {
    Viewer::new(access.caller.customer(), standing, project, access.references())
}

/// The candidate of the path, as they are `now`.
pub(crate) fn view<A>(access: &CandidateAccess<A>, now: &Candidate) -> CandidateView {
    CandidateView::new(now, &viewer(access, &access.standing, &access.project))
}
