//! The search of candidates by name and email.

mod find;
mod view;

use shared::http::Routes;

/// The routes of this group.
pub fn routes() -> Routes {
    const SEARCH: &str = "/companies/{companyId}/search/";
    Routes::new().get(SEARCH, find::list)
}
