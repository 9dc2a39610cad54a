//! The candidates of a project.

mod crud;
mod view;

use shared::http::Routes;

/// The routes of this group.
pub fn routes() -> Routes {
    const LIST: &str = "/companies/{companyId}/projects/{projectId}/candidates/";
    const ONE: &str = "/companies/{companyId}/projects/{projectId}/candidates/{candidateId}/";
    Routes::new()
        .get(LIST, crud::list)
        .post(LIST, crud::create)
        .get(ONE, crud::read)
        .patch(ONE, crud::update)
        .delete(ONE, crud::delete)
}
