//! Projects and their status.

mod changes;
mod crud;
mod status;
mod view;

use shared::http::Routes;

/// The routes of this group.
pub fn routes() -> Routes {
    const LIST: &str = "/companies/{companyId}/projects/";
    const OF_CUSTOMER: &str = "/companies/{companyId}/customers/{customerId}/projects/";
    const ONE: &str = "/companies/{companyId}/projects/{projectId}/";
    const STATUS: &str = "/companies/{companyId}/projects/{projectId}/status/";
    Routes::new()
        .get(LIST, crud::list)
        .get(OF_CUSTOMER, crud::list_of_customer)
        .post(LIST, crud::create)
        .get(ONE, crud::read)
        .patch(ONE, crud::update)
        .get(STATUS, status::read)
        .patch(STATUS, status::update)
}
