//! The error type of the service, whose variants follow from what a client can do, with the status and body of each.

mod accepted_body;
mod field_errors;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::TimeDelta;
use serde_json::{Map, Value, json};

use crate::domain::Refusal;
use crate::domain::history::ResourceRef;
use crate::domain::mail::rate::RefusedOrThrottled;
use crate::domain::policy::{Action, NOT_ALLOWED};
use crate::domain::questionnaire::NotPlaced;

pub use accepted_body::AcceptedBody;
pub use field_errors::FieldErrors;

/// The result of handlers, admission and the store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a request failed.
#[derive(Debug)]
pub enum Error {
    /// Invalid values: 400, with messages by field.
    Fields(FieldErrors),
    /// A body that is not valid JSON, with the parser's message: 400.
    MalformedJson(String),
    /// A body that is not a valid form, with the parser's message: 400.
    MalformedForm(String),
    /// An unknown query parameter: 400.
    UnknownParameter {
        /// The name of the parameter.
        parameter: String,
        /// A message for people, perhaps with a suggestion.
        detail: String,
    },
    /// The named query parameter was sent twice and is not a list: 400.
    RepeatedParameter(String),
    /// A mailed key that no longer works, with the company and kind of account that it names: 400.
    EndedMailedKey {
        /// The URL of the company.
        company: String,
        /// Whether the key belongs to a customer; otherwise to a candidate.
        is_of_staff: bool,
    },
    /// A valid request that the current state does not allow: 400.
    Refused(Refusal),
    /// A refused OAuth request, with the fields of RFC 6749 and those of other errors: 400.
    OAuth {
        /// The error code of RFC 6749 or RFC 8693.
        error: &'static str,
        /// The reason for programs, in snake case.
        code: &'static str,
        /// A message for people, without quotation marks, which RFC 6749 forbids here.
        detail: Cow<'static, str>,
    },
    /// No valid credential: 401.
    Unauthenticated(Refusal),
    /// A candidate's or guest's ended key, with the fields that its holder may still see: 401.
    EndedKey(Refusal, Map<String, Value>),
    /// The caller is authenticated but may not do this: 403.
    Forbidden(Refusal),
    /// The company's staff must sign in by its provider, at this URL: 403.
    SignInRequired(String),
    /// The caller lacks a permission: 403. The message to a named token says which tokens have it.
    MissingPermission { permission: Action, is_token: bool },
    /// The resource does not exist, belongs to another company, or is hidden from the caller: 404.
    NotFound,
    /// The path does not exist: 404. Contains the URL of the reference.
    UnknownPath(String),
    /// The path does not support this method: 405. The router adds `Allow`.
    MethodNotAllowed,
    /// Another request has modified the resource: 409. The client must fetch it and try again.
    Changed,
    /// Another candidate of the project, or another project of the company, has the `external_id`: 409.
    ExternalIdTaken {
        /// The resource that has the `external_id`; `None` if unknown.
        holder: Option<ResourceRef>,
        /// The holder's URL; `None` if the caller may not see it.
        resource_uri: Option<String>,
    },
    /// The company was imported, but the operator has not started it: 409.
    NotStarted,
    /// An earlier attempt at this request is still running. Retry after this many seconds: 409.
    InProgress(i64),
    /// Events after the requested number have expired: 410. Contains the number of the first remaining event.
    Expired(u64),
    /// The resource does not match `If-Match`: 412.
    PreconditionFailed,
    /// The request has `If-Match`, but the resource does not exist: 412.
    NothingMatches,
    /// The request has `If-None-Match: *`, but the resource exists: 412.
    AlreadyExists,
    /// The body is longer than allowed: 413.
    TooLarge,
    /// The body is longer than allowed for a request with files: 413. The message tells how to upload large files.
    FilesTooLarge,
    /// The body has none of the accepted media types: 415.
    UnsupportedMediaType(AcceptedBody),
    /// The body cannot be read and declares a `Content-Encoding`: 415.
    UnsupportedCoding,
    /// Too many attempts. Retry after this time: 429.
    Throttled(TimeDelta),
    /// The company has reached its limit of concurrent imports and actions on many candidates. Retry after this many seconds: 429.
    CompanyBusy(i64),
    /// The Idempotency-Key was used with a different request: 422.
    KeyReused,
    /// The storage is busy. Retry after some seconds: 503.
    Busy(ErrorSource),
    /// This release cannot read an item, most likely because a newer release wrote it: 503. The source is logged.
    Unreadable(ErrorSource),
    /// A server error: 500. The source is logged, never shown.
    Internal(ErrorSource),
}

/// The cause of an error, only for the log.
pub type ErrorSource = Box<dyn std::error::Error + Send + Sync>;

impl Error {
    /// A server error caused by `source`.
    pub fn internal(source: impl Into<ErrorSource>) -> Self {
        Self::Internal(source.into())
    }

