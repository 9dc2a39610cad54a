//! Environment variables, clock, schedules, event bus and operator commands.

use std::time::Duration;

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};
use shared::clock::Clock;

use super::{Pages, written};
use crate::Answers;

/// One line `NAME=value` per variable.
pub(super) async fn environment(State(pages): State<Pages>) -> String {
    pages.environment.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
}

/// The maximum advance in seconds: more than ten years is probably a typing error.
const MAX_ADVANCE: u64 = 10 * 365 * 86400;

pub(super) async fn clock(State(pages): State<Pages>) -> Response {
    shown(pages.clock.now())
}

pub(super) async fn advance_clock(
    State(pages): State<Pages>,
    request: Request<Body>,
) -> Result<Response, Response> {
    let body = json_of(request).await?;
    let seconds = body["advance_seconds"].as_u64().filter(|seconds| *seconds <= MAX_ADVANCE);
    let (Some(seconds), Some(1)) = (seconds, body.as_object().map(Map::len)) else {
        let problem = format!(
            "the body must be {{\"advance_seconds\": n}} with a whole number n from 0 to {MAX_ADVANCE}, as the clock \
             cannot be moved back"
        );
        return Err(refusal(StatusCode::BAD_REQUEST, problem));
    };
    let moved = pages.clock.advance(Duration::from_secs(seconds));
    moved.map(shown).map_err(|error| refusal(StatusCode::BAD_REQUEST, error))
}

pub(super) async fn sweep(State(pages): State<Pages>, request: Request<Body>) -> Result<Response, Response> {
    let body = json_of(request).await?;
    if body.as_object().is_none_or(|members| !members.is_empty()) {
        return Err(refusal(StatusCode::BAD_REQUEST, "the body must be empty or {}"));
    }
    Ok(answered(pages.events.run_schedules().await))
}

pub(super) async fn put_event(
    State(pages): State<Pages>,
    request: Request<Body>,
) -> Result<Response, Response> {
    let event = json_of(request).await?;
    let answers = pages.events.put_event(event).await;
    answers.map(answered).map_err(|error| refusal(StatusCode::BAD_REQUEST, error))
}

pub(super) async fn operate(
    State(pages): State<Pages>,
    request: Request<Body>,
) -> Result<Response, Response> {
    let command: admin::OperatorCommand = serde_json::from_value(json_of(request).await?)
        .map_err(|error| refusal(StatusCode::BAD_REQUEST, format!("the body is no command: {error}")))?;
    // Boxed as in `shared::event`.
    match Box::pin(admin::handle(&pages.app, command)).await {
        Ok(outcome) => Ok(Json(outcome).into_response()),
        Err(error) if error.status().is_client_error() => Err(refusal(StatusCode::BAD_REQUEST, error)),
        Err(error) => {
            let answer = Json(json!({ "errorMessage": error.to_string() }));
            Err((StatusCode::BAD_GATEWAY, answer).into_response())
        }
    }
}

/// The functions' responses, with failures as in Lambda.
fn answered(answers: Answers) -> Response {
    let failed = answers.values().any(Result::is_err);
    let answers = answers.into_iter().map(|(function, answer)| {
        (function, answer.unwrap_or_else(|error| json!({ "errorMessage": error.to_string() })))
    });
    let status = if failed { StatusCode::BAD_GATEWAY } else { StatusCode::OK };
    (status, Json(answers.collect::<Map<_, _>>())).into_response()
}

fn shown(now: DateTime<Utc>) -> Response {
    Json(json!({ "now": written(now) })).into_response()
}

/// EventBridge's maximum event, in bytes.
pub(super) const MAX_BODY: usize = 256 * 1024;

/// The JSON body of a request; `{}` if it is empty. The content type must be JSON: browsers send it from pages of other
/// sites only after a preflight request, which this server never allows.
pub(super) async fn json_of(request: Request<Body>) -> Result<Value, Response> {
    let declared = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let declared = declared.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    if !declared.eq_ignore_ascii_case("application/json") {
        let problem = "the request needs the header Content-Type: application/json";
        return Err(refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem));
    }
    let body = to_bytes(request.into_body(), MAX_BODY).await.map_err(|_| {
        refusal(StatusCode::PAYLOAD_TOO_LARGE, format!("the body may have {MAX_BODY} bytes at most"))
    })?;
    if body.is_empty() {
        return Ok(json!({}));
    }
    serde_json::from_slice(&body)
        .map_err(|error| refusal(StatusCode::BAD_REQUEST, format!("the body is not JSON: {error}")))
}

pub(super) fn refusal(status: StatusCode, problem: impl std::fmt::Display) -> Response {
    (status, Json(json!({ "error": problem.to_string() }))).into_response()
}
