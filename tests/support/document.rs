//! The OpenAPI document of all groups of routes.

use embedded::groups;
use shared::openapi::Document;

/// The document, which has read all route tables.
pub fn document() -> Document {
    groups().into_iter().fold(Document::new(), |document, (_, routes)| routes(document))
}

/// The document as it is committed.
///
/// # Errors
/// What is missing in it.
pub fn written() -> Result<String, Vec<String>> {
    let document = document().finish()?;
    Ok(format!("{document:#}\n"))
}
