//! The staff users of a company.

mod changes;
mod crud;
mod document;
mod import;
mod photo;
mod reinvite;

use std::convert::identity;

use shared::RouteReader;
use shared::app::App;
use shared::http::{HttpService, RouteGroup};

/// The HTTP service that answers the requests of this group.
pub fn service(app: App) -> HttpService {
    routes(RouteGroup::new()).into_service(app)
}

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group("Customers", "The staff users of a company.")
        .under("/companies/{companyId}/customers/")
        .get("", crud::list, "List customers", document::list_customers)
        .post("", crud::create, "Create customer", document::create_customer)
        .post("batch-import/", import::create, "Import customers", document::import_customers)
        .under("/companies/{companyId}/customers/{customerId}/")
        .get("", crud::read, "Get customer", identity)
        .patch("", crud::update, "Change customer", document::change_customer)
        .delete("", crud::delete, "Delete customer", document::delete_customer)
        .get("photo/{token}/", photo::read, "Get customer photo", document::get_customer_photo)
        .post("uploads/", photo::announce, "Announce customer photo", document::announce_customer_photo)
        .get("uploads/{uploadId}/", photo::upload, "Get customer upload", document::get_customer_upload)
        .patch("reinvite/", reinvite::update, "Reinvite customer", document::reinvite_customer)
}
