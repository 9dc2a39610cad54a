//! Retries requests that lose to another write, from their reads: rules see the fresh state, and a client never gets
//! 409 because the service itself wrote at the same time.

use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::Method;
use axum::http::header::IF_MATCH;
use axum::response::Response;

use super::body::read_or_return;
use super::state::RequestState;
use crate::app::App;
use crate::error::ConflictMark;

/// The most attempts at one request.
const ATTEMPTS: u32 = 10;
/// How long after its start a request may be retried.
// Another attempt still needs some seconds of the ten that the functions have.
const PATIENCE: Duration = Duration::from_secs(5);

/// Answers a request by `attempt`, retried while that loses to another write and has itself written nothing.
///
/// A DELETE is retried even when it has written: that is how deletions in several steps are finished. What `If-Match`
/// asked for has held by then, so the retry goes without it.
pub(super) async fn run_until_committed<F>(
    app: &App,
    request: Request,
    attempt: impl Fn(Request) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    let (mut parts, body) = request.into_parts();
    let body = match read_or_return(body).await {
        Ok(bytes) => bytes,
        // The handler refuses it.
        Err(body) => return attempt(Request::from_parts(parts, body)).await,
    };
    let state = RequestState::of(&parts.extensions);
    let mut count = 1;
    loop {
        let before = state.usage().commits();
        // From its read, so that rules and `If-Match` see the current state: 412 then means that what the client saw
        // has changed.
        let response = attempt(Request::from_parts(parts.clone(), Body::from(body.clone()))).await;
        let has_written = state.usage().commits() > before;
        // A client that is alone must not get 409 because the service recorded the key of a mail.
        let is_lost = response.extensions().get::<ConflictMark>().is_some();
        let may_retry = !has_written || parts.method == Method::DELETE;
        if !is_lost || !may_retry || count == ATTEMPTS || state.usage().elapsed() > PATIENCE {
            return response;
        }
        if has_written {
            parts.headers.remove(IF_MATCH);
        }
        state.store(app).back_off(count).await;
        count += 1;
    }
}
