//! One operation: the facts from its handler's types, and the texts from its group's `document.rs`.

use std::collections::{BTreeMap, BTreeSet};

use axum::http::StatusCode;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};
use url::Url;

use super::body::{RequestBodyDoc, properties_of};
use super::failure::ErrorResponseDoc;
use crate::domain::Refusal;
use crate::domain::id::CompanyId;
use crate::domain::policy::Action;
use crate::http::BodyFields;
use crate::http::reference::ReferenceUris;
use crate::http::schema::{generator, inline};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SecurityScheme {
    #[default]
    None,
    /// A token or a cookie, needed only to act on behalf of another user.
    Optional,
    /// A token or a cookie.
    Staff,
    /// A token, a cookie, or a candidate's access key.
    Anybody,
    /// The key of a guest link.
    Guest,
}

/// One operation of the document.
#[must_use]
#[derive(Debug)]
pub struct OperationDoc {
    pub(super) summary: &'static str,
    pub(super) text: String,
    pub(super) security: SecurityScheme,
    pub(super) action: Option<Action>,
    pub(super) body: Option<RequestBodyDoc>,
    /// Whether `document.rs` describes a body although the handler takes none.
    pub(super) has_spare_reader: bool,
    pub(super) parameters: Vec<Value>,
    pub(super) answers: BTreeMap<u16, Value>,
    pub(super) failures: BTreeSet<ErrorResponseDoc>,
    pub(super) is_untagged: bool,
    /// Whether unknown query parameters are ignored.
    pub(super) takes_any_parameter: bool,
    /// Whether the response is stored for retries with the same Idempotency-Key.
    pub(super) is_once: bool,
    /// Whether the response's status tells if the request has created the resource or changed an existing one.
    pub(super) may_create: bool,
    pub(super) generator: SchemaGenerator,
}

impl OperationDoc {
    pub(crate) fn new(summary: &'static str, is_once: bool, may_create: bool) -> Self {
        Self {
            summary,
            text: String::new(),
            security: SecurityScheme::None,
            action: None,
            body: None,
            has_spare_reader: false,
            parameters: Vec::new(),
            answers: BTreeMap::new(),
            failures: BTreeSet::new(),
            is_untagged: false,
            takes_any_parameter: false,
            is_once,
            may_create,
            generator: generator(),
        }
    }
}

/// The methods that `document.rs` calls.
impl OperationDoc {
    /// Appends Markdown to the description.
    pub fn text(mut self, text: &str) -> Self {
        self.text.push_str(text);
        self
    }

    /// Adds a query parameter.
    pub fn query<T: JsonSchema>(self, name: &str, text: &str) -> Self {
        self.query_as(name, text, inline::<T>())
    }

    /// Adds a query parameter with this schema.
    pub fn query_as(mut self, name: &str, text: &str, schema: Value) -> Self {
        self.add_query(name, text, schema);
        self
    }

    /// Adds a required query parameter.
    pub fn required_query(self, name: &str, text: &str, example: &str) -> Self {
        self.required_query_as(name, text, json!({ "type": "string", "minLength": 1 }), example)
    }

    /// Adds a required query parameter with this schema.
    pub fn required_query_as(mut self, name: &str, text: &str, schema: Value, example: &str) -> Self {
        self.parameters.push(json!({
            "name": name, "in": "query", "required": true, "description": text, "schema": schema, "example": example,
        }));
        self.fails(ErrorResponseDoc::Invalid);
        self
    }

    /// Adds the query parameter `expand` for the references `names`.
    pub fn expand(self, names: &[&str]) -> Self {
        let text =
            format!("Comma-separated names of references to replace by the resources: {}.", names.join(", "));
        self.query_list("expand", &text, names)
    }

    /// Adds a query parameter that is a list of any of `names`.
    pub fn query_list(mut self, name: &str, text: &str, names: &[&str]) -> Self {
        let schema = json!({ "type": "array", "items": { "type": "string", "enum": names } });
        self.parameters.push(json!({
            "name": name, "in": "query", "description": text, "schema": schema,
            // The contract demands one parameter with commas.
            "style": "form", "explode": false,
        }));
        self.fails(ErrorResponseDoc::Invalid);
        self
    }

    /// Makes credentials optional, and adds 401.
    pub fn may_be_authenticated(mut self) -> Self {
        self.security = SecurityScheme::Optional;
        self.fails(ErrorResponseDoc::Unauthenticated);
        self
    }

    /// Adds 401 for wrong credentials in the body, and for a candidate whose interview was cancelled.
    pub fn authenticates(mut self) -> Self {
        self.fails(ErrorResponseDoc::EndedKey);
        self
    }

    /// Adds 403 for requests from pages of other origins.
    pub fn checks_origin(mut self) -> Self {
        self.fails(ErrorResponseDoc::Forbidden);
        self
    }

    /// Adds 403 for staff who must sign in by their company's provider.
    pub fn may_require_sign_in(mut self) -> Self {
        self.fails(ErrorResponseDoc::Forbidden);
        self.text.push_str(
            "\n\nReturns 403 `sign_in_required` for staff whose company lets them sign in by its provider alone: open \
             `sign_in_url` in a browser.",
        );
        self
    }

