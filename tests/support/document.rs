//! The OpenAPI document of all route groups.

use embedded::groups;
use serde_json::Value;
use shared::openapi::ApiDocument;

/// The document of all route tables.
pub fn document() -> ApiDocument {
    groups().into_iter().fold(ApiDocument::new(), |document, (_, routes)| routes(document))
}

/// The schema of a request's JSON body, with references resolved; null if there is none.
pub fn request_body(document: &Value, method: &str, route: &str) -> Value {
    let body = &document["paths"][route][method]["requestBody"]["content"]["application/json"]["schema"];
    with_objects(document, body)
}

/// A schema with its references replaced by their targets.
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
/// The parts that are missing in the document.
pub fn written() -> Result<String, Vec<String>> {
    let document = document().finish()?;
    Ok(format!("{document:#}\n"))
}
