//! The staff users of a company.

mod changes;
mod crud;
mod document;
mod import;
mod photo;
mod reinvite;

use shared::RouteReader;

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group("Customers", "The staff users of a company.")
        .under("/companies/{companyId}/customers/")
        .get("", crud::list, document::list_customers)
        .post("", crud::create, document::create_customer)
        .post("batch-import/", import::create, document::import_customers)
        .under("/companies/{companyId}/customers/{customerId}/")
        .get("", crud::read, document::get_customer)
        .patch("", crud::update, document::change_customer)
        .delete("", crud::delete, document::delete_customer)
        .get("photo/{token}/", photo::read, document::get_customer_photo)
        .post("uploads/", photo::announce, document::announce_customer_photo)
        .get("uploads/{uploadId}/", photo::upload, document::get_customer_upload)
        .patch("reinvite/", reinvite::update, document::reinvite_customer)
}
