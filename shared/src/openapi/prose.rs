//! The parts of the document that are common to all operations.

use serde_json::{Map, Value, json};

use super::failure::ErrorResponseDoc;
use super::tables;
use crate::domain::id::Id;
use crate::domain::language::Language;
use crate::domain::privacy::legal::LegalKind;
use crate::http::example_uri;
use crate::http::wire::IdentifierForm as _;

pub(super) fn introduction() -> String {
    let permissions = tables::permissions();
    let advances = tables::advances();
    let moves = tables::project_moves();
    format!(
        "{}\n\n## Permissions\n\nThe permissions of each kind of caller; `whoami` lists those of yours. A role applies to \
         its project only; the columns show roles of a `hiring-manager`. Only `admin` and `owner` see projects in which \
         they have no role.\n\n{permissions}\n\n## Candidate status\n\n`status/advance/` makes these moves:\n\n{advances}\n\
         `status/skip/` withdraws candidates who have not begun, and `cancel/` all who have not completed the interview. When a deadline passes, `invited` and `confirmed` \
         become `expired`, and `interviewing` becomes `aborted`. The interview itself turns `interviewing` into \
         `interviewed` or `aborted`. Candidates who are `invited` or `confirmed` are reminded by mail on the `reminder_days` \
         of the project, unless another mail has left within a day before. `interview/reopen/` turns `interviewed` back into \
         `interviewing` while nobody has evaluated an interview that this service conducts.\n\n## Project status\n\n{moves}",
        include_str!("introduction.md").trim(),
    )
}

/// The path parameters that are identifiers: name, resource, and a URL that ends with an example.
const IDENTIFIERS: [(&str, &str, &str); 18] = [
    ("candidateId", "candidate", example_uri::CANDIDATE),
    ("criterionId", "criterion", example_uri::CRITERION),
    ("customerId", "customer", example_uri::CUSTOMER),
    ("exportId", "export", example_uri::EXPORT),
    ("guestLinkId", "guest link", example_uri::GUEST_LINK),
    ("labelId", "label", example_uri::LABEL),
    ("projectId", "project", example_uri::PROJECT),
    ("logoId", "logo", example_uri::LOGO),
    ("questionId", "question", example_uri::QUESTION),
    ("roleId", "role", example_uri::ROLE),
    ("shareId", "share", example_uri::SHARE),
    ("tokenId", "named token", example_uri::TOKEN),
    ("uploadId", "upload", example_uri::UPLOAD),
    ("vetoId", "veto", example_uri::VETO),
    ("videoId", "video", example_uri::VIDEO),
    ("webhookId", "webhook", example_uri::WEBHOOK),
    ("documentId", "legal text", example_uri::LEGAL_TEXT),
    ("eventId", "event", EVENT),
];

const EVENT: &str = "evt_01JQ8ZB4T1H6W5Y7X3Q9E2G0FA_7_1795293766";

/// The description of a path parameter. If it is not listed here, its description is empty, which the document reports as a problem.
pub(super) fn path_parameter(name: &str, path: &str) -> Value {
    let (text, pattern, example) = match name {
        "companyId" => ("Identifier of the company, as in logins.", Some("^[a-z0-9-]{2,63}$"), "acme"),
        "token" if path.contains("/takes/") && path.contains("/video/") => {
            ("Token of the session that the URL was shown to, followed by `.mp4`.", None, "AQEBAQEB.mp4")
        }
        "token" if path.contains("/video/") => (
            "Token of the session that the URL was shown to, followed by the format: `.mp4` or `.flv`.",
            None,
            "AQEBAQEB.mp4",
        ),
        "token" => ("Token of the session that the URL was shown to.", None, "AQEBAQEB"),
        "file" => ("Name of a file of the page or of the guide.", None, "reference.css"),
        "language" => ("Language of the captions.", Some("^(en|de|fr|es|it|nl)$"), Language::En.as_str()),
        "take" => ("Number of the take.", Some("^[1-9][0-9]{0,8}$"), "2"),
        "kind" => ("Kind of legal text.", Some("^(privacy_policy|consent)$"), LegalKind::Consent.as_str()),
        other => return identifier(other),
    };
    parameter(name, text, pattern, example)
}

fn identifier(name: &str) -> Value {
    let Some((_, resource, uri)) = IDENTIFIERS.iter().find(|(known, ..)| *known == name) else {
        return parameter(name, "", None, name);
    };
    let pattern = match name {
        "eventId" => "^evt_[0-9A-Za-z-]+_[0-9]+_[0-9]+$",
        "documentId" => "^(privacy_policy|consent)-[1-9][0-9]{0,9}$",
        _ => Id::<()>::PATTERN,
    };
    let example = uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    parameter(name, &format!("Identifier of the {resource}."), Some(pattern), example)
}

fn parameter(name: &str, text: &str, pattern: Option<&str>, example: &str) -> Value {
    let mut schema = json!({ "type": "string" });
    if let Some(pattern) = pattern {
        schema["pattern"] = json!(pattern);
    }
    json!({ "name": name, "in": "path", "required": true, "description": text, "schema": schema, "example": example })
}

/// Request headers. Only harmless ones have an example, because interactive pages send the examples.
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
        "IfAbsent": {
            "name": "If-None-Match",
            "in": "header",
            "description": "`*`: the request creates the resource, and is refused with 412 if it exists.",
            "schema": { "type": "string", "pattern": r"^\*$" },
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
    json!({
        "RequestId": header("Identifier of the request in the service's log.", json!({ "type": "string" })),
        "ETag": header("Version of the resource, for If-None-Match and If-Match.", json!({ "type": "string" })),
        "Location": header("URL of the resource or file.", json!({ "type": "string", "format": "uri" })),
        "Link": header("URLs with their relations to this one (RFC 8288).", json!({ "type": "string" })),
        "RetryAfter": header("Seconds to wait before trying again.", json!({ "type": "integer", "minimum": 1 })),
        "Challenge": header("The authentication scheme.", json!({ "type": "string" })),
        "Cookie": header("Sets or expires the session cookie `sessionid`.", json!({ "type": "string" })),
        "Replayed": header("`true` if an earlier request with the same key took effect and this is its answer.", json!({ "type": "string" })),
    })
}

fn header(text: &str, schema: Value) -> Value {
    json!({ "description": text, "schema": schema })
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
        "guestKey": {
            "type": "apiKey", "in": "header", "name": "Authorization",
            "description": "`GuestKey <key>`, with the key at the end of a guest link's `url`.",
        },
    })
}

pub(super) fn responses() -> Map<String, Value> {
    // Operations with 404 contain that response inline.
    let failures = ErrorResponseDoc::ALL.into_iter().filter(|failure| *failure != ErrorResponseDoc::NotFound);
    let failures = failures.map(|failure| (failure.name(), failure.component()));
    let not_modified = json!({
        "description": "Unchanged since the client fetched it.",
        "headers": {
            "ETag": { "$ref": "#/components/headers/ETag" },
            "X-Request-Id": { "$ref": "#/components/headers/RequestId" },
        },
    });
    failures.chain([("NotModified".to_owned(), not_modified)]).collect()
}
