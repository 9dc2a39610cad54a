//! The layer around every handler that changes something. It runs the handler again if a concurrent write makes its commit
//! fail, and answers a retried POST with the stored response.
//!
//! ```text
//! request ─▶ read the body and the Idempotency-Key
//!                 │
//!                 ▼
//!        ┌── admission ── this key has a response already? ─────────▶ replay it
//!        │        │
//!  up to ten      ▼
//!  attempts   handler ── reads the body, applies the rules
//!        │        │
//!        │        ▼
//!        └── commit: writes and response in one transaction ────────▶ respond
//!          lost to another write         lost to the same request, which was faster: replay its response
//! ```
//!
//! So a handler may run several times, and every attempt reads anew: rules, `If-Match` and `If-None-Match` see the result of the
//! other write. Work in several transactions runs inside [`run_once`](crate::http::exchange::HttpExchange::run_once) instead,
//! which holds a lease on the key and stores the response at the end.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::IF_MATCH;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::stream;
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::domain::Refusal;
use crate::error::{ConflictMark, Error, Result};
use crate::http::body::{MAX_BYTES, multipart, read_body};
use crate::http::exchange::state::RequestState;
use crate::store::{RequestIntent, RetryPolicy, StoredResponse};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The maximum length of a key in characters.
const MAX_CHARACTERS: usize = 255;

const INVALID_KEY: Refusal = Refusal {
    code: "invalid_idempotency_key",
    detail: "Send one Idempotency-Key of 1 to 255 visible ASCII characters.",
};

/// Responds to a POST. Without `is_stored`, no response is stored and a valid Idempotency-Key is ignored. A malformed
/// key is always refused.
pub(in crate::http) async fn handle_post<F: Future<Output = Response>>(
    app: &App,
    request: Request,
    is_stored: bool,
    handler: &impl Fn(Request, App) -> F,
) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let state = RequestState::of(&parts.extensions);
    let key = key_in(&parts.headers)?.filter(|_| is_stored);
    let body = read_body(body, MAX_BYTES).await;
    if let Some(key) = key {
        let body = body.as_ref().map_err(|_| Error::TooLarge)?;
        let _ = state.intent.set(intent_of(&parts, key, body).await);
    }
    let response = run_until_committed(app, parts, body, handler).await;
    match state.keyed.get() {
        // A concurrent retry may have succeeded and thereby caused this refusal, so look for its stored response.
        Some(request) if response.status().is_client_error() => {
            let stored = state.store(app).find_response(request, app.now()).await?;
            Ok(stored.map_or(response, StoredResponse::replay))
        }
        _ => Ok(response),
    }
}

/// Responds to a PUT, PATCH or DELETE.
pub(in crate::http) async fn handle_change<F: Future<Output = Response>>(
    app: &App,
    request: Request,
    handler: &impl Fn(Request, App) -> F,
) -> Response {
    let (parts, body) = request.into_parts();
    let body = read_body(body, MAX_BYTES).await;
    run_until_committed(app, parts, body, handler).await
}

/// Runs the handler, and again while a concurrent write makes its commit fail. Does not repeat a handler that has
/// committed something, except for DELETE.
async fn run_until_committed<F: Future<Output = Response>>(
    app: &App,
    mut parts: Parts,
    body: Result<Bytes>,
    handler: &impl Fn(Request, App) -> F,
) -> Response {
    let state = RequestState::of(&parts.extensions);
    let mut attempt = 1;
    // Run the handler again after a conflict: the other writer may be the service itself, for example when it records the key of a
    // mail, and a client without competitors must not get 409.
    loop {
        let body = match &body {
            Ok(bytes) => Body::from(bytes.clone()),
            // The handler refuses the body with its own error, and only after admission.
            Err(_) => Body::from_stream(stream::iter([Err::<Bytes, _>("the body is too long")])),
        };
        let commits_before = state.usage.commits();
        let request = Request::from_parts(parts.clone(), body);
        let response = handler(request, app.clone()).await;
        let has_written = state.usage.commits() > commits_before;
        let is_lost = response.extensions().get::<ConflictMark>().is_some();
        // A repeated DELETE continues after the completed steps of the deletion. Any other handler would repeat what it
        // has committed.
        let may_retry = !has_written || parts.method == Method::DELETE;
        let may_retry = may_retry && RetryPolicy::REQUEST.may_retry(attempt, state.usage.elapsed());
        if !is_lost || !may_retry {
            return response;
        }
        if has_written {
            // `If-Match` held for the first step, and that step has changed the revision.
            parts.headers.remove(IF_MATCH);
        }
        state.store(app).back_off(attempt).await;
        attempt += 1;
    }
}

/// Returns the Idempotency-Key in the headers; an error if it is malformed or repeated.
fn key_in(headers: &HeaderMap) -> Result<Option<String>> {
    let mut keys = headers.get_all(KEY).into_iter();
    let Some(key) = keys.next() else { return Ok(None) };
    let key = key.as_bytes();
    let is_key = (1..=MAX_CHARACTERS).contains(&key.len()) && key.iter().all(u8::is_ascii_graphic);
    if !is_key || keys.next().is_some() {
        return Err(INVALID_KEY.into());
    }
    Ok(Some(String::from_utf8_lossy(key).into_owned()))
}

async fn intent_of(parts: &Parts, key: String, body: &Bytes) -> RequestIntent {
    let method = &parts.method;
    let uri = &parts.uri;
    // The hash includes the key, so that query and body cannot be guessed from the stored hash.
    let hasher = Sha256::new().chain_update(format!("{key}\n{}\n", uri.query().unwrap_or_default()));
    // Hash the content and not the bytes of a form: clients such as `curl -F` choose a new boundary for each retry.
    let hash = multipart::hash(hasher, &parts.headers, body).await.finalize();
    RequestIntent {
        route: format!("{method} {}", uri.path()),
        key,
        fingerprint: URL_SAFE_NO_PAD.encode(hash),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn read(keys: &[&str]) -> Result<Option<String>> {
        key_in(&keys.iter().map(|key| (KEY, HeaderValue::from_bytes(key.as_bytes()).unwrap())).collect())
    }

    #[test]
    fn a_key_is_one_word_of_visible_characters() {
        assert_eq!(read(&[]).unwrap(), None);
        for good in ["a", "\"8e03978e-40d5-43dd\"", "~!{}", &"k".repeat(255)] {
            assert_eq!(read(&[good]).unwrap().as_deref(), Some(good));
        }
        for bad in [&[""][..], &["a b"], &["é"], &["a\tb"], &[&"k".repeat(256)], &["a", "a"]] {
            assert!(matches!(read(bad), Err(Error::Refused(INVALID_KEY))), "{bad:?}");
        }
    }
}