    /// A single message about a single field.
    pub fn field(name: &str, message: impl Into<String>) -> Self {
        let mut errors = FieldErrors::default();
        errors.add(name, message);
        Self::Fields(errors)
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Fields(_)
            | Self::MalformedJson(_)
            | Self::MalformedForm(_)
            | Self::UnknownParameter { .. }
            | Self::RepeatedParameter(_)
            | Self::EndedMailedKey { .. }
            | Self::OAuth { .. }
            | Self::Refused(_) => StatusCode::BAD_REQUEST,
            Self::Unauthenticated(_) | Self::EndedKey(..) => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) | Self::SignInRequired(_) | Self::MissingPermission { .. } => {
                StatusCode::FORBIDDEN
            }
            Self::NotFound | Self::UnknownPath(_) => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Changed | Self::ExternalIdTaken { .. } | Self::NotStarted | Self::InProgress(_) => {
                StatusCode::CONFLICT
            }
            Self::Expired(_) => StatusCode::GONE,
            Self::PreconditionFailed | Self::NothingMatches | Self::AlreadyExists => {
                StatusCode::PRECONDITION_FAILED
            }
            Self::TooLarge | Self::FilesTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType(_) | Self::UnsupportedCoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Throttled(_) | Self::CompanyBusy(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::KeyReused => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Busy(_) | Self::Unreadable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Whether clients can cause the error by what they send or do concurrently. If so, it is not a fault of the service.
    // `Busy` counts too: a company can make the storage busy by using up the throughput of its partitions.
    pub fn is_of_others(&self) -> bool {
        !matches!(self, Self::Unreadable(_) | Self::Internal(_))
    }

    /// The body of the response: messages by field, or an object with `code` and `detail`.
    pub fn body(&self) -> Value {
        match self {
            Self::Fields(errors) => json!(errors.0),
            Self::MalformedJson(problem) => detail("parse_error", &format!("JSON parse error - {problem}")),
            Self::MalformedForm(problem) => {
                detail("parse_error", &format!("Multipart form parse error - {problem}"))
            }
            Self::UnknownParameter { parameter, detail } => {
                json!({ "detail": detail, "code": "unknown_parameter", "parameter": parameter })
            }
            Self::RepeatedParameter(parameter) => json!({
                "detail": format!("The parameter {parameter} may be sent only once."),
                "code": "repeated_parameter",
                "parameter": parameter,
            }),
            Self::EndedMailedKey { company, is_of_staff } => json!({
                "detail": "This key was used, has expired or was replaced. Log in, or ask for another one.",
                "code": "key_ended",
                "company": company,
                "kind": if *is_of_staff { "customer" } else { "candidate" },
            }),
            Self::OAuth { error, code, detail } => json!({
                "error": error, "error_description": detail, "code": code, "detail": detail,
            }),
            Self::Refused(refusal) | Self::Unauthenticated(refusal) | Self::Forbidden(refusal) => {
                detail(refusal.code, refusal.detail)
            }
            Self::SignInRequired(url) => json!({
                "detail": "The staff of this company sign in with their company's account. Open sign_in_url in a browser.",
                "code": "sign_in_required",
                "sign_in_url": url,
            }),
            Self::MissingPermission { permission, is_token } => {
                let name = permission.as_str();
                let hint =
                    if *is_token { format!(" {}", permission.tokens_with_it()) } else { String::new() };
                json!({
                    "detail": format!("You do not have the permission `{name}` here.{hint}"),
                    "code": NOT_ALLOWED.code,
                    "permission": name,
                })
            }
            Self::EndedKey(refusal, told) => {
                let mut body = told.clone();
                body.insert("detail".to_owned(), refusal.detail.into());
                body.insert("code".to_owned(), refusal.code.into());
                Value::Object(body)
            }
            Self::NotFound => detail("not_found", "Not found."),
            // The same code as for a missing resource, because programs would react in the same way.
            Self::UnknownPath(reference) => {
                detail("not_found", &format!("There is no such path. All paths are listed at {reference}"))
            }
            Self::MethodNotAllowed => detail(
                "method_not_allowed",
                "Method not allowed. The `Allow` header lists the methods of this path.",
            ),
            Self::Changed => {
                detail("changed", "Another request modified this resource. Fetch it and try again.")
            }
            Self::ExternalIdTaken { resource_uri: Some(uri), .. } => json!({
                "detail": "This `external_id` is already in use. Use the resource at `resource_uri`, or send another `external_id`.",
                "code": EXTERNAL_ID_TAKEN,
                "resource_uri": uri,
            }),
            Self::ExternalIdTaken { resource_uri: None, .. } => {
                detail(EXTERNAL_ID_TAKEN, "This `external_id` is already in use. Send another one.")
            }
            Self::NotStarted => detail(
                "company_not_started",
                "This company was imported and can only be read. Ask the operator of the service to start it.",
            ),
            Self::InProgress(_) => detail(
                "in_progress",
                "A request with this `Idempotency-Key` is still running. Retry after the seconds in `Retry-After`.",
            ),
            Self::Expired(first) => json!({
                "detail": "Events after this number have been deleted because of their age. Read all resources anew, and continue before the event with the number `first`.",
                "code": "events_expired",
                "first": first,
            }),
            Self::PreconditionFailed => detail(
                "precondition_failed",
                "The resource no longer matches `If-Match`. Fetch it and try again.",
            ),
            // One code for these three: in each case, clients fetch the resource and try again.
            Self::NothingMatches => detail(
                "precondition_failed",
                "There is no resource for `If-Match`. Create it with `If-None-Match: *`.",
            ),
            Self::AlreadyExists => detail(
                "precondition_failed",
                "The resource exists already. Fetch it and change it with `If-Match`.",
            ),
            Self::TooLarge => detail("too_large", "The request body is too large."),
            Self::FilesTooLarge => detail(
                "too_large",
                "The request body is too large. POST the file's metadata as JSON to …/uploads/ (videos: …/videos/), then upload the file to the URL in the answer.",
            ),
            Self::UnsupportedMediaType(accepted) => detail("unsupported_media_type", accepted.advice()),
            Self::UnsupportedCoding => detail(
                "unsupported_content_encoding",
                "The body cannot be read in its `Content-Encoding`. Send it uncompressed, without this header.",
            ),
            Self::Throttled(_) => {
                detail("throttled", "Too many attempts. Try again after the seconds in `Retry-After`.")
            }
            Self::CompanyBusy(_) => detail(
                "busy",
                "Two imports or actions on many candidates of this company are running. Try again after the seconds in `Retry-After`.",
            ),
            Self::KeyReused => detail(
                "idempotency_key_reused",
                "This `Idempotency-Key` was used with a different request. Send a new key.",
            ),
            Self::Busy(_) => detail("busy", "The service is busy. Try again shortly."),
            Self::Unreadable(_) => detail(
                "unreadable",
                "This resource was written by a newer release that is still being deployed. Try again in a minute.",
            ),
            // The cause is only for the log: clients cannot act on it, and it may contain confidential data.
            Self::Internal(_) => detail(
                "internal_error",
                "Internal error. If it persists, report the `X-Request-Id` of this response.",
            ),
        }
    }

    /// The seconds after which the client may retry; `None` if a retry does not help.
    pub fn retry_after(&self) -> Option<i64> {
        match self {
            Self::Throttled(wait) => Some(wait.num_seconds().max(1)),
            Self::InProgress(seconds) | Self::CompanyBusy(seconds) => Some(*seconds),
            Self::Busy(_) => Some(2),
            Self::Unreadable(_) => Some(60),
            _ => None,
        }
    }

    fn header(&self) -> Option<(HeaderName, HeaderValue)> {
        match self {
            Self::Unauthenticated(_) | Self::EndedKey(..) => {
                Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Token")))
            }
            // RFC 9110 demands that the response names the accepted codings.
            Self::UnsupportedCoding => Some((header::ACCEPT_ENCODING, HeaderValue::from_static("identity"))),
            _ => self.retry_after().map(|seconds| (header::RETRY_AFTER, HeaderValue::from(seconds))),
        }
    }
}

/// The code of [`Error::ExternalIdTaken`].
pub const EXTERNAL_ID_TAKEN: &str = "external_id_taken";

fn detail(code: &str, detail: &str) -> Value {
    json!({"detail": detail, "code": code})
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy(source) | Self::Unreadable(source) | Self::Internal(source) => write!(f, "{source}"),
            other => write!(f, "{}", other.body()),
        }
    }
}

