//! Describes the body of a request: runs the reader on an empty body and records the fields that it asks for.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::names::capitalise;
use crate::domain::media::file::FileKind;
use crate::http::body::outline::BodyOutline;
use crate::http::schema::generator;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFormat {
    Object,
    ObjectOrForm,
    /// An object, as JSON or as a URL-encoded form.
    ObjectOrParameters,
    Form,
    /// A JSON list of at most this many objects.
    List(usize),
}

#[derive(Debug)]
pub(super) struct RequestBodyDoc {
    pub(super) accepts: BodyFormat,
    pub(super) json: Option<Value>,
    pub(super) form: Option<Value>,
    pub(super) examples: Map<String, Value>,
}

impl RequestBodyDoc {
    pub(super) fn new(accepts: BodyFormat) -> Self {
        Self { accepts, json: None, form: None, examples: Map::new() }
    }

    pub(super) fn describe(&mut self, described: &Map<String, Value>, outline: impl Fn(bool) -> BodyOutline) {
        let object = with_descriptions(outline(false).into_object(), described);
        (self.json, self.form) = match self.accepts {
            BodyFormat::Object | BodyFormat::ObjectOrParameters => (Some(object), None),
            BodyFormat::ObjectOrForm => {
                (Some(object), Some(with_descriptions(outline(true).into_form(), described)))
            }
            BodyFormat::Form => (None, Some(with_descriptions(outline(true).into_form(), described))),
            BodyFormat::List(most) => {
                let list = json!({ "type": "array", "minItems": 1, "maxItems": most, "items": object });
                (Some(list), None)
            }
        };
    }

    /// Whether the body has a schema and an example. Forms with files need no example.
    pub(super) fn is_described(&self) -> bool {
        match self.accepts {
            BodyFormat::Form => self.form.is_some(),
            _ => self.json.is_some() && !self.examples.is_empty(),
        }
    }

    /// The request body of the operation with the identifier `operation`. Moves its objects to `named`, under unique names:
    /// names that generators invent would collide.
    pub(super) fn component(self, operation: &str, named: &mut Map<String, Value>) -> Value {
        let operation = capitalise(operation);
        let [of_json, of_form] = match (&self.json, &self.form) {
            (Some(_), Some(_)) => ["JsonBody", "FilesBody"],
            _ => ["Body"; 2],
        };
        let mut content = json!({});
        if let Some(mut object) = self.json {
            name_objects(&mut object, format!("{operation}{of_json}"), named);
            content["application/json"] = json!({ "schema": object, "examples": self.examples });
            if self.accepts == BodyFormat::ObjectOrParameters {
                content["application/x-www-form-urlencoded"] = json!({ "schema": object });
            }
        }
        if let Some(mut form) = self.form {
            name_objects(&mut form, format!("{operation}{of_form}"), named);
            content["multipart/form-data"] = json!({ "schema": form });
        }
        json!({ "required": true, "content": content })
    }
}

/// Replaces the objects in a schema by references, and adds the objects to `named`.
fn name_objects(schema: &mut Value, name: String, named: &mut Map<String, Value>) {
    if let Some(items) = schema.get_mut("items") {
        name_objects(items, format!("{name}Item"), named);
    }
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (property, of) in properties {
        name_objects(of, name.clone() + &capitalise(property), named);
    }
    let is_nullable = schema["type"].is_array();
    let reference = json!({ "$ref": format!("#/components/schemas/{name}") });
    let mut placed =
        if is_nullable { json!({ "anyOf": [reference, { "type": "null" }] }) } else { reference };
    if let Some(text) = schema.get("description") {
        placed["description"] = text.clone();
    }
    let mut object = std::mem::replace(schema, placed);
    object["type"] = json!("object");
    named.insert(name, object);
}

fn with_descriptions(mut schema: Value, described: &Map<String, Value>) -> Value {
    for (name, property) in schema["properties"].as_object_mut().into_iter().flatten() {
        // The outline has already described how to send files.
        let is_file = FileKind::ALL.iter().any(|kind| kind.as_str() == name);
        for keyword in ["description", "deprecated"] {
            let value = described.get(name).and_then(|property| property.get(keyword));
            if let Some(value) = value.filter(|_| !is_file) {
                property[keyword] = value.clone();
            }
        }
    }
    schema
}

pub(super) fn properties_of<V: JsonSchema>() -> Map<String, Value> {
    let mut generator = generator();
    let schema = generator.root_schema_for::<V>().to_value();
    let mut properties = schema["properties"].as_object().cloned().unwrap_or_default();
    for flattened in schema["allOf"].as_array().into_iter().flatten() {
        properties.extend(flattened["properties"].as_object().cloned().unwrap_or_default());
    }
    properties
}
