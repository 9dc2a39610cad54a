//! The reference of the API: its OpenAPI document, and a page that shows it and sends requests.
//!
//! The page consists of a few scripts, which build it in the browser from the document. It loads nothing from other
//! hosts and calls only this API.

mod assets;
mod document;
mod guide;
mod openapi;
mod page;
mod root;

use shared::RouteReader;
use shared::app::App;
use shared::http::{HttpService, RouteGroup};

/// The OpenAPI document, written by `target/debug/examples/document`.
pub const DOCUMENT: &str = include_str!("../openapi.json");

/// A file that the build script has compressed.
macro_rules! packed {
    ($name:literal, $media_type:expr) => {
        shared::http::PackedFile::of_packed(
            $media_type,
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".gz")),
        )
    };
}
use packed;

/// The HTTP service that answers the requests of this group.
pub fn service(app: App) -> HttpService {
    routes(RouteGroup::new()).into_service(app)
}

/// The routes of this group.
pub fn routes<R: RouteReader>(routes: R) -> R {
    routes
        .group("Reference", "This reference, for programs and for people. No credentials needed.")
        .get("/", root::show, "Find this reference", document::find_this_reference)
        .get("/openapi.json/", openapi::show, "Get this document", document::get_this_document)
        .get("/docs/", page::show, "Show the reference", document::show_the_reference)
        .get("/docs/{file}/", assets::show, "Get reference file", document::get_reference_file)
}
