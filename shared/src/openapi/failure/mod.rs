//! The error responses in the OpenAPI document.

mod samples;
mod schemas;

use std::borrow::Cow;

use axum::http::StatusCode;
use chrono::TimeDelta;
use serde_json::{Map, Value, json};

use crate::auth::credential::{INVALID_CREDENTIAL, MISSING};
use crate::domain::Refusal;
use crate::domain::candidate::{GuestLinkEnd, KeyEnd};
use crate::domain::policy::Action;
use crate::error::{AcceptedBody, Error, FieldErrors};
use crate::http::example_uri;
use crate::http::exchange::condition::IF_MATCH_NOT_SUPPORTED;

use samples::{
    ended_by_time, ended_guest_link, ended_key, ended_mailed_key, external_id_taken, unknown_parameter,
};

/// A kind of error response. An operation has at most one for each status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ErrorResponseDoc {
    Invalid,
    /// After `Invalid` in the order, so that it replaces `Invalid` in operations with both.
    OAuth,
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
    /// After `GatewayThrottled` in the order, so that it replaces `GatewayThrottled` in operations with both.
    Throttled,
    Internal,
    Busy,
}

impl ErrorResponseDoc {
    pub(super) const ALL: [Self; 18] = [
        Self::Invalid,
        Self::OAuth,
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
        // The status of the error itself, so that the document cannot differ from the responses.
        self.samples().first().map_or(StatusCode::TOO_MANY_REQUESTS, |(_, error)| error.status()).as_u16()
    }

    fn text(self) -> &'static str {
        match self {
            Self::Invalid => "Correct the request: messages by field, or a `detail` with a `code`.",
            Self::OAuth => {
                "The exchange was refused. `error` and `error_description` are those of RFC 6749, with the same text as `detail`; parameters of the query and conditions are refused without them."
            }
            Self::Unauthenticated => "The credential is missing, invalid or expired.",
            Self::EndedKey => {
                "The credential is missing, invalid or expired; or it is the key of a candidate that opens nothing any more, or the session of one whose interview was cancelled, and `code` says why."
            }
            Self::EndedGuestLink => {
                "The key is missing or unknown; or it is that of a link that shows nothing any more, or not now, and `code` says why."
            }
            Self::Forbidden => {
                "The caller lacks the permission, or has to sign in by their company's provider."
            }
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
            Self::PreconditionFailed => {
                "The resource does not match `If-Match`, or there is none; or it exists and `If-None-Match` is `*`."
            }
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
            Self::OAuth => {
                let refused =
                    |error, code, detail| Error::OAuth { error, code, detail: Cow::Borrowed(detail) };
                vec![
                    (
                        "not_exchanged",
                        refused("invalid_request", "not_exchanged", "The subject token was refused."),
                    ),
                    (
                        "parameters",
                        refused(
                            "invalid_request",
                            "invalid_request",
                            "subject_token: This field is required.",
                        ),
                    ),
                    (
                        "target",
                        refused("invalid_target", "invalid_target", "Name the company or the named token."),
                    ),
                    ("unknown_parameter", unknown_parameter()),
                ]
            }
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
                let unknown = ("unknown", Error::Unauthenticated(INVALID_CREDENTIAL));
                [unknown].into_iter().chain(ended).collect()
            }
            Self::Forbidden => {
                let denied = |is_token| Error::MissingPermission { permission: Action::ReadEvents, is_token };
                let required = Error::SignInRequired(example_uri::SIGN_IN_URL.to_owned());
                vec![("denied", denied(false)), ("token", denied(true)), ("sign_in_required", required)]
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
            Self::PreconditionFailed => {
                vec![
                    ("changed", Error::PreconditionFailed),
                    ("missing", Error::NothingMatches),
                    ("exists", Error::AlreadyExists),
                ]
            }
            Self::TooLarge => vec![("too_large", Error::TooLarge), ("files_too_large", Error::FilesTooLarge)],
            Self::UnsupportedMediaType => {
                vec![
                    ("type", Error::UnsupportedMediaType(AcceptedBody::Json)),
                    ("file", Error::UnsupportedMediaType(AcceptedBody::Form)),
                    ("coding", Error::UnsupportedCoding),
                ]
            }
            Self::KeyReused => vec![("reused", Error::KeyReused)],
            // The gateway sends this response, not the service.
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

    /// The response component, with the errors' real bodies as examples.
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
            Self::OAuth => json!({ "$ref": "#/components/schemas/OAuthError" }),
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
}
