//! Puts the document together, and tells what is missing in it.

use axum::http::Method;
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::operation::{Operation, Security};
use super::{example, prose, tables};
use crate::config::VERSION_PATH;
use crate::http::Routes;
use crate::http::routes::Route;

/// A group of routes, and what is said of them.
pub struct Group {
    /// The name of its function.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// What its routes are about.
    pub text: &'static str,
    /// Its routes.
    pub routes: Routes,
    /// One for each.
    pub operations: Vec<Operation>,
}

/// The document of all groups.
///
/// # Errors
/// What is missing in it, or there without need, a line each.
pub fn document(groups: Vec<Group>) -> Result<Value, Vec<String>> {
    let mut draft = Draft::default();
    let mut tags = Vec::new();
    for Group { title, text, routes, mut operations, .. } in groups {
        tags.push(json!({ "name": title, "description": text }));
        for route in routes.list() {
            match operations.iter().position(|operation| operation.handler == route.handler) {
                Some(index) => draft.add(route, operations.swap_remove(index), title),
                None => draft.problems.push(format!("{} {} is not described", route.method, route.path)),
            }
        }
        let spare = operations.iter().map(|operation| format!("{} answers no route", operation.handler));
        draft.problems.extend(spare);
    }
    draft.finish(&tags)
}

#[derive(Default)]
struct Draft {
    paths: Map<String, Value>,
    schemas: Map<String, Value>,
    names: Vec<String>,
    problems: Vec<String>,
}

impl Draft {
    fn add(&mut self, route: &Route, mut operation: Operation, tag: &str) {
        let Route { method, path, .. } = route;
        let place = format!("{method} {path}");
        let name = operation_id(operation.summary);
        if self.names.contains(&name) {
            self.problems.push(format!("{place} is called {name}, as another is"));
        }
        if !operation.answers.keys().any(|status| (200..400).contains(status)) {
            self.problems.push(format!("{place} has no answer"));
        }
        let mut parameters = path_parameters(path);
        parameters.append(&mut operation.parameters);
        match *method {
            Method::GET if operation.answers.contains_key(&200) && !operation.is_list => {
                parameters.push(parameter("IfNoneMatch"));
                operation.answers.insert(304, json!({ "$ref": "#/components/responses/NotModified" }));
            }
            Method::GET => {}
            Method::POST => {
                parameters.push(parameter("IdempotencyKey"));
                operation.fails(Failure::Invalid);
                if operation.is_answered_once {
                    operation.fails(Failure::Conflict);
                    operation.fails(Failure::KeyReused);
                }
            }
            _ => {
                parameters.push(parameter("IfMatch"));
                for failure in [Failure::Invalid, Failure::Conflict, Failure::PreconditionFailed] {
                    operation.fails(failure);
                }
            }
        }
        if *method != Method::GET && operation.security != Security::None {
            // By cookie, from a page of another origin.
            operation.fails(Failure::Forbidden);
        }
        operation.fails(Failure::Internal);
        operation.fails(Failure::Busy);
        let definitions = operation.generator.take_definitions(true);
        for (name, schema) in definitions {
            let known = self.schemas.insert(name.clone(), schema.clone());
            if known.is_some_and(|known| known != schema) {
                self.problems.push(format!("two schemas are called {name}"));
            }
        }
        let mut described = json!({
            "operationId": name,
            "tags": [tag],
            "summary": operation.summary,
            "description": text(&operation),
            "security": security(operation.security),
        });
        if !parameters.is_empty() {
            described["parameters"] = json!(parameters);
        }
        match (operation.takes, operation.body.take()) {
            (None, None) => {}
            (Some(_), Some(body)) if !body.examples.is_empty() => {
                self.check(&place, &body.json);
                described["requestBody"] = body.component();
            }
            (Some(_), _) => {
                self.problems.push(format!("{place} has a body that is not described by an example"))
            }
            (None, Some(_)) => self.problems.push(format!("{place} takes no body")),
        }
        let mut responses = Map::new();
        for (status, mut answer) in std::mem::take(&mut operation.answers) {
            if answer.get("$ref").is_none() {
                add_headers(&mut answer, status, method, &operation);
            }
            responses.insert(status.to_string(), answer);
        }
        for failure in operation.failures {
            let reference = format!("#/components/responses/{}", failure.name());
            responses.insert(failure.status().to_string(), json!({ "$ref": reference }));
        }
        described["responses"] = responses.into();
        self.paths.entry(*path).or_insert(json!({}))[method.as_str().to_ascii_lowercase()] = described;
        self.names.push(name);
    }

