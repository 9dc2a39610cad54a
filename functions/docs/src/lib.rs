//! The reference of the API: its OpenAPI document, and a page that shows it and on which requests can be tried.
//!
//! The page is Swagger UI. All of it comes from here; it calls nothing but the API that it stands below.

mod assets;
mod document;
mod file;
mod openapi;
mod page;

pub use document::group;
use shared::http::Routes;

/// The document, as `cargo run -p tests --bin document` makes it.
pub const DOCUMENT: &str = include_str!("../openapi.json");

/// The routes of this group.
pub fn routes() -> Routes {
    Routes::new()
        .get("/openapi.json/", openapi::show)
        .get("/docs/", page::show)
        .get("/docs/{file}/", assets::show)
}
