//! The body of a request, described by running its reader on an empty body and noting what it asks for.

use schemars::JsonSchema;
use serde_json::{Map, Value, json};
use url::Url;

use super::operation::OperationDoc;
use crate::domain::file::FileKind;
use crate::domain::id::CompanyId;
use crate::http::BodyFields;
use crate::http::outline::BodyOutline;
use crate::http::reference::ReferenceUris;
use crate::http::schema::generator;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyFormat {
    Object,
    ObjectOrForm,
    /// A JSON list of at most so many objects.
    List(usize),
}

#[derive(Debug)]
pub(super) struct RequestBodyDoc {
    pub(super) accepts: BodyFormat,
    pub(super) json: Value,
    form: Option<Value>,
    pub(super) examples: Map<String, Value>,
}

impl OperationDoc {
    /// Describes the body by its reader. Properties whose types have no description get that of the property of the
    /// same name in the view `V`.
    pub fn body<V: JsonSchema, T>(mut self, read: impl Fn(BodyFields) -> T) -> Self {
        match &mut self.body {
            Some(body) => {
                body.describe(&properties_of::<V>(), |is_form| BodyFields::outlined(is_form, &read))
            }
            // The handler takes no body, which a test of the document reports.
            None => self.has_spare_reader = true,
        }
        self
    }

    /// Describes the body by a reader that also parses references.
    pub fn body_with_references<V: JsonSchema, T>(
        self,
        read: impl Fn(BodyFields, &CompanyId, ReferenceUris<'_>) -> T,
    ) -> Self {
        let (base, company) = (Url::parse("http://localhost"), "acme".parse());
        match (base, company) {
            (Ok(base), Ok(company)) => {
                self.body::<V, T>(|body| read(body, &company, ReferenceUris::below(&base)))
            }
            _ => self,
        }
    }

    /// Describes a property of the body that no view has.
    pub fn field(mut self, name: &str, text: &str) -> Self {
        let bodies =
            self.body.iter_mut().flat_map(|body| [Some(&mut body.json), body.form.as_mut()]).flatten();
        for schema in bodies {
            let object = if schema.get("items").is_some() { &mut schema["items"] } else { schema };
            if let Some(property) = object["properties"].get_mut(name) {
                property["description"] = json!(text);
            }
        }
        self
    }

    /// Adds an example of the body.
    pub fn example(mut self, name: &'static str, example: Value) -> Self {
        if let Some(body) = &mut self.body {
            body.examples.insert(name.to_owned(), json!({ "value": example }));
        }
        self
    }
}

impl RequestBodyDoc {
    pub(super) fn new(accepts: BodyFormat) -> Self {
        Self { accepts, json: Value::Null, form: None, examples: Map::new() }
    }

    fn describe(&mut self, described: &Map<String, Value>, outline: impl Fn(bool) -> BodyOutline) {
        let object = with_descriptions(outline(false).into_object(), described);
        (self.json, self.form) = match self.accepts {
            BodyFormat::Object => (object, None),
            BodyFormat::ObjectOrForm => {
                (object, Some(with_descriptions(outline(true).into_form(), described)))
            }
            BodyFormat::List(most) => {
                (json!({ "type": "array", "minItems": 1, "maxItems": most, "items": object }), None)
            }
        };
    }

    pub(super) fn component(self) -> Value {
        let json = json!({ "schema": self.json, "examples": self.examples });
        let mut content = json!({ "application/json": json });
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
        let text = described.get(name).and_then(|property| property.get("description"));
        if let Some(text) = text.filter(|_| !is_file) {
            property["description"] = text.clone();
        }
    }
    schema
}

fn properties_of<V: JsonSchema>() -> Map<String, Value> {
    let mut generator = generator();
    let schema = generator.root_schema_for::<V>().to_value();
    let mut properties = schema["properties"].as_object().cloned().unwrap_or_default();
    for flattened in schema["allOf"].as_array().into_iter().flatten() {
        properties.extend(flattened["properties"].as_object().cloned().unwrap_or_default());
    }
    properties
}