impl std::error::Error for Error {}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<NotPlaced> for Error {
    fn from(refused: NotPlaced) -> Self {
        match refused {
            NotPlaced::Refused(refusal) => Self::Refused(refusal),
            NotPlaced::PositionTaken => Self::field("position", "This position is already taken."),
            NotPlaced::TooLong => Self::field(
                "anchors",
                "The texts and anchors of all questions and criteria may have 330,000 bytes together. Shorten some.",
            ),
        }
    }
}

impl From<RefusedOrThrottled> for Error {
    fn from(refused: RefusedOrThrottled) -> Self {
        match refused {
            RefusedOrThrottled::Refused(refusal) => Self::Refused(refusal),
            RefusedOrThrottled::TooMany(wait) => Self::Throttled(wait),
        }
    }
}

/// Marks the response to a request whose commit failed because of a concurrent write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConflictMark;

/// The cause of a 5xx response, for the request log.
#[derive(Debug, Clone)]
pub struct ErrorCause(pub Arc<str>);

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let mut response = (self.status(), axum::Json(self.body())).into_response();
        response.headers_mut().extend(self.header());
        if matches!(self, Self::Changed) {
            response.extensions_mut().insert(ConflictMark);
        }
        if let Self::Busy(source) | Self::Unreadable(source) | Self::Internal(source) = self {
            response.extensions_mut().insert(ErrorCause(describe(&*source).into()));
        }
        response
    }
}

/// The error and its chain of causes, in one line.
fn describe(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |line, cause| format!("{line}: {cause}"))
}
