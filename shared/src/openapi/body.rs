//! The body of a request, described by running its reader on an empty body and noting what it asks for.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use crate::domain::media::file::FileKind;
use crate::http::body::outline::BodyOutline;
use crate::http::schema::generator;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFormat {
    Object,
    ObjectOrForm,
    Form,
    /// A JSON list of at most so many objects.
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
            BodyFormat::Object => (Some(object), None),
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

    /// Whether it has a schema and, unless it is a form, which is made of files, an example.
    pub(super) fn is_described(&self) -> bool {
        match self.accepts {
            BodyFormat::Form => self.form.is_some(),
            _ => self.json.is_some() && !self.examples.is_empty(),
        }
    }

    pub(super) fn component(self) -> Value {
        let mut content = json!({});
        if let Some(object) = self.json {
            content["application/json"] = json!({ "schema": object, "examples": self.examples });
        }
        if let Some(form) = self.form {
            content["multipart/form-data"] = json!({ "schema": form });
        }
        json!({ "required": true, "content": content })
    }
}

fn with_descriptions(mut schema: Value, described: &Map<String, Value>) -> Value {
    for (name, property) in schema["properties"].as_object_mut().into_iter().flatten() {
        // The outline itself describes how to send files.
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
