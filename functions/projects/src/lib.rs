//! Projects, their status and the roles in them.

mod changes;
mod crud;
mod document;
mod nested;
mod roles;
mod status;
mod view;

pub use document::group;
use shared::http::Routes;

/// The routes of this group.
pub fn routes() -> Routes {
    const LIST: &str = "/companies/{companyId}/projects/";
    const OF_CUSTOMER: &str = "/companies/{companyId}/customers/{customerId}/projects/";
    const ONE: &str = "/companies/{companyId}/projects/{projectId}/";
    const STATUS: &str = "/companies/{companyId}/projects/{projectId}/status/";
    const ROLES: &str = "/companies/{companyId}/projects/{projectId}/roles/";
    const ROLE: &str = "/companies/{companyId}/projects/{projectId}/roles/{roleId}/";
    Routes::new()
        .get(LIST, crud::list)
        .get(OF_CUSTOMER, crud::list_of_customer)
        .post(LIST, crud::create)
        .get(ONE, crud::read)
        .patch(ONE, crud::update)
        .get(STATUS, status::read)
        .patch(STATUS, status::update)
        .get(ROLES, roles::list)
        .post(ROLES, roles::create)
        .get(ROLE, roles::read)
        .delete(ROLE, roles::delete)
}
