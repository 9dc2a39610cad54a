//! Generates JSON Schemas of Rust types for the OpenAPI document.

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// Generates schemas of serialized types, with references into the document's components.
pub(crate) fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        // OpenAPI 3.1 sets the dialect for all components.
        settings.meta_schema = None;
        settings.transforms.push(Box::new(simplify));
    });
    settings.into_generator()
}

/// The schema of a type that refers to no other type with its own schema.
pub(crate) fn inline<T: JsonSchema>() -> Value {
    let mut generator = generator();
    let mut schema = generator.subschema_for::<T>();
    simplify(&mut schema);
    schema.to_value()
}

/// The schema of a type, and the schemas of the types that it refers to.
pub(crate) fn with_definitions<T: JsonSchema>() -> (Value, Map<String, Value>) {
    let mut generator = generator();
    let mut schema = T::json_schema(&mut generator);
    simplify(&mut schema);
    (schema.to_value(), generator.take_definitions(true))
}

/// Simplifies a schema and its subschemas, so that generators make better clients from them.
fn simplify(schema: &mut Schema) {
    transform_subschemas(&mut simplify, schema);
    plain_choice(schema);
    plain_null(schema);
}

/// Turns a `oneOf` of described constants into a plain `enum`. Their descriptions become a list in the enum's description.
fn plain_choice(schema: &mut Schema) {
    let Some(choices) = schema.get("oneOf").and_then(Value::as_array) else { return };
    let Some(values) = choices.iter().map(|choice| choice.get("const").cloned()).collect::<Option<Vec<_>>>()
    else {
        return;
    };
    let lines = choices.iter().filter_map(|choice| {
        let value = choice["const"].as_str()?;
        let text = choice["description"].as_str()?;
        let value = if value.is_empty() { "\"\"" } else { value };
        Some(format!("- `{value}`: {text}"))
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let text = format!("{text}\n\n{lines}");
    // Generators make a type for each branch of `oneOf`, but a single type for an `enum`.
    schema.remove("oneOf");
    schema.insert("type".to_owned(), json!("string"));
    schema.insert("enum".to_owned(), json!(values));
    schema.insert("description".to_owned(), json!(text.trim()));
}

/// Turns `anyOf` an enum and null into one enum, for which generators make a single type. The list of the values follows
/// the description of the `anyOf`.
fn plain_null(schema: &mut Schema) {
    let Some([of, null]) = schema.get("anyOf").and_then(Value::as_array).map(Vec::as_slice) else { return };
    let (Some(values), true) = (of["enum"].as_array(), null["type"] == "null") else { return };
    let values: Vec<_> = values.iter().cloned().chain([Value::Null]).collect();
    let (types, mut of) = (json!([of["type"], "null"]), of.clone());
    if let Some(text) = schema.get("description") {
        let list = of["description"].as_str().and_then(|text| Some(text.split_once("\n\n")?.1));
        let parts = [text.as_str(), list].map(Option::unwrap_or_default);
        of["description"] = json!(parts.join("\n\n").trim());
    }
    schema.remove("anyOf");
    for (keyword, value) in of.as_object_mut().into_iter().flatten() {
        schema.insert(keyword.clone(), value.take());
    }
    schema.insert("type".to_owned(), types);
    schema.insert("enum".to_owned(), json!(values));
}
