//! The parts of the document that are common to all operations.

use serde_json::{Map, Value, json};

use super::failure::ErrorResponseDoc;
use super::tables;

pub(super) fn introduction() -> String {
    let (permissions, advances, moves) = (tables::permissions(), tables::advances(), tables::project_moves());
    format!(
        "{}\n\n## Permissions\n\nThe permissions of each kind of caller; `whoami` lists those of yours. A role applies to \
         its project only; the columns show roles of a `hiring-manager`. Only `admin` and `owner` see projects in which \
         they have no role.\n\n{permissions}\n\n## Candidate status\n\n`status/advance/` makes these moves:\n\n{advances}\n\
         `status/skip/` withdraws candidates who have not begun. When a deadline passes, `invited` and `confirmed` \
         become `expired`, and `interviewing` becomes `aborted`. The interview itself turns `interviewing` into \
         `interviewed` or `aborted`.\n\n## Project status\n\n{moves}",
        include_str!("introduction.md").trim(),
    )
}

pub(super) fn path_parameter(name: &str, path: &str) -> Value {
    let ulid = |text: &str, example: &str| {
        (
            format!("Identifier of the {text}."),
            // 26 characters of five bits are two bits more than a ULID has, so the first one is at most 7.
            json!({ "type": "string", "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$" }),
            json!(example),
        )
    };
    let (text, schema, example) = match name {
        "companyId" => (
            "Identifier of the company, as in logins.".to_owned(),
            json!({ "type": "string", "pattern": "^[a-z0-9-]{2,63}$" }),
            json!("acme"),
        ),
        "token" if path.contains("/video/") => (
            "Token of the session that the URL was shown to, followed by the format: `.mp4` or `.flv`."
                .to_owned(),
            json!({ "type": "string" }),
            json!("AQEBAQEB.mp4"),
        ),
        "token" => (
            "Token of the session that the URL was shown to.".to_owned(),
            json!({ "type": "string" }),
            json!("AQEBAQEB"),
        ),
        "file" => (
            "Name of a file of the page.".to_owned(),
            json!({ "type": "string", "pattern": "^[a-z-]+\\.(css|js)$" }),
            json!("reference.css"),
        ),
        "eventId" => (
            "Identifier of the event.".to_owned(),
            json!({ "type": "string", "pattern": "^evt_[0-9A-Za-z-]+_[0-9]+_[0-9]+$" }),
            json!("evt_01JQ8ZB4T1H6W5Y7X3Q9E2G0FA_7_1795293766"),
        ),
        "projectId" => ulid("project", "01JQ8Z6R7ZP4S3C0V9N2M5K8TD"),
        "candidateId" => ulid("candidate", "01JQ8ZB4T1H6W5Y7X3Q9E2G0FA"),
        "customerId" => ulid("customer", "01JQ8Z2M8F3A6D1S4J7H0K9PME"),
        "videoId" => ulid("video", "01JQ8ZD9C2N5B8V1X4Z7M0K3QW"),
        "questionId" => ulid("question", "01JQ8ZJX7F2M5T8W1B4E6G9KPQ"),
        "criterionId" => ulid("criterion", "01JQ8ZKA0H3N6V9Y2C5F8J1MPQ"),
        "vetoId" => ulid("veto", "01JQ8ZMD3K6Q9X2A5D8G1N4RPQ"),
        "labelId" => ulid("label", "01JQ8Z9X5G8T2R4W7Y0N3B6VCM"),
        "tokenId" => ulid("named token", "01JQ8ZFB3W6Q9E2R5T8Y1N4MVC"),
        "shareId" => ulid("share", "01JQ8ZEV1S4D7F0G3H6J9K2MPQ"),
        "roleId" => ulid("role", "01JQ8ZGW6M9K2J5H8F1D4S7APQ"),
        "webhookId" => ulid("webhook", "01JQ8ZNE6N9T2A5D8G1K4Q7VPQ"),
        "uploadId" => ulid("upload", "01JQ8ZHT4D7S0A3F6G9H2J5KPQ"),
        other => (String::new(), json!({ "type": "string" }), json!(other)),
    };
    json!({ "name": name, "in": "path", "required": true, "description": text, "schema": schema, "example": example })
}