    /// Adds a response with a file of this media type.
    pub fn sends(mut self, media_type: &str, text: &str) -> Self {
        let schema = match media_type {
            "application/json" => json!({ "type": "object" }),
            // Generated clients use bytes for this schema, as they do in forms.
            "image/png" => json!({ "type": "string", "contentMediaType": "application/octet-stream" }),
            _ => json!({ "type": "string" }),
        };
        self.tells(StatusCode::OK, text)["content"][media_type] = json!({ "schema": schema });
        self
    }

    /// Adds 302, where `text` describes the `Location`, and 303 to a page that shows the reason of a refusal.
    pub fn redirects(mut self, text: &str) -> Self {
        let refused = "To the page that shows the reason of a refusal.";
        for (status, text) in [(StatusCode::FOUND, text), (StatusCode::SEE_OTHER, refused)] {
            let answer = self.tells(status, text);
            answer["headers"]["Location"] = json!({ "$ref": "#/components/headers/Location" });
            answer["headers"]["Set-Cookie"] = json!({ "$ref": "#/components/headers/Cookie" });
        }
        self
    }

    /// Adds 400 for refusals that depend on the resource's state, and lists their codes.
    pub fn refuses(mut self, refusals: &[Refusal]) -> Self {
        self.fails(ErrorResponseDoc::Invalid);
        self.text.push_str("\n\nReturns 400 with one of these codes when the resource does not allow it:\n");
        for Refusal { code, detail } in refusals {
            self.text.push_str(&format!("\n- `{code}`: {detail}"));
        }
        self
    }

    /// Adds 409 for an `external_id` that is in use.
    pub fn takes_external_id(mut self) -> Self {
        self.fails(ErrorResponseDoc::ExternalIdTaken);
        self
    }

    /// The response has no `ETag`.
    pub fn untagged(self) -> Self {
        Self { is_untagged: true, ..self }
    }

    /// Adds 410 for events that have expired.
    pub fn may_have_expired(mut self) -> Self {
        self.fails(ErrorResponseDoc::Gone);
        self
    }

    /// Adds 404 for a resource that everyone may read.
    pub fn finds_nothing(mut self) -> Self {
        self.may_find_nothing();
        self
    }

    /// Adds 429; `text` explains the limit.
    pub fn is_limited(mut self, text: &str) -> Self {
        self.fails(ErrorResponseDoc::Throttled);
        self.text.push_str(&format!("\n\n{text}"));
        self
    }
}

/// The methods that arguments, responses and routes call.
impl OperationDoc {
    /// Adds Set-Cookie to the responses added so far.
    pub fn sets_cookie(&mut self) {
        for answer in self.answers.values_mut() {
            answer["headers"]["Set-Cookie"] = json!({ "$ref": "#/components/headers/Cookie" });
        }
    }

    /// Adds 200 with a body and the header `Link`.
    pub fn shows_with_links<V: JsonSchema>(&mut self, text: &str) {
        let answer = self.shows::<V>(StatusCode::OK, text);
        answer["headers"]["Link"] = json!({ "$ref": "#/components/headers/Link" });
    }

    /// Adds 404.
    pub fn may_find_nothing(&mut self) {
        self.fails(ErrorResponseDoc::NotFound);
    }

    pub(super) fn add_query(&mut self, name: &str, text: &str, schema: Value) {
        self.parameters.push(json!({ "name": name, "in": "query", "description": text, "schema": schema }));
        self.fails(ErrorResponseDoc::Invalid);
    }

    /// Adds a response with a body.
    pub(super) fn shows<V: JsonSchema>(&mut self, status: StatusCode, text: &str) -> &mut Value {
        let schema = self.generator.subschema_for::<V>();
        let content = json!({ "application/json": { "schema": schema } });
        self.answers.entry(status.as_u16()).or_insert(json!({ "description": text, "content": content }))
    }

    /// Adds a response without a body.
    pub(super) fn tells(&mut self, status: StatusCode, text: &str) -> &mut Value {
        self.answers.entry(status.as_u16()).or_insert(json!({ "description": text }))
    }

    pub(super) fn fails(&mut self, failure: ErrorResponseDoc) {
        self.failures.insert(failure);
    }
}

impl OperationDoc {
    /// Describes the body by running its reader. Properties take their descriptions from the properties of the same
    /// name in the view `V`.
    pub fn body<V: JsonSchema, T>(mut self, read: impl Fn(BodyFields) -> T) -> Self {
        match &mut self.body {
            Some(body) => {
                body.describe(&properties_of::<V>(), |is_form| BodyFields::outlined(is_form, &read))
            }
            // The handler takes no body; the document reports that as a problem.
            None => self.has_spare_reader = true,
        }
        self
    }

    /// Like [`body`](Self::body), for a reader that also parses references.
    pub fn body_with_references<V: JsonSchema, T>(
        self,
        read: impl Fn(BodyFields, &CompanyId, ReferenceUris<'_>) -> T,
    ) -> Self {
        let base = Url::parse("http://localhost");
        let company = "acme".parse();
        match (base, company) {
            (Ok(base), Ok(company)) => {
                self.body::<V, T>(|body| read(body, &company, ReferenceUris::below(&base, &base)))
            }
            _ => self,
        }
    }

    /// Describes a property of the body that the view lacks.
    pub fn field(mut self, name: &str, text: &str) -> Self {
        let bodies = self.body.iter_mut().flat_map(|body| [body.json.as_mut(), body.form.as_mut()]).flatten();
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
