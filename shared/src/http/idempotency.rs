//! The Idempotency-Key header: a client may repeat a POST, and it happens once.
//!
//! A handler that makes one transaction commits it together with its answer, by `commit` of its guard. One that makes
//! several runs them inside `once`, which holds a lease in the meantime and records the answer at the end. In both cases the
//! guard replays the answer to every later request with the same key.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};

use super::body::{MAX_BYTES, read_body};
use super::respond::kept_of;
use super::state::RequestState;
use super::{multipart, redo};
use crate::app::App;
use crate::domain::Refusal;
use crate::domain::id::IdBlock;
use crate::error::{Error, Result};
use crate::store::{
    KeyedAttempt, KeyedRequest, LeaseResult, SealingKey, Store, StoredResponse, Transaction, VersionedItem,
    keys,
};

/// Marks a replayed answer.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The most characters of a key.
const MAX_CHARACTERS: usize = 255;

const INVALID_KEY: Refusal = Refusal {
    code: "invalid_idempotency_key",
    detail: "Send one Idempotency-Key of 1 to 255 visible ASCII characters.",
};

/// An Idempotency-Key, and what the request means that came with it.
#[derive(Debug)]
pub(crate) struct RequestIntent {
    route: String,
    key: String,
    /// The hash of the key, the query and what the body means: query and body alone could be guessed.
    fingerprint: String,
}

impl RequestIntent {
    async fn new(parts: &Parts, key: String, body: &Bytes) -> Self {
        let (method, uri) = (&parts.method, &parts.uri);
        let query = uri.query().unwrap_or_default();
        let hasher = Sha256::new().chain_update(format!("{key}\n{query}\n"));
        // By what the body means: clients such as `curl -F` choose another boundary for each retry.
        let hash = multipart::hash(hasher, &parts.headers, body).await.finalize();
        Self { route: format!("{method} {}", uri.path()), key, fingerprint: URL_SAFE_NO_PAD.encode(hash) }
    }

    /// The request as one of `sender`: only they replay its answer.
    pub(crate) fn of(&self, sender: &str) -> KeyedRequest {
        // None of the parts can hold the separator.
        let name = format!("{sender}\n{}\n{}", self.route, self.key);
        let (id, sealing_key) = (keys::idempotency_id(&name), SealingKey::of(&name));
        KeyedRequest { id, fingerprint: self.fingerprint.clone(), sealing_key }
    }
}

/// The Idempotency-Key in the headers; refused when it is malformed or sent twice.
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

/// Answers a POST that may have an Idempotency-Key. Unless its answer is stored (`is_once`), a well-formed key changes
/// nothing.
///
/// A guard that finds an earlier answer to the same request replays it. A refusal may be due to what the same request has
/// changed since the guard read the table, so it gives way to an answer that is there by now.
pub(super) async fn post<F>(
    app: &App,
    request: Request,
    is_once: bool,
    handle: impl Fn(Request) -> F,
) -> Result<Response>
where
    F: Future<Output = Response>,
{
    let (parts, mut body) = request.into_parts();
    let state = RequestState::of(&parts.extensions);
    if let Some(key) = key_in(&parts.headers)?
        && is_once
    {
        let bytes = read_body(body, MAX_BYTES).await?;
        state.set_intent(RequestIntent::new(&parts, key, &bytes).await);
        body = Body::from(bytes);
    }
    let response = redo::run_until_committed(app, Request::from_parts(parts, body), handle).await;
    match state.keyed() {
        // The refusal may be due to what a concurrent retry has written since this one has read.
        Some(request) if response.status().is_client_error() => {
            let answer = state.store(app).answered(request, app.now()).await?;
            Ok(answer.map_or(response, StoredResponse::replayed))
        }
        _ => Ok(response),
    }
}

/// One turn at the work of a request that takes several transactions.
pub struct IdempotentRun {
    /// The table.
    pub store: Store,
    /// The identifiers of all that the request creates; every turn at the same request has the same.
    pub ids: IdBlock,
    /// Whether an earlier turn may have done a part of the work.
    pub is_resumed: bool,
    /// Whether the request has an Idempotency-Key, so that a retry finishes what is left.
    pub is_keyed: bool,
}

