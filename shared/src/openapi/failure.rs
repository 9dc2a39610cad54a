//! How requests fail, as components of the document.

use chrono::TimeDelta;
use serde_json::{Map, Value, json};

use crate::domain::Refusal;
use crate::error::{Error, FieldErrors};

/// A way to fail that clients can tell from others by its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Failure {
    Invalid,
    Unauthenticated,
    Forbidden,
    NotFound,
    Conflict,
    PreconditionFailed,
    TooLarge,
    UnsupportedMediaType,
    KeyReused,
    Throttled,
    Internal,
    Busy,
}

impl Failure {
    pub(super) const ALL: [Self; 12] = [
        Self::Invalid,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotFound,
        Self::Conflict,
        Self::PreconditionFailed,
        Self::TooLarge,
        Self::UnsupportedMediaType,
        Self::KeyReused,
        Self::Throttled,
        Self::Internal,
        Self::Busy,
    ];

    /// The name of its component.
    pub(super) fn name(self) -> String {
        format!("{self:?}")
    }

    /// The status that such an error is answered with.
    pub(super) fn status(self) -> u16 {
        self.samples()[0].1.status().as_u16()
    }

    fn text(self) -> &'static str {
        match self {
            Self::Invalid => {
                "Something to correct: messages by field, or what stands in the way, with a code where a program may want to tell."
            }
            Self::Unauthenticated => "No credential, or none that is good (any more).",
            Self::Forbidden => "The caller is known, and may not do this.",
            Self::NotFound => "There is no such thing, or the caller may not know of it.",
            Self::Conflict => {
                "Somebody else changed it at the same moment, or the same request is being done: repeat it."
            }
            Self::PreconditionFailed => "It is not, or no longer, what If-Match says.",
            Self::TooLarge => {
                "The body is too large. Announce large files by POST to `…/uploads/`, videos to `…/videos/`, and put them where the answer says. From the gateway, with a `message` in place of the `detail`."
            }
            Self::UnsupportedMediaType => "The body is of a type that is not understood here.",
            Self::KeyReused => "The Idempotency-Key came with another request before.",
            Self::Throttled => "Too many attempts.",
            Self::Internal => "A fault of the service. Tell its operators the X-Request-Id.",
            Self::Busy => "The service is busy.",
        }
    }

    /// Errors that are answered so, each under a name.
    fn samples(self) -> Vec<(&'static str, Error)> {
        let source = || "a sample";
        let refusal = Refusal { code: "code", detail: "What stands in the way." };
        match self {
            Self::Invalid => vec![
                ("fields", Error::field("email", "Enter a valid email address.")),
                (
                    "together",
                    Error::field(FieldErrors::ACROSS, "What is wrong with several fields together."),
                ),
                ("refusal", Error::Refused(refusal)),
                ("syntax", Error::MalformedJson("EOF while parsing a value at line 1 column 0".to_owned())),
            ],
            Self::Unauthenticated => {
                vec![("missing", Error::Unauthenticated(crate::auth::credential::MISSING))]
            }
            Self::Forbidden => vec![("denied", Error::Forbidden(crate::domain::policy::NOT_ALLOWED))],
            Self::NotFound => vec![("unknown", Error::NotFound)],
            Self::Conflict => vec![("changed", Error::Changed), ("in_progress", Error::InProgress(2))],
            Self::PreconditionFailed => vec![("changed", Error::PreconditionFailed)],
            Self::TooLarge => vec![("too_large", Error::TooLarge), ("files_too_large", Error::FilesTooLarge)],
            Self::UnsupportedMediaType => vec![("type", Error::UnsupportedMediaType)],
            Self::KeyReused => vec![("reused", Error::KeyReused)],
            Self::Throttled => vec![("throttled", Error::Throttled(TimeDelta::minutes(15)))],
            Self::Internal => vec![("internal", Error::internal(source()))],
            Self::Busy => vec![
                ("busy", Error::Busy(source().into())),
                ("unreadable", Error::Unreadable(source().into())),
            ],
        }
    }

    /// The response, in the words of the errors themselves.
    pub(super) fn component(self) -> Value {
        let samples = self.samples();
        let examples = samples.iter().map(|(name, error)| (*name, json!({ "value": error.body() })));
        let schema = match self {
            Self::Invalid => json!({ "anyOf": [
                { "$ref": "#/components/schemas/Problem" },
                { "$ref": "#/components/schemas/FieldErrors" },
            ] }),
            _ => json!({ "$ref": "#/components/schemas/Problem" }),
        };
        let mut headers = json!({ "X-Request-Id": { "$ref": "#/components/headers/RequestId" } });
        match self {
            Self::Unauthenticated => {
                headers["WWW-Authenticate"] = json!({ "$ref": "#/components/headers/Challenge" });
            }
            Self::Throttled | Self::Busy | Self::Conflict => {
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

    /// The schemas of all failures.
    pub(super) fn schemas() -> [(&'static str, Value); 2] {
        [
            (
                "FieldErrors",
                json!({
                    "type": "object",
                    "description": "Messages by field; about several fields together under `non_field_errors`, about entries of a list under `[index].field`.",
                    "additionalProperties": { "type": "array", "minItems": 1, "items": { "type": "string" } },
                }),
            ),
            (
                "Problem",
                json!({
                    "type": "object",
                    "description": "What stands in the way.",
                    "required": ["detail"],
                    "properties": {
                        "detail": { "type": "string", "description": "For people." },
                        "code": { "type": "string", "description": "For programs; it does not change." },
                    },
                }),
            ),
        ]
    }
}
