//! Requests that lose to another write are done again, from their reads: rules see the fresh state, and a client that
//! is alone never gets 409 because the service itself wrote meanwhile.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};

use super::body::read_or_return;
use super::state::RequestState;
use crate::app::App;
use crate::error::{Outdated, Result};

/// The most attempts at one request.
const ATTEMPTS: u32 = 10;
/// How long after its beginning a request may be done again. Another attempt still needs some seconds of the ten that
/// the functions have.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers a request by `attempt`, as often as that loses to another write and has itself written nothing.
///
/// A DELETE is done again even when it has done a part of its work: that is how deletions in several steps are finished.
pub(super) async fn until_settled<F>(
    app: &App,
    request: Request,
    attempt: impl Fn(Request) -> F,
) -> Result<Response>
where
    F: Future<Output = Result<Response>>,
{
    let (parts, body) = request.into_parts();
    let body = match read_or_return(body).await {
        Ok(bytes) => bytes,
        // Whoever reads it refuses it.
        Err(body) => return attempt(Request::from_parts(parts, body)).await,
    };
    let mut state = RequestState::of(&parts);
    let mut count = 1;
    loop {
        let before = state.usage().commits();
        let response = attempt(request_of(&parts, &body, &state)).await.into_response();
        let has_written = state.usage().commits() > before;
        let is_lost = response.extensions().get::<Outdated>().is_some();
        let may_repeat = !has_written || parts.method == Method::DELETE;
        if !is_lost || !may_repeat || count == ATTEMPTS || state.usage().elapsed() > PATIENCE {
            return Ok(response);
        }
        state.store(app).give_way(count).await;
        state = state.again(has_written);
        count += 1;
    }
}

fn request_of(parts: &Parts, body: &Bytes, state: &RequestState) -> Request {
    let mut parts = parts.clone();
    parts.extensions.insert(state.clone());
    Request::from_parts(parts, Body::from(body.clone()))
}
