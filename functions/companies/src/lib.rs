//! The company itself, and what its people share with each other.

mod crud;
mod shares;
mod view;

use shared::http::Routes;

/// The routes of this group.
pub fn routes() -> Routes {
    Routes::new()
        .get("/companies/{companyId}/", crud::read)
        .get("/companies/{companyId}/shares/", shares::list)
}
