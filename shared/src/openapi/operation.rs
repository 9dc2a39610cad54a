//! What is said of one route: most of it follows from the types of its handler.

use std::any::type_name;
use std::collections::BTreeMap;

use axum::http::StatusCode;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};
use url::Url;

use super::answer::Answer;
use super::argument::Argument;
use super::failure::Failure;
use super::schema::{generator, inline};
use crate::domain::Refusal;
use crate::domain::file::FileKind;
use crate::domain::id::CompanyId;
use crate::domain::policy::Action;
use crate::http::Fields;
use crate::http::reference::References;

/// A handler whose arguments and answer are understood here.
pub trait Documented<T> {
    /// Says what they mean for clients.
    fn describe(operation: &mut Operation);
}

macro_rules! handlers {
    ($(($($argument:ident)*))*) => {
        $(
            impl<F, Fut, R, $($argument),*> Documented<($($argument,)*)> for F
            where
                F: Fn($($argument),*) -> Fut,
                Fut: Future<Output = R>,
                R: Answer,
                $($argument: Argument,)*
            {
                fn describe(operation: &mut Operation) {
                    $($argument::describe(operation);)*
                    R::describe(operation);
                }
            }
        )*
    };
}

handlers! { (A) (A B) (A B C) }

/// What a request is authenticated by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Security {
    /// Nothing.
    #[default]
    None,
    /// Something, if the caller acts for somebody else.
    Optional,
    /// A token or a cookie.
    Staff,
    /// A token or a cookie, or the key that came with an invitation.
    Anybody,
}

/// What a body can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// A JSON object.
    Object,
    /// A JSON object or a form.
    ObjectOrForm,
    /// A JSON list of at most so many objects.
    List(usize),
}

/// A body that a handler takes.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) json: Value,
    pub(super) form: Option<Value>,
    pub(super) examples: Vec<(&'static str, Value)>,
}

/// One route, as the document describes it.
#[derive(Debug)]
pub struct Operation {
    /// The path of the handler's function, by which its route is found.
    pub(super) handler: &'static str,
    pub(super) summary: &'static str,
    pub(super) text: String,
    pub(super) security: Security,
    pub(super) action: Option<Action>,
    pub(super) takes: Option<Takes>,
    pub(super) body: Option<Body>,
    pub(super) parameters: Vec<Value>,
    pub(super) answers: BTreeMap<u16, Value>,
    pub(super) failures: Vec<Failure>,
    pub(super) is_list: bool,
    /// Whether a request with an Idempotency-Key is answered once, and its repeats by that answer.
    pub(super) is_answered_once: bool,
    pub(super) generator: SchemaGenerator,
}

impl Operation {
    /// What the types of a route's handler say. `summary` is a verb and its object, such as `List labels`; from it
    /// clients' names are made.
    pub fn of<H: Documented<T>, T>(summary: &'static str, _: H) -> Self {
        let mut operation = Self {
            handler: type_name::<H>(),
            summary,
            text: String::new(),
            security: Security::None,
            action: None,
            takes: None,
            body: None,
            parameters: Vec::new(),
            answers: BTreeMap::new(),
            failures: Vec::new(),
            is_list: false,
            is_answered_once: false,
            generator: generator(),
        };
        H::describe(&mut operation);
        operation
    }

