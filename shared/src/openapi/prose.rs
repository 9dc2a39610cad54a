//! What the document says of all routes at once.

use serde_json::{Value, json};

use super::tables;

/// The document's introduction, in Markdown.
pub(super) fn introduction() -> String {
    let (permissions, advances, moves) = (tables::permissions(), tables::advances(), tables::project_moves());
    format!(
        "{}\n\n## Permissions\n\nWhat each kind of caller may do; `whoami` lists it. A role counts in its project \
         only, and is shown here for a `hiring-manager`; nobody sees a project without a role in it, `admin` and \
         `owner` excepted.\n\n{permissions}\n\n## The life of a candidate\n\nMoves by `status/advance/`:\n\n{advances}\n\
         Besides, `status/skip/` takes out who has not begun; a deadline that passes makes `invited` and `confirmed` \
         `expired`, and `interviewing` `aborted`; the interview itself makes `interviewing` `interviewed` or \
         `aborted`.\n\n## The life of a project\n\n{moves}",
        include_str!("introduction.md").trim(),
    )
}

/// A parameter in a path.
pub(super) fn path_parameter(name: &str, path: &str) -> Value {
    let ulid = |text: &str, example: &str| {
        (
            format!("Names {text}."),
            json!({ "type": "string", "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$" }),
            json!(example),
        )
    };
    let (text, schema, example) = match name {
        "companyId" => (
            "Names the company, as logins do.".to_owned(),
            json!({ "type": "string", "pattern": "^[a-z0-9-]{2,63}$" }),
            json!("acme"),
        ),
        "token" if path.contains("/video/") => (
            "Stands for who was shown the address, with the format's name: `.mp4` or `.flv`.".to_owned(),
            json!({ "type": "string" }),
            json!("AQEBAQEB.mp4"),
        ),
        "token" => (
            "Stands for who was shown the address.".to_owned(),
            json!({ "type": "string" }),
            json!("AQEBAQEB"),
        ),
        "file" => (
            "Names a file of the page.".to_owned(),
            json!({ "type": "string", "pattern": "^[a-z-]+\\.(css|js)$" }),
            json!("reference.css"),
        ),
        "projectId" => ulid("the project", "01JQ8Z6R7ZP4S3C0V9N2M5K8TD"),
        "candidateId" => ulid("the candidate", "01JQ8ZB4T1H6W5Y7X3Q9E2G0FA"),
        "customerId" => ulid("the customer", "01JQ8Z2M8F3A6D1S4J7H0K9PME"),
        "videoId" => ulid("the video", "01JQ8ZD9C2N5B8V1X4Z7M0K3QW"),
        "labelId" => ulid("the label", "01JQ8Z9X5G8T2R4W7Y0N3B6VCM"),
        "tokenId" => ulid("the named token", "01JQ8ZFB3W6Q9E2R5T8Y1N4MVC"),
        "shareId" => ulid("the share", "01JQ8ZEV1S4D7F0G3H6J9K2MPQ"),
        "roleId" => ulid("the role", "01JQ8ZGW6M9K2J5H8F1D4S7APQ"),
        "uploadId" => ulid("the upload", "01JQ8ZHT4D7S0A3F6G9H2J5KPQ"),
        other => (String::new(), json!({ "type": "string" }), json!(other)),
    };
    json!({ "name": name, "in": "path", "required": true, "description": text, "schema": schema, "example": example })
}

/// Headers that requests may have. Pages on which requests can be tried send the examples, so only one has any that does no
/// harm to whoever does not think of it.
pub(super) fn parameters() -> Value {
    json!({
        "IdempotencyKey": {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "A name for the request, such as a new UUID, by which it is done once however often it is sent within 24 hours.",
            "schema": { "type": "string", "pattern": "^[!-~]{1,255}$" },
        },
        "IfMatch": {
            "name": "If-Match",
            "in": "header",
            "description": "Tags; the change is made only to what has one of them. `*` means anything that is there.",
            "schema": { "type": "string" },
            "example": "*",
        },
        "IfNoneMatch": {
            "name": "If-None-Match",
            "in": "header",
            "description": "Tags of what the client has: if that is still so, the answer is 304 without a body.",
            "schema": { "type": "string" },
        },
    })
}

/// Headers that answers may have.
pub(super) fn headers() -> Value {
    let header = |text: &str, schema: Value| json!({ "description": text, "schema": schema });
    let text = || json!({ "type": "string" });
    json!({
        "RequestId": header("Names the request in the service's log.", text()),
        "ETag": header("What is shown, in this version: for If-None-Match and If-Match.", text()),
        "Location": header("Where it is.", json!({ "type": "string", "format": "uri" })),
        "RetryAfter": header("After how many seconds to come again.", json!({ "type": "integer", "minimum": 1 })),
        "Challenge": header("How to authenticate.", text()),
        "Cookie": header("The session's cookie `sessionid`, or its end.", text()),
        "Replayed": header("`true` when the request was done before, and this is its answer again.", text()),
    })
}

/// The ways to authenticate.
pub(super) fn security_schemes() -> Value {
    json!({
        "token": {
            "type": "apiKey", "in": "header", "name": "Authorization",
            "description": "`Token <value>`, of a login or a named token.",
        },
        "basic": {
            "type": "http", "scheme": "basic",
            "description": "The user name `token`, and a token's value as the password.",
        },
        "session": {
            "type": "apiKey", "in": "cookie", "name": "sessionid",
            "description": "The cookie of a login at `/api-session-auth/`. A web page that changes something by it must be of the service's own origin or of one that it is configured for; clients without a browser need nothing more.",
        },
        "activationKey": {
            "type": "apiKey", "in": "header", "name": "Authorization",
            "description": "`ActivationKey <key>`, of a candidate's invitation.",
        },
    })
}