    /// Notes the properties that nothing is said of.
    fn check(&mut self, place: &str, schema: &Value) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            if property.get("description").is_none() && property.get("$ref").is_none() {
                self.problems.push(format!("{place}: nothing is said of {name}"));
            }
        }
        if let Some(items) = schema.get("items") {
            self.check(place, items);
        }
    }

    fn finish(mut self, tags: &[Value]) -> Result<Value, Vec<String>> {
        for (name, schema) in self.schemas.clone() {
            self.check(&name, &schema);
        }
        for (name, schema) in Failure::schemas() {
            self.schemas.insert(name.to_owned(), schema);
        }
        for operation in self.paths.values_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
            for response in operation["responses"].as_object_mut().into_iter().flat_map(Map::values_mut) {
                if let Some(content) = response.pointer_mut("/content/application~1json") {
                    content["example"] = example::of(&content["schema"], &self.schemas, "", "");
                }
            }
        }
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let responses = Failure::ALL.into_iter().map(|failure| (failure.name(), failure.component()));
        let mut responses: Map<String, Value> = responses.collect();
        responses.insert(
            "NotModified".to_owned(),
            json!({
                "description": "It is still as the client has it.",
                "headers": {
                    "ETag": { "$ref": "#/components/headers/ETag" },
                    "X-Request-Id": { "$ref": "#/components/headers/RequestId" },
                },
            }),
        );
        Ok(json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Interview Service API",
                "version": env!("CARGO_PKG_VERSION"),
                "description": prose::introduction(),
                "license": { "name": "Apache-2.0 OR MIT", "identifier": "Apache-2.0 OR MIT" },
            },
            "servers": [{ "url": VERSION_PATH }],
            "tags": tags,
            "paths": self.paths,
            "components": {
                "schemas": self.schemas,
                "responses": responses,
                "parameters": prose::parameters(),
                "headers": prose::headers(),
                "securitySchemes": prose::security_schemes(),
            },
        }))
    }
}

/// The name by which clients call an operation: `listLabels` for `List labels`.
fn operation_id(summary: &str) -> String {
    let words = summary.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    let capitalised = words.enumerate().map(|(index, word)| {
        let (first, rest) = word.split_at(1);
        if index == 0 { word.to_ascii_lowercase() } else { format!("{}{rest}", first.to_ascii_uppercase()) }
    });
    capitalised.collect()
}

fn text(operation: &Operation) -> String {
    let allowed = operation.action.map(tables::allowed);
    let parts = [operation.text.trim().to_owned(), allowed.unwrap_or_default()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn parameter(name: &str) -> Value {
    json!({ "$ref": format!("#/components/parameters/{name}") })
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    names.map(|name| prose::path_parameter(name, path)).collect()
}

fn security(security: Security) -> Value {
    match security {
        Security::None => json!([]),
        Security::Optional => json!([{}, { "token": [] }, { "basic": [] }, { "session": [] }]),
        Security::Staff => json!([{ "token": [] }, { "basic": [] }, { "session": [] }]),
        Security::Anybody => {
            json!([{ "token": [] }, { "basic": [] }, { "session": [] }, { "activationKey": [] }])
        }
    }
}

fn add_headers(answer: &mut Value, status: u16, method: &Method, operation: &Operation) {
    let mut add = |header: &str, component: &str| {
        answer["headers"][header] = json!({ "$ref": format!("#/components/headers/{component}") });
    };
    add("X-Request-Id", "RequestId");
    if status == 200 && !operation.is_list {
        add("ETag", "ETag");
    }
    if *method == Method::POST {
        add("Idempotent-Replayed", "Replayed");
    }
}
