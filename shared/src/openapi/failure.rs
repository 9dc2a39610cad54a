//! Errors, as components of the document.

use axum::http::StatusCode;
use chrono::TimeDelta;
use serde_json::{Map, Value, json};

use crate::auth::credential::{MISSING, REJECTED};
use crate::domain::Refusal;
use crate::domain::candidate::{GuestLinkEnd, KeyEnd};
use crate::domain::policy::Action;
use crate::error::{AcceptedBody, Error, FieldErrors};
use crate::http::example_uri;
use crate::http::exchange::condition::IF_MATCH_NOT_SUPPORTED;

/// A kind of error, one for each status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ErrorResponseDoc {
    Invalid,
    Unauthenticated,
    EndedKey,
    EndedGuestLink,
    Forbidden,
    NotFound,
    Conflict,
    ExternalIdTaken,
    Gone,
    PreconditionFailed,
    TooLarge,
    UnsupportedMediaType,
    KeyReused,
    GatewayThrottled,
    /// Follows `GatewayThrottled`, whose place it takes in an operation that has both.
    Throttled,
    Internal,
    Busy,
}

impl ErrorResponseDoc {
    pub(super) const ALL: [Self; 17] = [
        Self::Invalid,
        Self::Unauthenticated,
        Self::EndedKey,
        Self::EndedGuestLink,
        Self::Forbidden,
        Self::NotFound,
        Self::Conflict,
        Self::ExternalIdTaken,
        Self::Gone,
        Self::PreconditionFailed,
        Self::TooLarge,
        Self::UnsupportedMediaType,
        Self::KeyReused,
        Self::GatewayThrottled,
        Self::Throttled,
        Self::Internal,
        Self::Busy,
    ];

    pub(super) fn name(self) -> String {
        format!("{self:?}")
    }

    pub(super) fn status(self) -> u16 {
        // From the errors themselves, so that the document cannot differ from what is sent.
        self.samples().first().map_or(StatusCode::TOO_MANY_REQUESTS, |(_, error)| error.status()).as_u16()
    }

