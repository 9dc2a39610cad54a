//! The issuer of identities: its configuration and keys, and tokens with any claims.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use shared::clock::Clock;

use super::Pages;
use super::control::{json_of, refusal};

pub(super) async fn configuration(State(pages): State<Pages>) -> Json<Value> {
    Json(pages.issuer.configuration())
}

pub(super) async fn keys(State(pages): State<Pages>) -> Json<Value> {
    Json(pages.issuer.keys())
}

pub(super) async fn sign(
    State(pages): State<Pages>,
    request: Request<Body>,
) -> Result<Json<Value>, Response> {
    let Value::Object(claims) = json_of(request).await? else {
        return Err(refusal(StatusCode::BAD_REQUEST, "the body must be an object of claims"));
    };
    let token = pages.issuer.sign(claims, pages.clock.now());
    let token = token.map_err(|error| refusal(StatusCode::INTERNAL_SERVER_ERROR, error))?;
    Ok(Json(json!({ "token": token })))
}
