//! The schema of a body, recorded while its reader asks for fields.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use crate::domain::media::file::FileKind;
use crate::http::schema::inline;

/// The schema of a body with the fields that its reader has asked for so far.
#[derive(Debug, Default)]
pub(crate) struct BodyOutline {
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl BodyOutline {
    pub(crate) fn require(&mut self, name: &str) {
        if !self.required.iter().any(|known| known == name) {
            self.required.push(name.to_owned());
        }
    }

    /// Adds a property that may not be null.
    pub(crate) fn value<T: JsonSchema>(&mut self, name: &str) {
        self.add(name, inline::<T>());
    }

    /// Adds a property that may be null.
    pub(crate) fn nullable<T: JsonSchema>(&mut self, name: &str) {
        self.add(name, or_null(inline::<T>()));
    }

    /// Adds a string that null or an empty string clears. Only the introduction documents the empty string, for all nullable
    /// strings: as a further choice in the schema, it would give generated clients a worse type.
    pub(crate) fn clearable_text<T: JsonSchema>(&mut self, name: &str) {
        let mut schema = or_null(inline::<T>());
        if let Some(keywords) = schema.as_object_mut() {
            keywords.remove("minLength");
        }
        if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
            values.extend([json!(""), Value::Null]);
        }
        self.add(name, schema);
    }

    pub(crate) fn integer(&mut self, name: &str, least: u32, most: u32) {
        self.add(name, json!({ "type": "integer", "minimum": least, "maximum": most }));
    }

    pub(crate) fn nullable_integer(&mut self, name: &str, least: u32, most: u32) {
        self.add(name, json!({ "type": ["integer", "null"], "minimum": least, "maximum": most }));
    }

    pub(crate) fn list<T: JsonSchema>(&mut self, name: &str, most: usize) {
        self.add(name, json!({ "type": "array", "maxItems": most, "items": inline::<T>() }));
    }

    /// Adds a decimal number.
    pub(crate) fn number(&mut self, name: &str, least: u32, most: u32) {
        self.add(name, json!({ "type": "number", "minimum": least, "maximum": most }));
    }

    /// Adds an object, or null, with the properties of `object`.
    pub(crate) fn nullable_object(&mut self, name: &str, object: Self) {
        self.add(name, or_null(object.into_object()));
    }

    /// Adds a list of objects with the properties of `item`.
    pub(crate) fn objects(&mut self, name: &str, most: usize, item: Self) {
        self.add(name, json!({ "type": "array", "maxItems": most, "items": item.into_object() }));
    }

    /// Adds an object with names of type `K` and values of type `T`.
    pub(crate) fn map<K: JsonSchema, T: JsonSchema>(&mut self, name: &str) {
        let schema = json!({
            "type": "object", "propertyNames": inline::<K>(), "additionalProperties": inline::<T>(),
        });
        self.add(name, schema);
    }

    /// Adds an object of at most `most` values whose names the client chooses.
    pub(crate) fn texts<T: JsonSchema>(&mut self, name: &str, most: usize) {
        let schema =
            json!({ "type": "object", "maxProperties": most, "additionalProperties": inline::<T>() });
        self.add(name, schema);
    }

    pub(crate) fn file(&mut self, kind: FileKind) {
        let how = match kind {
            FileKind::Photo => "a form part with a file name, or `data:<mime type>;base64,<data>`",
            FileKind::Cv => "a form part with a file name",
        };
        let text = format!(
            "{}: {how}. Null or an empty string removes it; the URL from a response keeps it.",
            kind.title(),
        );
        self.add(kind.as_str(), json!({ "type": ["string", "null"], "description": text }));
    }

    pub(crate) fn required_file(&mut self, name: &str) {
        self.require(name);
        self.add(name, sent_file());
    }

    fn add(&mut self, name: &str, schema: Value) {
        self.properties.insert(name.to_owned(), schema);
    }

    pub(crate) fn into_object(self) -> Value {
        let mut schema = json!({ "type": "object", "properties": self.properties });
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        schema
    }

    /// The schema of a form. Forms have no null, and files are binary.
    pub(crate) fn into_form(mut self) -> Value {
        for property in self.properties.values_mut() {
            drop_null(property);
        }
        for kind in FileKind::ALL {
            if let Some(file) = self.properties.get_mut(kind.as_str()) {
                let description = file["description"].take();
                *file = sent_file();
                file["description"] = description;
            }
        }
        self.into_object()
    }
}

/// The schema of a form's part with a file name.
fn sent_file() -> Value {
    // `format` belongs to OpenAPI 3.0, which most tools still follow.
    json!({ "type": "string", "format": "binary", "contentMediaType": "application/octet-stream" })
}

fn or_null(mut schema: Value) -> Value {
    let only = schema["type"].take();
    schema["type"] = json!([only, "null"]);
    schema
}

fn drop_null(schema: &mut Value) {
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    if let Some([only, _]) = schema.get("type").and_then(Value::as_array).map(Vec::as_slice) {
        schema["type"] = only.clone();
    }
}
