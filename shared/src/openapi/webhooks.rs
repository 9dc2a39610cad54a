//! The requests that the service itself makes: one for each type of event.

use schemars::JsonSchema as _;
use serde_json::{Map, Value, json};

use super::example;
use crate::domain::history::EventType;
use crate::http::example_uri;
use crate::http::schema::generator;

/// The title of the group of routes that manage webhooks.
const TAG: &str = "Webhooks";

/// What the service makes of all other answers.
const TAKEN: &str = "2xx accepts the event, whatever the body. After any other status, and without an answer within 15 seconds, the event \
                     is sent again later.";

/// The section `webhooks` of a document with these schemas.
pub(super) fn section(schemas: &Map<String, Value>) -> Map<String, Value> {
    // Not `inline`, which folds the descriptions of the choices into one text.
    let descriptions = EventType::json_schema(&mut generator()).to_value();
    let described = descriptions["oneOf"].as_array().into_iter().flatten();
    described
        .filter_map(|choice| {
            let name = choice["const"].as_str()?;
            let text = choice["description"].as_str()?;
            Some((name.to_owned(), json!({ "post": operation(name, text, schemas) })))
        })
        .collect()
}

fn operation(name: &str, text: &str, schemas: &Map<String, Value>) -> Value {
    let event = json!({ "$ref": "#/components/schemas/Event" });
    let mut content = json!({ "schema": event });
    if let Some(example) = example(name, &event, schemas) {
        content["example"] = example;
    }
    let parameters = ["WebhookId", "WebhookTimestamp", "WebhookSignature"];
    let parameters = parameters.map(|name| json!({ "$ref": format!("#/components/parameters/{name}") }));
    json!({
        "operationId": operation_id(name),
        "tags": [TAG],
        "summary": name,
        "description": format!("{text}\n\nThe body is the event as the feed shows it."),
        "security": [],
        "parameters": parameters,
        "requestBody": { "required": true, "content": { "application/json": content } },
        "responses": {
            "410": { "description": "Disables the webhook." },
            "default": { "description": TAKEN },
        },
    })
}

/// An example of an event, for types that the example of the schema fits or can be made to fit.
fn example(name: &str, event: &Value, schemas: &Map<String, Value>) -> Option<Value> {
    let mut example = example::of(event, schemas);
    match name {
        "candidate.interviewed" => {
            example["data"]["previous"] = json!({ "interviewdate": null, "status": "interviewing" });
            example["data"]["interviewdate"] = json!("2026-11-08T22:59:00Z");
            example["data"]["status"] = json!("interviewed");
        }
        "candidate.erased" => {
            example["types"] = json!([name]);
            example["id"] = json!("evt_01JQ8ZB4T1H6W5Y7X3Q9E2G0FA_9_1795293767");
            example["sequence"] = json!(1044);
            example["data"]["version"] = json!(9);
            example["data"]["changed"] = json!([]);
            example["data"]["reason"] = json!("deleted");
            example["data"]["erased"] =
                json!({ "items": 17, "evaluations": 2, "history_entries": 8, "files": 2, "bytes": 183_422 });
            example["by"] = json!({ "kind": "system", "resource_uri": null });
            example["on_behalf_by"] = Value::Null;
            example["request_id"] = Value::Null;
        }
        "webhook.ping" => {
            example["types"] = json!([name]);
            example["id"] = json!("evt_01JQ8ZNE6N9T2A5D8G1K4Q7VPQ_0_1795293766");
            example["sequence"] = Value::Null;
            example["data"]["resource_uri"] = json!(example_uri::WEBHOOK);
            example["data"]["project"] = Value::Null;
            // Only candidates, their interviews and projects have these.
            let foreign = ["external_id", "interview_suite_url", "project_external_id"];
            if let Some(data) = example["data"].as_object_mut() {
                data.retain(|name, _| !foreign.contains(&name.as_str()));
            }
            example["data"]["version"] = json!(0);
            example["data"]["changed"] = json!([]);
            example["by"] = json!({ "kind": "system", "resource_uri": null });
            example["on_behalf_by"] = Value::Null;
            example["request_id"] = Value::Null;
        }
        _ => return None,
    }
    Some(example)
}

/// The identifier of the request that delivers an event: `onCandidateInterviewed` for `candidate.interviewed`.
fn operation_id(name: &str) -> String {
    let words = name.split(['.', '_']).map(|word| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    });
    words.fold("on".to_owned(), |id, word| id + &word)
}