    fn text(self) -> &'static str {
        match self {
            Self::Invalid => "Correct the request: messages by field, or a `detail` with a `code`.",
            Self::Unauthenticated => "The credential is missing, invalid or expired.",
            Self::EndedKey => {
                "The credential is missing, invalid or expired; or it is the key of a candidate that opens nothing any more, and `code` says why."
            }
            Self::EndedGuestLink => {
                "The key is missing or unknown; or it is that of a link that shows nothing any more, or not now, and `code` says why."
            }
            Self::Forbidden => "The caller lacks the permission.",
            Self::NotFound => "The resource does not exist, or the caller may not see it.",
            Self::Conflict => {
                "Other requests kept changing the resource, or the same request is still running. Try again."
            }
            Self::ExternalIdTaken => {
                "With the code `external_id_taken`: another resource has this `external_id`; nothing was written. Otherwise, other requests kept changing the resource, or the same request is still running: try again."
            }
            Self::Gone => {
                "The events have been deleted because of their age. `first` is the number of the first one that is left."
            }
            Self::PreconditionFailed => "The resource does not match `If-Match`.",
            Self::TooLarge => {
                "The body is too large. Announce large files by POST to `…/uploads/`, or videos to `…/videos/`, and upload them to the URL in the answer. If the gateway answers, there is a `message` instead of a `detail`."
            }
            Self::UnsupportedMediaType => {
                "The endpoint does not accept this media type or `Content-Encoding`."
            }
            Self::KeyReused => "The `Idempotency-Key` was used for a different request.",
            Self::GatewayThrottled => {
                "The gateway passes on no more requests a second of all clients together. Without `Retry-After`: pause for a second, then for twice as long each time."
            }
            Self::Throttled => {
                "Too many attempts, or with the code `busy` too many imports and actions on many candidates at once: wait as `Retry-After` says. Or, with a `message` and without `Retry-After`, the gateway passes on no more requests a second of all clients together: pause for a second, then for twice as long each time."
            }
            Self::Internal => "The service failed. Report the `X-Request-Id` to its operators.",
            Self::Busy => {
                "The service is busy. Try again. If the gateway answers, there is a `message` instead of a `detail`."
            }
        }
    }

    fn samples(self) -> Vec<(&'static str, Error)> {
        let refusal = Refusal { code: "code", detail: "Why the request was refused." };
        match self {
            Self::Invalid => vec![
                ("fields", Error::field("email", "Enter a valid email address.")),
                (
                    "names",
                    Error::field("recieve_mails", "There is no such field. Did you mean receive_mails?"),
                ),
                ("together", Error::field(FieldErrors::ACROSS, "How these fields contradict each other.")),
                ("refusal", Error::Refused(refusal)),
                ("unknown_parameter", unknown_parameter()),
                ("repeated_parameter", Error::RepeatedParameter("page".to_owned())),
                ("key_ended", ended_mailed_key()),
                ("if_match", Error::Refused(IF_MATCH_NOT_SUPPORTED)),
                ("syntax", Error::MalformedJson("EOF while parsing a value at line 1 column 0".to_owned())),
            ],
            Self::Unauthenticated => {
                vec![("missing", Error::Unauthenticated(MISSING))]
            }
            Self::EndedKey => vec![
                ("missing", Error::Unauthenticated(MISSING)),
                ("registered", ended_key(KeyEnd::Registered, json!(null), json!(null))),
                ("completed", ended_key(KeyEnd::Completed, json!("2026-11-08T22:59:00Z"), json!(5))),
                ("ended_by_time", ended_by_time()),
            ],
            Self::EndedGuestLink => {
                let ended = GuestLinkEnd::ALL.map(|end| (end.refusal().code, ended_guest_link(end)));
                let unknown = ("unknown", Error::Unauthenticated(REJECTED));
                [unknown].into_iter().chain(ended).collect()
            }
            Self::Forbidden => {
                let denied = |is_token| Error::MissingPermission { permission: Action::ReadEvents, is_token };
                vec![("denied", denied(false)), ("token", denied(true))]
            }
            Self::NotFound => vec![("unknown", Error::NotFound)],
            Self::Conflict => vec![
                ("changed", Error::Changed),
                ("in_progress", Error::InProgress(2)),
                ("not_started", Error::NotStarted),
            ],
            Self::ExternalIdTaken => vec![
                ("taken", external_id_taken(Some(example_uri::CANDIDATE.to_owned()))),
                ("taken_by_hidden", external_id_taken(None)),
                ("changed", Error::Changed),
                ("in_progress", Error::InProgress(2)),
                ("not_started", Error::NotStarted),
            ],
            Self::Gone => vec![("expired", Error::Expired(57))],
            Self::PreconditionFailed => vec![("changed", Error::PreconditionFailed)],
            Self::TooLarge => vec![("too_large", Error::TooLarge), ("files_too_large", Error::FilesTooLarge)],
            Self::UnsupportedMediaType => {
                vec![
                    ("type", Error::UnsupportedMediaType(AcceptedBody::Json)),
                    ("file", Error::UnsupportedMediaType(AcceptedBody::Form)),
                    ("coding", Error::UnsupportedCoding),
                ]
            }
            Self::KeyReused => vec![("reused", Error::KeyReused)],
            // Not by this service: the gateway has no errors of ours.
            Self::GatewayThrottled => vec![],
            Self::Throttled => {
                vec![("throttled", Error::Throttled(TimeDelta::minutes(15))), ("busy", Error::CompanyBusy(5))]
            }
            Self::Internal => vec![("internal", Error::internal("a sample"))],
            Self::Busy => vec![
                ("busy", Error::Busy("a sample".into())),
                ("unreadable", Error::Unreadable("a sample".into())),
            ],
        }
    }

    /// The OpenAPI response, with the errors' own texts as examples.
    pub(super) fn component(self) -> Value {
        let samples = self.samples();
        let of_gateway = matches!(self, Self::GatewayThrottled | Self::Throttled)
            .then(|| ("gateway", json!({ "value": { "message": "Too Many Requests" } })));
        let examples = samples.iter().map(|(name, error)| (*name, json!({ "value": error.body() })));
        let examples = examples.chain(of_gateway);
        let schema = match self {
            Self::Invalid => json!({ "anyOf": [
                { "$ref": "#/components/schemas/Problem" },
                { "$ref": "#/components/schemas/FieldErrors" },
            ] }),
            Self::GatewayThrottled => json!({ "$ref": "#/components/schemas/GatewayProblem" }),
            Self::Throttled => json!({ "anyOf": [
                { "$ref": "#/components/schemas/Problem" },
                { "$ref": "#/components/schemas/GatewayProblem" },
            ] }),
            Self::EndedKey => json!({ "$ref": "#/components/schemas/EndedKey" }),
            Self::EndedGuestLink => json!({ "$ref": "#/components/schemas/EndedGuestLink" }),
            Self::ExternalIdTaken => json!({ "$ref": "#/components/schemas/ExternalIdTaken" }),
            Self::Forbidden => json!({ "$ref": "#/components/schemas/Forbidden" }),
            Self::Gone => json!({ "$ref": "#/components/schemas/EventsExpired" }),
            _ => json!({ "$ref": "#/components/schemas/Problem" }),
        };
        let mut headers = match self {
            Self::GatewayThrottled => json!({}),
            _ => json!({ "X-Request-Id": { "$ref": "#/components/headers/RequestId" } }),
        };
        match self {
            Self::Unauthenticated | Self::EndedKey | Self::EndedGuestLink => {
                headers["WWW-Authenticate"] = json!({ "$ref": "#/components/headers/Challenge" });
            }
            Self::Throttled | Self::Busy | Self::Conflict | Self::ExternalIdTaken => {
                headers["Retry-After"] = json!({ "$ref": "#/components/headers/RetryAfter" });
            }
            _ => {}
        }
        json!({
            "description": self.text(),
            "headers": headers,
            "content": { "application/json": {
                "schema": schema,
                "examples": examples.map(|(name, example)| (name.to_owned(), example)).collect::<Map<String, Value>>(),
            } },
        })
    }

    pub(super) fn schemas() -> [(&'static str, Value); 8] {
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
                        "detail": { "type": "string", "description": "A text for people." },
                        "code": {
                            "type": "string",
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
                    "description": "Why the request was refused. Only to a key that a candidate was sent, more than `detail` and `code`.",
                    "required": ["detail", "code"],
                    "properties": {
                        "detail": { "type": "string", "description": "A text for people." },
                        "code": {
                            "type": "string",
                            "description": format!("A code for programs; for a candidate's key that opens nothing any more {codes}."),
                        },
                        "resource_uri": { "type": "string", "format": "uri", "description": "The candidate." },
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
                            "description": "Where the candidate can continue after the interview, as in `whoami/candidate/`, with `interview_completed`; empty for other codes, and for none.",
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
                        "detail": { "type": "string", "description": "A text for people." },
                        "code": { "type": "string", "description": "Always `events_expired`." },
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
                        "detail": { "type": "string", "description": "A text for people." },
                        "code": { "type": "string", "description": "A code for programs. Codes never change." },
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
                        "detail": { "type": "string", "description": "A text for people." },
                        "code": { "type": "string", "description": "A code for programs. Codes never change." },
                        "permission": {
                            "type": "string",
                            "description": "With the code `permission_denied`: the permission that is missing, one of those that `/whoami/` lists. Missing if no permission would help.",
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
                "Problem",
                json!({
                    "type": "object",
                    "description": "Why the request was refused.",
                    "required": ["detail"],
                    "properties": {
                        "detail": { "type": "string", "description": "A text for people." },
                        "code": { "type": "string", "description": "A code for programs. Codes never change." },
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

fn unknown_parameter() -> Error {
    Error::UnknownParameter {
        parameter: "externalid".to_owned(),
        detail: "There is no parameter externalid. Did you mean external_id?".to_owned(),
    }
}

fn ended_mailed_key() -> Error {
    Error::EndedMailedKey { company: example_uri::COMPANY.to_owned(), is_of_staff: true }
}

fn external_id_taken(resource_uri: Option<String>) -> Error {
    Error::ExternalIdTaken { holder: None, resource_uri }
}

fn ended_key(end: KeyEnd, interviewdate: Value, answers: Value) -> Error {
    let return_url = if end == KeyEnd::Completed {
        "https://jobs.example.com/done?candidate=01JQ8ZB4T1H6W5Y7X3Q9E2G0FA"
    } else {
        ""
    };
    let told = json!({
        "resource_uri": example_uri::CANDIDATE,
        "company": { "resource_uri": example_uri::COMPANY, "name": "Acme Ltd", "logo": example_uri::LOGO },
        "contact": { "person": "Grace Hopper", "email": "jobs@example.com" },
        "return_url": return_url,
        "interviewdate": interviewdate,
        "answers": answers,
        "ended_by_time": false,
        "ended_at": null,
    });
    Error::EndedKey(end.refusal(), told.as_object().cloned().unwrap_or_default())
}

fn ended_by_time() -> Error {
    let Error::EndedKey(refusal, mut told) = ended_key(KeyEnd::Overdue, json!(null), json!(1)) else {
        return Error::internal("a sample is of another kind");
    };
    told.insert("ended_by_time".to_owned(), json!(true));
    told.insert("ended_at".to_owned(), json!("2026-11-08T22:59:00Z"));
    Error::EndedKey(refusal, told)
}

fn ended_guest_link(end: GuestLinkEnd) -> Error {
    let told = json!({
        "company": { "name": "Acme Ltd", "logo": example_uri::LOGO },
        "contact": { "person": "Grace Hopper", "email": "jobs@example.com" },
    });
    Error::EndedKey(end.refusal(), told.as_object().cloned().unwrap_or_default())
}
