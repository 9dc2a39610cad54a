//! Makes examples of responses from schemas.

use serde_json::{Map, Value, json};

/// A value that matches `schema`.
pub(super) fn of(schema: &Value, schemas: &Map<String, Value>) -> Value {
    if let Some(target) = schema["$ref"].as_str() {
        let target = target.rsplit('/').next().unwrap_or_default();
        return of(&schemas[target], schemas);
    }
    if let Some(given) =
        schema["examples"].get(0).or_else(|| schema.get("default")).or_else(|| schema.get("const"))
    {
        return given.clone();
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    if let Some(choices) = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array()) {
        return choices.first().map_or(Value::Null, |choice| of(choice, schemas));
    }
    match kind(schema) {
        "object" => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            // An empty list of examples marks a property that few values have, so omit it.
            let properties = properties.filter(|(_, property)| property["examples"] != json!([]));
            properties
                .map(|(name, property)| (name.clone(), of(property, schemas)))
                .collect::<Map<_, _>>()
                .into()
        }
        "array" => match schema.get("items") {
            Some(items) => json!([of(items, schemas)]),
            None => json!([]),
        },
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(0)),
        "boolean" => json!(false),
        "null" => Value::Null,
        _ => json!(""),
    }
}

/// The type in a schema, ignoring null.
fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        kind => kind.as_str(),
    }
    .unwrap_or_default()
}
