//! What each kind of caller sees of a candidate.

use shared::auth::access::{Admitted, AdmittedRequest};
use shared::domain::candidate::Candidate;
use shared::domain::policy::CallerRelation;
use shared::domain::project::Project;
use shared::http::view::{CandidateView, CandidateViewer};

/// The caller as a viewer of candidates of a project.
pub(crate) fn viewer<'a>(
    access: &'a AdmittedRequest,
    relation: &CallerRelation,
    project: &'a Project,
) -> CandidateViewer<'a> {
    CandidateViewer::new(access.caller.customer(), relation, project, access.references(), access.now)
}

/// The candidate of the path, as they are `now`.
pub(crate) fn view<A>(access: &Admitted<Candidate, A>, now: &Candidate) -> CandidateView {
    CandidateView::new(now, &viewer(access, &access.target.relation, &access.target.project))
}
