//! Makes the examples of `id` equal the ends of the examples of `resource_uri`.

use serde_json::{Map, Value, json};

/// Adds an example to each `id` in the document's schemas.
pub(super) fn place_all(schemas: &mut Map<String, Value>) {
    schemas.values_mut().for_each(place);
}

fn place(schema: &mut Value) {
    let uri = schema.pointer("/properties/resource_uri/examples/0").and_then(Value::as_str);
    let id = uri.and_then(|uri| uri.trim_end_matches('/').rsplit('/').next()).map(str::to_owned);
    for (name, property) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
    {
        if let Some(id) = id.as_ref().filter(|_| name == "id" && property.get("examples").is_none()) {
            property["examples"] = json!([id]);
        }
        place(property);
    }
    for part in ["items", "additionalProperties"] {
        schema.get_mut(part).into_iter().for_each(place);
    }
}
