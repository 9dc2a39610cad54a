//! Describes the requests that the service sends to webhooks: one for each type of event.

use serde_json::{Map, Value, json};

use super::events::{EventTypeDoc, operation_id};

/// The title of the group of routes that manage webhooks.
const TAG: &str = "Webhooks";

/// The description of all responses other than 410.
const TAKEN: &str = "2xx accepts the event, whatever the body. After any other status, and without an answer within 15 seconds, the event \
                     is sent again later.";

/// The document's section `webhooks`.
pub(super) fn section(types: Vec<EventTypeDoc>) -> Map<String, Value> {
    types.into_iter().map(|of| (of.name.to_owned(), json!({ "post": operation(of) }))).collect()
}

fn operation(of: EventTypeDoc) -> Value {
    let EventTypeDoc { name, text, schema, example } = of;
    let content = json!({
        "schema": { "$ref": format!("#/components/schemas/{schema}") },
        "example": example,
    });
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