/// Request headers. Interactive pages send the examples, so only a header whose example is harmless has one.
pub(super) fn parameters() -> Value {
    json!({
        "IdempotencyKey": {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "A unique name for the request, such as a new UUID. Requests with the same key take effect once within 24 hours.",
            "schema": { "type": "string", "pattern": "^[!-~]{1,255}$" },
        },
        "IfMatch": {
            "name": "If-Match",
            "in": "header",
            "description": "ETags. The change is made only if the resource has one of them; `*` matches any existing resource.",
            "schema": { "type": "string" },
            "example": "*",
        },
        "IfNoneMatch": {
            "name": "If-None-Match",
            "in": "header",
            "description": "ETags that the client has. If one is still current, the answer is 304 without a body.",
            "schema": { "type": "string" },
        },
        "WebhookId": {
            "name": "webhook-id",
            "in": "header",
            "required": true,
            "description": "Identifier of the event, the same in every attempt and every repetition.",
            "schema": { "type": "string" },
        },
        "WebhookTimestamp": {
            "name": "webhook-timestamp",
            "in": "header",
            "required": true,
            "description": "Time of the attempt, in seconds since 1970.",
            "schema": { "type": "string", "pattern": "^[0-9]+$" },
        },
        "WebhookSignature": {
            "name": "webhook-signature",
            "in": "header",
            "required": true,
            "description": "Signatures by the secret, and by the former one while that is valid, separated by a space: each `v1,` and the HMAC-SHA256 of identifier, timestamp and body in base64.",
            "schema": { "type": "string" },
        },
    })
}

pub(super) fn headers() -> Value {
    let header = |text: &str, schema: Value| json!({ "description": text, "schema": schema });
    let text = || json!({ "type": "string" });
    json!({
        "RequestId": header("Identifier of the request in the service's log.", text()),
        "ETag": header("Version of the resource, for If-None-Match and If-Match.", text()),
        "Location": header("URL of the resource or file.", json!({ "type": "string", "format": "uri" })),
        "RetryAfter": header("Seconds to wait before trying again.", json!({ "type": "integer", "minimum": 1 })),
        "Challenge": header("The authentication scheme.", text()),
        "Cookie": header("Sets or expires the session cookie `sessionid`.", text()),
        "Replayed": header("`true` if an earlier request with the same key took effect and this is its answer.", text()),
    })
}

pub(super) fn security_schemes() -> Value {
    json!({
        "token": {
            "type": "apiKey", "in": "header", "name": "Authorization",
            "description": "`Token <value>`, with the token of a login or a named token.",
        },
        "basic": {
            "type": "http", "scheme": "basic",
            "description": "User name `token`, and the value of a token as the password.",
        },
        "session": {
            "type": "apiKey", "in": "cookie", "name": "sessionid",
            "description": "The cookie of a login at `/api-session-auth/`. Requests that change something must come from a page of the service's own origin or an allowed one; clients other than browsers need only the cookie.",
        },
        "activationKey": {
            "type": "apiKey", "in": "header", "name": "Authorization",
            "description": "`ActivationKey <key>`, with the key of a candidate's invitation.",
        },
    })
}

pub(super) fn responses() -> Map<String, Value> {
    let failures = ErrorResponseDoc::ALL.into_iter().map(|failure| (failure.name(), failure.component()));
    let not_modified = json!({
        "description": "Unchanged since the client fetched it.",
        "headers": {
            "ETag": { "$ref": "#/components/headers/ETag" },
            "X-Request-Id": { "$ref": "#/components/headers/RequestId" },
        },
    });
    failures.chain([("NotModified".to_owned(), not_modified)]).collect()
}
