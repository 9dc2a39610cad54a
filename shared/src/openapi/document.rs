//! Assembles the OpenAPI document, and reports missing parts.

use std::collections::BTreeSet;

use axum::http::Method;
use serde_json::{Map, Value, json};

use super::failure::ErrorResponseDoc;
use super::operation::{OperationDoc, SecurityScheme};
use super::{events, example, identifiers, moments, prose, sets, tables, webhooks};
use crate::config::VERSION_PATH;

/// The OpenAPI document, which consumes route tables.
#[derive(Default)]
pub struct ApiDocument {
    pub(crate) base: &'static str,
    groups: Vec<(&'static str, &'static str)>,
    routes: Vec<(Method, String)>,
    paths: Map<String, Value>,
    schemas: Map<String, Value>,
    /// The schemas of objects in request bodies.
    bodies: Map<String, Value>,
    names: BTreeSet<String>,
    problems: Vec<String>,
}

impl ApiDocument {
    /// A document without operations.
    pub fn new() -> Self {
        Self::default()
    }

    /// Method and path of all routes, in order. Paths start after `/api/v3` and contain parameters such as `{projectId}`.
    pub fn routes(&self) -> &[(Method, String)] {
        &self.routes
    }

    pub(crate) fn add_group(&mut self, title: &'static str, text: &'static str) {
        self.groups.push((title, text));
        self.base = "";
    }

    pub(crate) fn add_operation(&mut self, method: &Method, path: String, mut operation: OperationDoc) {
        let place = format!("{method} {path}");
        // Problems are collected, so that one run reports all of them.
        if !operation.answers.keys().any(|status| (200..400).contains(status)) {
            self.problems.push(format!("{place} has no answer"));
        }
        operation.follow(method);
        // Must stay unique and stable, because generated clients name their methods after it.
        let id = operation_id(operation.summary);
        if !self.names.insert(id.clone()) {
            self.problems.push(format!("{place} has the same identifier as another operation: {id}"));
        }
        for (name, schema) in operation.generator.take_definitions(true) {
            let known = self.schemas.insert(name.clone(), schema.clone());
            // Report two types with one name: one would silently replace the other's schema.
            if known.is_some_and(|known| known != schema) {
                self.problems.push(format!("two schemas are called {name}"));
            }
        }
        if operation.has_spare_reader {
            self.problems.push(format!("{place} takes no body"));
        }
        if let Some(body) = &operation.body {
            if !body.is_described() {
                self.problems.push(format!("{place} has a body without a reader or an example"));
            }
            for schema in [&body.json, &body.form].into_iter().flatten() {
                check(&mut self.problems, &place, schema);
            }
        }
        let tag = self.groups.last().map(|(title, _)| *title);
        let described = operation.into_value(&id, tag, method, &path, &mut self.bodies);
        for parameter in described["parameters"].as_array().into_iter().flatten() {
            if parameter["description"] == "" {
                self.problems.push(format!("{place}: {} has no description", parameter["name"]));
            }
        }
        self.paths.entry(shown_path(&path)).or_insert(json!({}))[method.as_str().to_ascii_lowercase()] =
            described;
        self.routes.push((method.clone(), path));
    }

    /// The document as JSON, or a line for each problem.
    pub fn finish(mut self) -> Result<Value, Vec<String>> {
        for (name, schema) in &self.schemas {
            check(&mut self.problems, name, schema);
            for (property, _) in properties_of(schema).filter(|(_, property)| lacks_example(property)) {
                self.problems.push(format!("{name}: {property} has no example"));
            }
        }
        for (name, schema) in ErrorResponseDoc::schemas() {
            self.schemas.insert(name.to_owned(), schema);
        }
        let types = match events::describe() {
            Ok((types, schemas)) => {
                self.schemas.extend(schemas);
                types
            }
            Err(problem) => {
                self.problems.push(problem);
                Vec::new()
            }
        };
        identifiers::place_all(&mut self.schemas);
        moments::place_all(&mut self.schemas);
        // The schemas of request bodies stay closed, because the service refuses unknown values.
        self.schemas.values_mut().for_each(sets::open);
        self.schemas.extend(self.bodies);
        for operation in self.paths.values_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
            for response in operation["responses"].as_object_mut().into_iter().flat_map(Map::values_mut) {
                let content = response.pointer_mut("/content/application~1json");
                // Responses with errors already have examples.
                if let Some(content) = content.filter(|content| content.get("examples").is_none()) {
                    sets::open(&mut content["schema"]);
                    // Make the examples last: they follow references to schemas that later operations add.
                    content["example"] = example::of(&content["schema"], &self.schemas);
                }
            }
        }
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let tags = self.groups.iter().map(|(title, text)| json!({ "name": title, "description": text }));
        let mut document = json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Interview Service API",
                "version": env!("CARGO_PKG_VERSION"),
                "description": prose::introduction(),
                "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
            },
            "servers": [{ "url": VERSION_PATH }],
            "tags": tags.collect::<Vec<_>>(),
            "paths": self.paths,
            "webhooks": webhooks::section(types),
            "components": {
                "schemas": self.schemas,
                "responses": prose::responses(),
                "parameters": prose::parameters(),
                "headers": prose::headers(),
                "securitySchemes": prose::security_schemes(),
            },
        });
        sets::remove_marks(&mut document);
        Ok(document)
    }
}

/// Reports properties without a description.
fn check(problems: &mut Vec<String>, place: &str, schema: &Value) {
    for (name, property) in properties_of(schema) {
        if property.get("description").is_none() && property.get("$ref").is_none() {
            problems.push(format!("{place}: {name} has no description"));
        }
    }
    if let Some(items) = schema.get("items") {
        check(problems, place, items);
    }
}