    /// Says what neither types nor the summary tell, in Markdown.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.text.push_str(text);
        self
    }

    /// Says how the body looks: as its reader asks for it. What the reader's types say nothing about is described like
    /// the property of the same name in `V`.
    #[must_use]
    pub fn body<V: JsonSchema, T>(mut self, read: impl Fn(Fields) -> T) -> Self {
        let described = inline_properties::<V>();
        let describe = |mut schema: Value| {
            let properties = schema["properties"].as_object_mut();
            for (name, property) in properties.into_iter().flatten() {
                // Of files the body says more: how they are sent.
                let is_file = FileKind::ALL.iter().any(|kind| kind.as_str() == name);
                let told = described.get(name).and_then(|shown| shown.get("description"));
                if let Some(told) = told.filter(|_| !is_file) {
                    property["description"] = told.clone();
                }
            }
            schema
        };
        let object = describe(Fields::outlined(false, &read).into_object());
        let json = match self.takes {
            Some(Takes::List(most)) => {
                json!({ "type": "array", "minItems": 1, "maxItems": most, "items": object })
            }
            _ => object,
        };
        let form = (self.takes == Some(Takes::ObjectOrForm))
            .then(|| describe(Fields::outlined(true, &read).into_form()));
        self.body = Some(Body { json, form, examples: Vec::new() });
        self
    }

    /// The same for a reader that reads references.
    #[must_use]
    pub fn body_with_references<V: JsonSchema, T>(
        self,
        read: impl Fn(Fields, &CompanyId, References<'_>) -> T,
    ) -> Self {
        let (base, company) = (Url::parse("http://localhost"), "acme".parse());
        match (base, company) {
            (Ok(base), Ok(company)) => {
                self.body::<V, T>(|body| read(body, &company, References::below(&base)))
            }
            _ => self,
        }
    }

    /// Says what a property of the body is that no view shows.
    #[must_use]
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

    /// Shows a body, under a name.
    #[must_use]
    pub fn example(mut self, name: &'static str, example: Value) -> Self {
        if let Some(body) = &mut self.body {
            body.examples.push((name, example));
        }
        self
    }

    /// A query parameter.
    #[must_use]
    pub fn query<T: JsonSchema>(mut self, name: &str, text: &str) -> Self {
        self.add_query(name, text, inline::<T>());
        self
    }

    /// References of these names can be replaced by what they lead to.
    #[must_use]
    pub fn expand(mut self, names: &[&str]) -> Self {
        let text = format!(
            "Names, separated by commas, of references to replace by what they lead to: {}.",
            names.join(", ")
        );
        let schema = json!({ "type": "array", "items": { "type": "string", "enum": names } });
        self.parameters.push(json!({
            "name": "expand", "in": "query", "description": text, "schema": schema,
            "style": "form", "explode": false,
        }));
        self.fails(Failure::Invalid);
        self
    }

    /// Says what an answer is that the handler's type does not tell.
    #[must_use]
    pub fn answers<R: Answer>(mut self) -> Self {
        R::describe(&mut self);
        self
    }

    /// A caller who is authenticated may act for others.
    #[must_use]
    pub fn may_be_authenticated(mut self) -> Self {
        self.security = Security::Optional;
        self.fails(Failure::Unauthenticated);
        self
    }

    /// Adds a query parameter that must be there.
    #[must_use]
    pub fn required_query(mut self, name: &str, text: &str, example: &str) -> Self {
        self.parameters.push(json!({
            "name": name, "in": "query", "required": true, "description": text,
            "schema": { "type": "string", "minLength": 1 }, "example": example,
        }));
        self.fails(Failure::Invalid);
        self
    }

    /// Adds a query parameter with this schema.
    #[must_use]
    pub fn query_as(mut self, name: &str, text: &str, schema: Value) -> Self {
        self.add_query(name, text, schema);
        self
    }

    /// Credentials in the body may be wrong.
    #[must_use]
    pub fn authenticates(mut self) -> Self {
        self.fails(Failure::Unauthenticated);
        self
    }

    /// Only pages of some origins may send the request.
    #[must_use]
    pub fn minds_its_origin(mut self) -> Self {
        self.fails(Failure::Forbidden);
        self
    }

    /// Says that the answer can be a file of this media type.
    #[must_use]
    pub fn sends(mut self, media_type: &str, text: &str) -> Self {
        let kind = if media_type == "application/json" { "object" } else { "string" };
        self.tells(StatusCode::OK, text)["content"][media_type] = json!({ "schema": { "type": kind } });
        self
    }

    /// Refusals, told by their codes, that the current state may lead to.
    #[must_use]
    pub fn refuses(mut self, refusals: &[Refusal]) -> Self {
        self.fails(Failure::Invalid);
        self.text.push_str("\n\nRefused with 400 and one of these codes:\n");
        for Refusal { code, detail } in refusals {
            self.text.push_str(&format!("\n- `{code}`: {detail}"));
        }
        self
    }

    /// Says that it is refused with 429 when there is too much of it, in the words of `text`.
    pub fn is_limited(mut self, text: &str) -> Self {
        self.fails(Failure::Throttled);
        self.text.push_str(&format!("\n\n{text}"));
        self
    }

    /// Says of all answers so far that they set a cookie.
    pub fn sets_cookie(&mut self) {
        for answer in self.answers.values_mut() {
            answer["headers"]["Set-Cookie"] = json!({ "$ref": "#/components/headers/Cookie" });
        }
    }

    /// Says that there may be nothing of that name.
    pub fn may_find_nothing(&mut self) {
        self.fails(Failure::NotFound);
    }

    /// Adds a query parameter.
    pub(super) fn add_query(&mut self, name: &str, text: &str, schema: Value) {
        self.parameters.push(json!({ "name": name, "in": "query", "description": text, "schema": schema }));
        self.fails(Failure::Invalid);
    }

    /// Adds an answer with a body.
    pub(super) fn shows<V: JsonSchema>(&mut self, status: StatusCode, text: &str) -> &mut Value {
        let schema = self.generator.subschema_for::<V>();
        let content = json!({ "application/json": { "schema": schema } });
        self.answers.entry(status.as_u16()).or_insert(json!({ "description": text, "content": content }))
    }

    /// Adds an answer without a body.
    pub(super) fn tells(&mut self, status: StatusCode, text: &str) -> &mut Value {
        self.answers.entry(status.as_u16()).or_insert(json!({ "description": text }))
    }

    /// Adds a way to fail.
    pub(super) fn fails(&mut self, failure: Failure) {
        if !self.failures.contains(&failure) {
            self.failures.push(failure);
        }
    }
}

/// The properties of a view.
fn inline_properties<V: JsonSchema>() -> Map<String, Value> {
    let mut generator = generator();
    let schema = generator.root_schema_for::<V>().to_value();
    let mut properties = schema["properties"].as_object().cloned().unwrap_or_default();
    for flattened in schema["allOf"].as_array().into_iter().flatten() {
        properties.extend(flattened["properties"].as_object().cloned().unwrap_or_default());
    }
    properties
}

impl Body {
    /// What the document says of it.
    pub(super) fn component(self) -> Value {
        let examples =
            self.examples.into_iter().map(|(name, example)| (name.to_owned(), json!({ "value": example })));
        let examples: Map<String, Value> = examples.collect();
        let mut content = json!({ "application/json": { "schema": self.json, "examples": examples } });
        if let Some(form) = self.form {
            content["multipart/form-data"] = json!({ "schema": form });
        }
        json!({ "required": true, "content": content })
    }
}
