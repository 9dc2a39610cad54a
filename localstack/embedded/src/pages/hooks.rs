//! Receivers of webhooks: they accept any request, and show the deliveries as JSON and as a page.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::Value;
use shared::clock::Clock;

use super::control::{MAX_BODY, json_of, refusal};
use super::{Pages, rendered, written};
use crate::receivers::{Answer, Delivery, Receiver, Signature};

/// The page's content security policy: it loads and runs nothing, and its form leads to this server.
const HOOKS_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'";
/// The delay of slow responses, longer than the service's timeout of 15 seconds.
const SLOW: Duration = Duration::from_secs(20);
const MAX_NAME: usize = 64;

/// Receives a delivery.
pub(super) async fn receive(
    State(pages): State<Pages>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Result<StatusCode, StatusCode> {
    let name = checked(&name, request.headers())?;
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, MAX_BODY).await.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    let answer = pages.receivers.take(name, written(pages.clock.now()), parts.headers, body);
    if answer == Answer::Slow {
        #[expect(clippy::disallowed_methods, reason = "an endpoint that answers slowly")]
        tokio::time::sleep(SLOW).await;
    }
    Ok(answer.status())
}

/// Sets the secret, the response, or both, from JSON.
pub(super) async fn change(
    State(pages): State<Pages>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Result<StatusCode, Response> {
    let name = checked(&name, request.headers()).map_err(IntoResponse::into_response)?;
    let body = json_of(request).await?;
    let (mut secret, mut answer) = (None, None);
    for (member, value) in body.as_object().into_iter().flatten() {
        let text =
            value.as_str().map(str::to_owned).or_else(|| value.as_u64().map(|number| number.to_string()));
        match (member.as_str(), text) {
            ("secret", Some(text)) => secret = Some(text),
            ("answer", Some(text)) if Answer::parse(&text).is_some() => answer = Answer::parse(&text),
            _ => {
                let problem = "the body must be {\"secret\": \"whsec_…\", \"answer\": 200}, with the answer 200, 500, \
                               410 or \"slow\"; both may be absent";
                return Err(refusal(StatusCode::BAD_REQUEST, problem));
            }
        }
    }
    pages.receivers.change(name, secret, answer);
    Ok(StatusCode::NO_CONTENT)
}

/// Sets the secret, the response, or both, from the page's form. An empty secret changes nothing.
pub(super) async fn change_by_form(
    State(pages): State<Pages>,
    Path(name): Path<String>,
    request: Request<Body>,
) -> Result<Redirect, StatusCode> {
    let name = checked(&name, request.headers())?.to_owned();
    let form = to_bytes(request.into_body(), MAX_BODY).await.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    let (mut secret, mut answer) = (None, None);
    for (field, value) in url::form_urlencoded::parse(&form) {
        match &*field {
            "secret" => secret = Some(value.trim().to_owned()).filter(|secret| !secret.is_empty()),
            "answer" => answer = Answer::parse(&value),
            _ => {}
        }
    }
    pages.receivers.change(&name, secret, answer);
    Ok(Redirect::to(&format!("/_local/hooks/{name}")))
}

/// The deliveries as a JSON list, newest first.
pub(super) async fn deliveries(
    State(pages): State<Pages>,
    Path(name): Path<String>,
) -> Result<Response, StatusCode> {
    let receiver = pages.receivers.find(checked(&name, &HeaderMap::new())?);
    let deliveries = receiver.deliveries.iter().map(|delivery| delivery.to_json());
    Ok(Json(deliveries.collect::<Vec<_>>()).into_response())
}

#[derive(Template)]
#[template(path = "hooks.html")]
struct Hooks {
    name: String,
    address: String,
    api: String,
    company: String,
    now: String,
    is_ahead: bool,
    answers: [Answer; 4],
    receiver: Receiver,
}

pub(super) async fn show(
    State(pages): State<Pages>,
    Path(name): Path<String>,
) -> Result<Response, StatusCode> {
    let name = checked(&name, &HeaderMap::new())?.to_owned();
    let api = pages.app.config().base_url.as_str().trim_end_matches('/').to_owned();
    let hooks = Hooks {
        address: format!("{}/_local/hooks/{name}", api.trim_end_matches("/api/v3")),
        api,
        company: pages.demo.company,
        now: written(pages.clock.now()),
        is_ahead: !pages.clock.offset().is_zero(),
        answers: Answer::ALL,
        receiver: pages.receivers.find(&name),
        name,
    };
    Ok(rendered(&hooks, HOOKS_POLICY))
}

/// The event's types, or a text that says what else the body is.
fn title(delivery: &Arc<Delivery>) -> String {
    let Ok(event) = serde_json::from_slice::<Value>(&delivery.body) else { return "Not JSON".to_owned() };
    let types = event["types"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match types.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "JSON without types".to_owned(),
        types => types,
    }
}

/// The body; if it is JSON, with one member per line.
fn pretty(delivery: &Arc<Delivery>) -> String {
    let event = serde_json::from_slice::<Value>(&delivery.body);
    event.and_then(|event| serde_json::to_string_pretty(&event)).unwrap_or_else(|_| delivery.text())
}

/// Returns the name if it needs no escaping anywhere and the request does not come from another site's page.
fn checked<'a>(name: &'a str, headers: &HeaderMap) -> Result<&'a str, StatusCode> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    if name.len() > MAX_NAME || !name.bytes().all(is_plain) {
        return Err(StatusCode::NOT_FOUND);
    }
    // Only browsers send this header.
    match headers.get("sec-fetch-site").map(|site| site.as_bytes()) {
        None | Some(b"same-origin" | b"none") => Ok(name),
        Some(_) => Err(StatusCode::FORBIDDEN),
    }
}
