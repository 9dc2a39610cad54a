//! XML responses of the Query API.

use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::random;

/// The response to a sending action.
#[derive(Template)]
#[template(
    ext = "xml",
    source = r#"<{{ action }}Response xmlns="http://ses.amazonaws.com/doc/2010-12-01/"><{{ action }}Result><MessageId>{{ message_id }}</MessageId></{{ action }}Result><ResponseMetadata><RequestId>{{ request_id }}</RequestId></ResponseMetadata></{{ action }}Response>"#
)]
pub(super) struct Sent {
    pub(super) action: &'static str,
    pub(super) message_id: String,
    pub(super) request_id: String,
}

/// The response to a refused request.
#[derive(Template)]
#[template(
    ext = "xml",
    source = r#"<ErrorResponse xmlns="http://ses.amazonaws.com/doc/2010-12-01/"><Error><Type>{% if status.is_server_error() %}Receiver{% else %}Sender{% endif %}</Type><Code>{{ code }}</Code><Message>{{ message }}</Message></Error><RequestId>{{ request_id }}</RequestId></ErrorResponse>"#
)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) request_id: String,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), request_id: random::uuid() }
    }

    pub(super) fn bad(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    pub(super) fn missing(parameter: &str) -> Self {
        let problem = "failed to satisfy constraint: Member must not be null";
        Self::bad(
            "ValidationError",
            format!("1 validation error detected: Value null at '{parameter}' {problem}"),
        )
    }

    pub(super) fn failed(error: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalFailure", error.to_string())
    }
}

pub(super) fn xml(status: StatusCode, answer: &impl Template) -> Response {
    match answer.render() {
        Ok(text) => (status, [(header::CONTENT_TYPE, "text/xml")], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
