//! Every group of routes that clients call, and the document that is made of them.

use serde_json::Value;
use shared::openapi::{Group, document};

/// Every group that the gateway mounts and the document describes.
pub fn groups() -> Vec<Group> {
    vec![
        auth::group(),
        companies::group(),
        customers::group(),
        projects::group(),
        candidates::group(),
        videos::group(),
        search::group(),
        docs::group(),
    ]
}

/// The document, as it is committed.
///
/// # Errors
/// What is missing in it.
pub fn written() -> Result<String, Vec<String>> {
    let document: Value = document(groups())?;
    Ok(format!("{document:#}\n"))
}