fn properties_of(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// Whether a property has URLs but no example, so that readers could not tell where the URLs lead.
fn lacks_example(property: &Value) -> bool {
    let shown = [property, &property["items"], &property["anyOf"][0], &property["items"]["anyOf"][0]];
    property.get("examples").is_none() && shown.iter().any(|schema| schema["format"] == "uri")
}

/// The identifier after which generated clients name a method: `listLabels` for `List labels`.
fn operation_id(summary: &str) -> String {
    let words = summary.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    let capitalised = words.enumerate().map(|(index, word)| {
        let (first, rest) = word.split_at(1);
        if index == 0 { word.to_ascii_lowercase() } else { format!("{}{rest}", first.to_ascii_uppercase()) }
    });
    capitalised.collect()
}

impl OperationDoc {
    /// Adds the headers and errors that all operations with this method have.
    fn follow(&mut self, method: &Method) {
        if !self.takes_any_parameter {
            self.fails(ErrorResponseDoc::Invalid);
        }
        match *method {
            // Lists have no `ETag`, because their rows change separately.
            Method::GET if self.answers.contains_key(&200) && !self.is_untagged => {
                self.parameters.push(parameter("IfNoneMatch"));
                self.answers.insert(304, json!({ "$ref": "#/components/responses/NotModified" }));
            }
            Method::GET => {}
            Method::POST => {
                self.parameters.push(parameter("IdempotencyKey"));
                if self.is_once {
                    self.failures.extend([ErrorResponseDoc::Conflict, ErrorResponseDoc::KeyReused]);
                }
            }
            _ => {
                self.parameters.push(parameter("IfMatch"));
                // Only a PUT can create the resource that its path names.
                if *method == Method::PUT && self.may_create {
                    self.parameters.push(parameter("IfAbsent"));
                }
                self.failures.extend([ErrorResponseDoc::Conflict, ErrorResponseDoc::PreconditionFailed]);
            }
        }
        // Also for operations without a body: they refuse a body with unknown fields, which is probably a mistake.
        if !matches!(*method, Method::GET | Method::DELETE) {
            self.failures.extend([ErrorResponseDoc::TooLarge, ErrorResponseDoc::UnsupportedMediaType]);
        }
        if *method != Method::GET && self.security != SecurityScheme::None {
            // Requests with a cookie from a page of another origin are refused.
            self.fails(ErrorResponseDoc::Forbidden);
        }
        self.failures.extend([
            ErrorResponseDoc::GatewayThrottled,
            ErrorResponseDoc::Internal,
            ErrorResponseDoc::Busy,
        ]);
    }

    fn into_value(
        self,
        id: &str,
        tag: Option<&str>,
        method: &Method,
        path: &str,
        bodies: &mut Map<String, Value>,
    ) -> Value {
        let allowed = self.action.map(tables::allowed);
        let texts = [self.text.trim().to_owned(), allowed.unwrap_or_default()];
        let texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        let mut responses = Map::new();
        for (status, mut answer) in self.answers {
            if answer.get("$ref").is_none() {
                add_headers(&mut answer, method, status == 200 && !self.is_untagged);
            }
            responses.insert(status.to_string(), answer);
        }
        // Inline one error, for readers who see only the operation.
        let in_place =
            [ErrorResponseDoc::NotFound, ErrorResponseDoc::Unauthenticated, ErrorResponseDoc::Internal];
        let in_place = in_place.into_iter().find(|failure| self.failures.contains(failure));
        for failure in self.failures {
            let reference = format!("#/components/responses/{}", failure.name());
            let is_in_place = in_place == Some(failure);
            let response = if is_in_place { failure.component() } else { json!({ "$ref": reference }) };
            responses.insert(failure.status().to_string(), response);
        }
        let mut described = json!({
            "operationId": id,
            "tags": [tag],
            "summary": self.summary,
            "description": texts.join("\n\n"),
            "security": security(self.security),
            "responses": responses,
        });
        let in_path = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        let mut parameters: Vec<Value> = in_path.map(|name| prose::path_parameter(name, path)).collect();
        parameters.extend(self.parameters);
        if !parameters.is_empty() {
            described["parameters"] = json!(parameters);
        }
        if let Some(body) = self.body {
            described["requestBody"] = body.component(id, bodies);
        }
        described
    }
}

fn parameter(name: &str) -> Value {
    json!({ "$ref": format!("#/components/parameters/{name}") })
}

/// The path of a route, as clients write it: without the final slash if it is a file.
fn shown_path(path: &str) -> &str {
    let whole = path.trim_end_matches('/');
    let is_file = whole.rsplit('/').next().is_some_and(|name| name.contains('.'));
    if is_file { whole } else { path }
}

fn security(security: SecurityScheme) -> Value {
    match security {
        SecurityScheme::None => json!([]),
        SecurityScheme::Optional => json!([{}, { "token": [] }, { "basic": [] }, { "session": [] }]),
        SecurityScheme::Staff => json!([{ "token": [] }, { "basic": [] }, { "session": [] }]),
        SecurityScheme::Guest => json!([{ "guestKey": [] }]),
        SecurityScheme::Anybody => {
            json!([{ "token": [] }, { "basic": [] }, { "session": [] }, { "activationKey": [] }])
        }
    }
}

fn add_headers(answer: &mut Value, method: &Method, is_tagged: bool) {
    let headers = [
        (true, "X-Request-Id", "RequestId"),
        (is_tagged, "ETag", "ETag"),
        (*method == Method::POST, "Idempotent-Replayed", "Replayed"),
    ];
    for (_, header, component) in headers.into_iter().filter(|(is_sent, ..)| *is_sent) {
        answer["headers"][header] = json!({ "$ref": format!("#/components/headers/{component}") });
    }
}
