//! The candidates of a project, and with whom they are shared.

mod changes;
mod crud;
mod deadline;
mod import;
mod reminder;
mod shares;
mod status;
mod view;

use shared::http::Routes;

/// The routes of this group.
pub fn routes() -> Routes {
    const LIST: &str = "/companies/{companyId}/projects/{projectId}/candidates/";
    const IMPORT: &str = "/companies/{companyId}/projects/{projectId}/candidates/import/";
    const ONE: &str = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/";
    const DEADLINE: &str = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/deadline/";
    const ADVANCE: &str =
        "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/status/advance/";
    const SKIP: &str = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/status/skip/";
    const REMINDER: &str = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/reminder/";
    const SHARES: &str = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/shares/";
    const SHARE: &str =
        "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/shares/{shareId}/";
    Routes::new()
        .get(LIST, crud::list)
        .post(LIST, crud::create)
        .post_in_steps(IMPORT, import::create)
        .get(ONE, crud::read)
        .patch(ONE, crud::update)
        .delete(ONE, crud::delete)
        .patch(DEADLINE, deadline::update)
        .patch(ADVANCE, status::advance)
        .patch(SKIP, status::skip)
        .post(REMINDER, reminder::create)
        .get(SHARES, shares::list)
        .post(SHARES, shares::create)
        .get(SHARE, shares::read)
        .delete(SHARE, shares::delete)
}
