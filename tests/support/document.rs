//! The OpenAPI document of all groups of routes.

use embedded::groups;
use shared::openapi::ApiDocument;

/// The document, which has read all route tables.
pub fn document() -> ApiDocument {
    groups().into_iter().fold(ApiDocument::new(), |document, (_, routes)| routes(document))
}

/// The document as it is committed.
///
/// # Errors
/// What is missing in it.
pub fn written() -> Result<String, Vec<String>> {
    let document = document().finish()?;
    Ok(format!("{document:#}\n"))
}
