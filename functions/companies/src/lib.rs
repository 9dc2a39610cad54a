//! The company itself.

mod crud;
mod view;

use shared::http::Routes;

/// The routes of this group.
pub fn routes() -> Routes {
    Routes::new().get("/companies/{companyId}/", crud::read)
}