impl IdempotentRun {
    /// Commits one transaction of the work.
    pub async fn commit(&self, transaction: Transaction) -> Result<()> {
        self.store.commit(transaction).await
    }
}

/// The outcome of a turn.
pub enum RunResult<R> {
    /// The answer, for good.
    Done(R),
    /// The answer so far; a retry continues.
    Unfinished(R),
}

/// Runs `work`, which takes several transactions, or replays its answer when it is done already.
pub(crate) async fn run_once<F, R>(
    store: Store,
    request: Option<&KeyedRequest>,
    now: DateTime<Utc>,
    work: impl FnOnce(IdempotentRun) -> F,
) -> Result<Response>
where
    F: Future<Output = Result<RunResult<R>>>,
    R: IntoResponse,
{
    let Some(request) = request else {
        let turn = IdempotentRun { ids: store.next_ids(now), is_resumed: false, is_keyed: false, store };
        let (RunResult::Done(answer) | RunResult::Unfinished(answer)) = work(turn).await?;
        return Ok(answer.into_response());
    };
    let (attempt, ids) = match store.begin(request, now).await? {
        LeaseResult::Ours(attempt, ids) => (attempt, ids),
        LeaseResult::Done(answer) => return Ok(answer.replayed()),
    };
    let turn = IdempotentRun { ids, is_resumed: attempt.is_resumed(), is_keyed: true, store: store.clone() };
    let outcome = work(turn).await;
    record(&store, request, (&attempt, ids), outcome, now).await
}

/// Records the outcome of a turn. When that fails the lease runs out, and a retry finds out for itself.
async fn record<R: IntoResponse>(
    store: &Store,
    request: &KeyedRequest,
    (attempt, ids): (&VersionedItem<KeyedAttempt>, IdBlock),
    outcome: Result<RunResult<R>>,
    now: DateTime<Utc>,
) -> Result<Response> {
    let (recorded, result) = match outcome {
        Ok(RunResult::Done(answer)) => {
            let (answer, response) = StoredResponse::of(answer.into_response()).await?;
            (store.finish(request, attempt, &answer).await, Ok(response))
        }
        Ok(RunResult::Unfinished(answer)) => {
            (store.leave(attempt, ids, now).await, Ok(answer.into_response()))
        }
        // A refused request has done nothing that a retry could repeat, and may be corrected under the same key.
        Err(error) if error.status().is_client_error() && !attempt.is_resumed() => {
            (store.forget(attempt).await, Err(error))
        }
        Err(error) => (store.leave(attempt, ids, now).await, Err(error)),
    };
    match recorded {
        Ok(()) | Err(Error::Changed) => {}
        Err(error) => tracing::warn!(target: "idempotency", %error, "an outcome was not recorded"),
    }
    result
}

impl StoredResponse {
    /// The part of a response that can be replayed: its status, its JSON, the address of what it created and its tag.
    pub(crate) async fn of(response: Response) -> Result<(Self, Response)> {
        let (head, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.map_err(Error::internal)?;
        let kept = kept_of(&head.extensions).unwrap_or(&body);
        let text = |name| head.headers.get(name)?.to_str().ok().map(str::to_owned);
        let answer = Self {
            status: head.status.as_u16(),
            location: text(header::LOCATION),
            tag: text(header::ETAG),
            body: String::from_utf8(kept.to_vec()).map_err(Error::internal)?,
        };
        Ok((answer, Response::from_parts(head, Body::from(body))))
    }

    pub(crate) fn status(&self) -> StatusCode {
        // It comes from a response.
        StatusCode::from_u16(self.status).unwrap_or_default()
    }

    pub(crate) fn replayed(self) -> Response {
        let mut response = self.into_response();
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        response
    }
}

impl IntoResponse for StoredResponse {
    fn into_response(self) -> Response {
        let (status, has_body) = (self.status(), !self.body.is_empty());
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = status;
        let value = |text: Option<String>| HeaderValue::from_str(&text?).ok();
        let headers = [(header::LOCATION, value(self.location)), (header::ETAG, value(self.tag))];
        response.headers_mut().extend(headers.into_iter().filter_map(|(name, value)| Some((name, value?))));
        if has_body {
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
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
