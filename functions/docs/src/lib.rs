//! The reference of the API: its OpenAPI document.

/// The document, as `cargo run -p tests --bin document` makes it.
pub const DOCUMENT: &str = include_str!("../openapi.json");
