//! The search of candidates by name and email.

mod document;
mod find;
mod view;

pub use document::group;
use shared::http::Routes;

/// The routes of this group.
pub fn routes() -> Routes {
    const SEARCH: &str = "/companies/{companyId}/search/";
    Routes::new().get(SEARCH, find::list)
}
