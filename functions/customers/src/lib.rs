//! The staff users of a company.

mod batch_import;
mod changes;
mod crud;
mod document;
mod photo;
mod reinvite;

pub use document::group;
use shared::http::Routes;

/// The routes of this group.
pub fn routes() -> Routes {
    const LIST: &str = "/companies/{companyId}/customers/";
    const ONE: &str = "/companies/{companyId}/customers/{customerId}/";
    const REINVITE: &str = "/companies/{companyId}/customers/{customerId}/reinvite/";
    const BATCH_IMPORT: &str = "/companies/{companyId}/customers/batch-import/";
    const PHOTO: &str = "/companies/{companyId}/customers/{customerId}/photo/{token}/";
    const UPLOADS: &str = "/companies/{companyId}/customers/{customerId}/uploads/";
    const UPLOAD: &str = "/companies/{companyId}/customers/{customerId}/uploads/{uploadId}/";
    Routes::new()
        .get(LIST, crud::list)
        .post(LIST, crud::create)
        .get(ONE, crud::read)
        .patch(ONE, crud::update)
        .delete(ONE, crud::delete)
        .get(PHOTO, photo::read)
        .post(UPLOADS, photo::announce)
        .get(UPLOAD, photo::upload)
        .patch(REINVITE, reinvite::update)
        .post(BATCH_IMPORT, batch_import::create)
}
