//! The provider for sign-in: setup instructions, configuration and keys, the sign-in form, and the exchange of codes.

use askama::Template;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::control::MAX_BODY;
use super::{PAGE_POLICY, rendered};
use crate::provider::{CLIENT, LocalProvider, Person};

/// The maximum length of a user name and of an address, in bytes.
const MAX_TEXT: usize = 254;

#[derive(Template)]
#[template(path = "provider.html")]
struct ProviderPage {
    issuer: String,
    api: String,
    client_id: &'static str,
    client_secret: &'static str,
}

/// The routes, with absolute paths.
pub(crate) fn router(provider: LocalProvider) -> Router {
    Router::new()
        .route("/_local/provider/", get(show))
        .route("/_local/provider/.well-known/openid-configuration", get(configuration))
        .route("/_local/provider/keys", get(keys))
        .route("/_local/provider/authorize", get(ask).post(authorize))
        .route("/_local/provider/token", post(token))
        .with_state(provider)
}

/// The page with setup instructions.
async fn show(State(provider): State<LocalProvider>) -> Response {
    let page = ProviderPage {
        issuer: provider.url().to_owned(),
        api: provider.api().to_owned(),
        client_id: CLIENT[0],
        client_secret: CLIENT[1],
    };
    rendered(&page, PAGE_POLICY)
}

async fn configuration(State(provider): State<LocalProvider>) -> Json<Value> {
    Json(provider.configuration())
}

async fn keys(State(provider): State<LocalProvider>) -> Json<Value> {
    Json(provider.keys())
}

#[derive(Template)]
#[template(path = "provider-form.html")]
struct ProviderForm {
    /// The reason why the request is refused; `None` to show the form.
    problem: Option<String>,
    is_incomplete: bool,
    username: String,
    email: String,
}

impl ProviderForm {
    fn new(problem: Option<String>) -> Self {
        Self { problem, is_incomplete: false, username: String::new(), email: String::new() }
    }
}

/// The sign-in form.
async fn ask(State(provider): State<LocalProvider>, RawQuery(query): RawQuery) -> Response {
    let problem = provider.read(&query.unwrap_or_default()).err();
    let status = if problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    (status, rendered(&ProviderForm::new(problem), PAGE_POLICY)).into_response()
}

/// Redirects the person back, with a code or a refusal. The form is submitted to the page's URL, with its query.
async fn authorize(
    State(provider): State<LocalProvider>,
    RawQuery(query): RawQuery,
    request: Request<Body>,
) -> Result<Response, Response> {
    // Only browsers send this header. A page of another site must not sign anyone in.
    let site = request.headers().get("sec-fetch-site").map(|site| site.as_bytes());
    if !matches!(site, None | Some(b"same-origin" | b"none")) {
        return Err(StatusCode::FORBIDDEN.into_response());
    }
    let asked = provider.read(&query.unwrap_or_default()).map_err(|problem| {
        (StatusCode::BAD_REQUEST, rendered(&ProviderForm::new(Some(problem)), PAGE_POLICY)).into_response()
    })?;
    let form = to_bytes(request.into_body(), MAX_BODY).await;
    let form = form.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE.into_response())?;
    let mut person = Person { username: String::new(), email: String::new(), has_verified_email: false };
    for (field, value) in url::form_urlencoded::parse(&form) {
        match &*field {
            "username" => value.trim().clone_into(&mut person.username),
            "email" => value.trim().clone_into(&mut person.email),
            "verified" => person.has_verified_email = true,
            "cancel" => return Ok(Redirect::to(&provider.refuse(&asked)).into_response()),
            _ => {}
        }
    }
    let texts = [&person.username, &person.email];
    if texts.iter().any(|text| text.is_empty() || text.len() > MAX_TEXT) {
        let form = ProviderForm {
            problem: None,
            is_incomplete: true,
            username: person.username,
            email: person.email,
        };
        return Err((StatusCode::BAD_REQUEST, rendered(&form, PAGE_POLICY)).into_response());
    }
    Ok(Redirect::to(&provider.authorize(asked, person)).into_response())
}

/// Exchanges a code, according to RFC 6749 and RFC 7636.
async fn token(State(provider): State<LocalProvider>, headers: HeaderMap, body: Bytes) -> Response {
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let made = provider.exchange(authorization.unwrap_or_default(), &body);
    let (status, answer) = match made {
        Ok(made) => (StatusCode::OK, made),
        Err("invalid_client") => (StatusCode::UNAUTHORIZED, json!({ "error": "invalid_client" })),
        Err(error) => (StatusCode::BAD_REQUEST, json!({ "error": error })),
    };
    (status, [(header::CACHE_CONTROL, "no-store")], Json(answer)).into_response()
}
