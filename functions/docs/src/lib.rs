//! The reference of the API: its OpenAPI document, and a page that shows it and on which requests can be tried.
//!
//! The page is a few scripts of this project, which build it in the browser from the document. It loads nothing from other
//! hosts, and calls nothing but this API.

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
