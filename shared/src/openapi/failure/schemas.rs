//! The schemas of errors.

use serde_json::{Value, json};

use crate::domain::candidate::{GuestLinkEnd, KeyEnd};
use crate::openapi::failure::ErrorResponseDoc;

/// The pattern of all error codes.
const CODE: &str = "^[a-z0-9_]+$";

impl ErrorResponseDoc {
    pub(in crate::openapi) fn schemas() -> [(&'static str, Value); 9] {
        let codes = KeyEnd::ALL.map(|end| format!("`{}`", end.refusal().code)).join(", ");
        let guest_codes = GuestLinkEnd::ALL.map(|end| format!("`{}`", end.refusal().code)).join(", ");
        [
            (
                "EndedGuestLink",
                json!({
                    "type": "object",
                    "description": "Why the request was refused. Only to the key of a guest link, more than `detail` and `code`.",
                    "required": ["detail", "code"],
                    "properties": {
                        "detail": { "type": "string", "minLength": 1, "description": "A text for people." },
                        "code": {
                            "type": "string", "pattern": CODE,
                            "description": format!("A code for programs; for a guest link that shows nothing any more, or not now, {guest_codes}."),
                        },
                        "company": {
                            "type": "object",
                            "description": "The candidate's company.",
                            "required": ["name", "logo"],
                            "properties": {
                                "name": { "type": "string", "description": "The display name." },
                                "logo": {
                                    "type": ["string", "null"], "format": "uri",
                                    "description": "The URL of the logo, which needs no credentials; null for none.",
                                },
                            },
                        },
                        "contact": { "$ref": "#/components/schemas/Contact" },
                    },
                }),
            ),
            (
                "EndedKey",
                json!({
                    "type": "object",
                    "description": "Why the request was refused. Only to a key that a candidate was sent, and to the session or the right password of a candidate whose interview was cancelled, more than `detail` and `code`.",
                    "required": ["detail", "code"],
                    "properties": {
                        "detail": { "type": "string", "minLength": 1, "description": "A text for people." },
                        "code": {
                            "type": "string", "pattern": CODE,
                            "description": format!("A code for programs; for a candidate's key that opens nothing any more {codes}; for such a session or password `withdrawn`."),
                        },
                        "resource_uri": { "type": "string", "format": "uri", "description": "The URL of the candidate." },
                        "company": {
                            "type": "object",
                            "description": "The candidate's company.",
                            "required": ["resource_uri", "name", "logo"],
                            "properties": {
                                "resource_uri": { "type": "string", "format": "uri", "description": "The URL of the resource." },
                                "name": { "type": "string", "description": "The display name." },
                                "logo": {
                                    "type": ["string", "null"], "format": "uri",
                                    "description": "The URL of the logo, which needs no credentials; null for none.",
                                },
                            },
                        },
                        "contact": { "$ref": "#/components/schemas/Contact" },
                        "return_url": {
                            "type": "string",
                            "description": "The address at which the candidate can continue after the interview, as in `whoami/candidate/`, with `interview_completed`; empty for other codes, and for none.",
                        },
                        "interviewdate": {
                            "type": ["string", "null"], "format": "date-time",
                            "description": "When the interview was completed; null for other codes.",
                        },
                        "answers": {
                            "type": ["integer", "null"], "minimum": 0,
                            "description": "The number of questions that were answered, with `interview_completed`, and with `deadline_passed` if `ended_by_time` is true; null otherwise, and if the interview took place elsewhere.",
                        },
                        "ended_by_time": {
                            "type": "boolean",
                            "description": "With `deadline_passed`: whether the interview had begun and something was answered when its time ended. The company has these answers.",
                        },
                        "ended_at": {
                            "type": ["string", "null"], "format": "date-time",
                            "description": "When the time of the interview ended; null unless `ended_by_time` is true.",
                        },
                        "help_request": {
                            "description": "The latest request for help; null for none, and always for a key that is not the latest that the candidate was sent.",
                            "anyOf": [{ "$ref": "#/components/schemas/HelpRequest" }, { "type": "null" }],
                        },
                    },
                }),
            ),
            (
                "EventsExpired",
                json!({
                    "type": "object",
                    "description": "Events were deleted because of their age.",
                    "required": ["detail", "code", "first"],
                    "properties": {
                        "detail": { "type": "string", "minLength": 1, "description": "A text for people." },
                        "code": { "type": "string", "pattern": CODE, "description": "Always `events_expired`." },
                        "first": { "type": "integer", "description": "The number of the first event that is left." },
                    },
                }),
            ),
            (
                "ExternalIdTaken",
                json!({
                    "type": "object",
                    "description": "Why the request was refused.",
                    "required": ["detail", "code"],
                    "properties": {
                        "detail": { "type": "string", "minLength": 1, "description": "A text for people." },
                        "code": { "type": "string", "pattern": CODE, "description": "A code for programs. Codes never change." },
                        "resource_uri": {
                            "type": "string", "format": "uri",
                            "description": "The resource that has the `external_id`. Missing for other codes, and if the caller may not see it.",
                        },
                    },
                }),
            ),
            (
                "FieldErrors",
                json!({
                    "type": "object",
                    "description": "Messages by field. `non_field_errors` is about several fields, `[index].field` about an entry of a list.",
                    "additionalProperties": { "type": "array", "minItems": 1, "items": { "type": "string" } },
                }),
            ),
            (
                "Forbidden",
                json!({
                    "type": "object",
                    "description": "Why the request was refused.",
                    "required": ["detail", "code"],
                    "properties": {
                        "detail": { "type": "string", "minLength": 1, "description": "A text for people." },
                        "code": { "type": "string", "pattern": CODE, "description": "A code for programs. Codes never change." },
                        "permission": {
                            "type": "string",
                            "description": "With the code `permission_denied`: the permission that is missing, one of those that `/whoami/` lists. Missing if no permission would help.",
                        },
                        "sign_in_url": {
                            "type": "string", "format": "uri",
                            "description": "With the code `sign_in_required`: the address to open in a browser, where staff sign in by their company's provider. Missing for other codes.",
                        },
                    },
                }),
            ),
            (
                "GatewayProblem",
                json!({
                    "type": "object",
                    "description": "Why the gateway did not pass the request on.",
                    "required": ["message"],
                    "properties": {
                        "message": { "type": "string", "description": "A text for people." },
                    },
                }),
            ),
            (
                "OAuthError",
                json!({
                    "type": "object",
                    "description": "Why the exchange was refused.",
                    "required": ["detail", "code"],
                    "properties": {
                        "error": { "type": "string", "description": "The error by RFC 6749 or RFC 8693. Missing if a parameter of the query or a condition is refused." },
                        "error_description": { "type": "string", "minLength": 1, "description": "The text of `detail`. Missing with `error`." },
                        "detail": { "type": "string", "minLength": 1, "description": "A text for people." },
                        "code": { "type": "string", "pattern": CODE, "description": "A code for programs. Codes never change." },
                        "parameter": {
                            "type": "string",
                            "description": "The query parameter that is unknown or repeated. Missing for other codes.",
                        },
                    },
                }),
            ),
            (
                "Problem",
                json!({
                    "type": "object",
                    "description": "Why the request was refused.",
                    "required": ["detail"],
                    "properties": {
                        "detail": { "type": "string", "minLength": 1, "description": "A text for people." },
                        "code": { "type": "string", "pattern": CODE, "description": "A code for programs. Codes never change." },
                        "parameter": {
                            "type": "string",
                            "description": "The query parameter that is unknown or repeated. Missing for other codes.",
                        },
                        "company": {
                            "type": "string", "format": "uri",
                            "description": "With the code `key_ended`: the company that the key was made for. Missing for other codes.",
                        },
                        "kind": {
                            "type": "string",
                            "description": "With the code `key_ended`: whether the key was made for a `customer` or a `candidate`. Missing for other codes.",
                        },
                    },
                }),
            ),
        ]
    }
}
