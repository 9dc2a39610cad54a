//! The OpenAPI document of all groups of routes.

use embedded::groups;
use serde_json::Value;
use shared::openapi::ApiDocument;

/// The document, which has read all route tables.
pub fn document() -> ApiDocument {
    groups().into_iter().fold(ApiDocument::new(), |document, (_, routes)| routes(document))
}

/// The schema of the body in JSON of a request, with its objects in their places; null for none.
pub fn request_body(document: &Value, method: &str, route: &str) -> Value {
    let body = &document["paths"][route][method]["requestBody"]["content"]["application/json"]["schema"];
    with_objects(document, body)
}

/// A schema with what its references lead to in their places.
fn with_objects(document: &Value, schema: &Value) -> Value {
    let target = schema["$ref"].as_str().and_then(|reference| document.pointer(reference.strip_prefix('#')?));
    match target.unwrap_or(schema) {
        Value::Object(fields) => {
            fields.iter().map(|(name, inner)| (name.clone(), with_objects(document, inner))).collect()
        }
        Value::Array(all) => all.iter().map(|inner| with_objects(document, inner)).collect(),
        value => value.clone(),
    }
}

/// The document as it is committed.
///
/// # Errors
/// What is missing in it.
pub fn written() -> Result<String, Vec<String>> {
    let document = document().finish()?;
    Ok(format!("{document:#}\n"))
}
