//! The welcome videos of a company.

mod changes;
mod crud;
mod document;
mod files;
mod view;

pub use document::group;
use shared::http::Routes;

/// The routes of this group.
pub fn routes() -> Routes {
    const LIST: &str = "/companies/{companyId}/videos/";
    const ONE: &str = "/companies/{companyId}/videos/{videoId}/";
    const THUMB: &str = "/companies/{companyId}/videos/{videoId}/thumb/{token}/";
    const VIDEO: &str = "/companies/{companyId}/videos/{videoId}/video/{token}/";
    Routes::new()
        .get(LIST, crud::list)
        .post(LIST, crud::create)
        .get(ONE, crud::read)
        .put(ONE, crud::replace)
        .patch(ONE, crud::update)
        .delete(ONE, crud::delete)
        .get(THUMB, files::thumb)
        .get(VIDEO, files::video)
}
