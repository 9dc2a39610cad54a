//! The Idempotency-Key header: a request that may be sent again without being done again.

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::json::read_body;
use super::request::RequestState;
use super::respond::Kept;
use super::tag;
use crate::app::App;
use crate::domain::Refusal;
use crate::error::{Error, Result};
use crate::store::{Answer, Held, KeyedRequest, keys};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Says that an answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// The most characters of a key.
const MAX_CHARACTERS: usize = 255;

const INVALID_KEY: Refusal = Refusal {
    code: "invalid_idempotency_key",
    detail: "Send one Idempotency-Key of 1 to 255 visible ASCII characters.",
};

/// The longest body of a request with a key. More does not reach a Lambda function.
const MAX_BYTES: usize = 6 * 1024 * 1024;

/// What names a request, so that a repeat is known.
#[derive(Debug)]
pub(crate) struct Intent {
    /// Method and path.
    route: String,
    /// What its sender calls it.
    key: String,
    /// The hash of its query and body. They may hold what nobody should guess, so that the key is part of it.
    fingerprint: String,
}

impl Intent {
    fn new(parts: &Parts, key: String, body: &[u8]) -> Self {
        let (method, uri) = (&parts.method, &parts.uri);
        let query = uri.query().unwrap_or_default();
        let hash = Sha256::new().chain_update(format!("{key}\n{query}\n")).chain_update(body).finalize();
        Self { route: format!("{method} {}", uri.path()), key, fingerprint: URL_SAFE_NO_PAD.encode(hash) }
    }

    /// The request as one of `sender`.
    pub(crate) fn of(&self, sender: &str) -> KeyedRequest {
        let id = keys::idempotency_id(sender, &self.route, &self.key);
        KeyedRequest { id, fingerprint: self.fingerprint.clone() }
    }
}

/// How a POST does what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// By one transaction, which waits for the answer so that this is noted in it.
    Whole,
    /// By several; the handler says what it does once.
    InSteps,
    /// By what may be done again: its answer is not kept.
    Repeatable,
}

/// Answers a POST: once, if its sender names it by a key.
///
/// After the guard has let the caller in, nothing more is done for a request that was answered before.
pub(super) async fn post<F>(
    app: &App,
    request: Request,
    form: Form,
    handle: impl FnOnce(Request) -> F,
) -> Result<Response>
where
    F: Future<Output = Response>,
{
    let (parts, mut body) = request.into_parts();
    let state = RequestState::of(&parts);
    if let Some(key) = key_in(&parts.headers)?
        && form != Form::Repeatable
    {
        let bytes = read_body(body, MAX_BYTES).await?;
        state.set_intent(Intent::new(&parts, key, &bytes));
        body = Body::from(bytes);
    }
    let held = (form == Form::Whole).then(|| state.hold());
    let mut response = handle(Request::from_parts(parts, body)).await;
    if response.status() == StatusCode::CREATED {
        response = tag::tagged(app, response, 1).await?;
    }
    match held {
        Some(held) => conclude(app, &state, &held, response).await,
        None => Ok(response),
    }
}

/// Does what the request has held back, and notes its answer.
async fn conclude(app: &App, state: &RequestState, held: &Held, response: Response) -> Result<Response> {
    let (store, now) = (state.store(app), app.now());
    let Some(request) = state.keyed() else {
        if response.status().is_success() {
            store.conclude(held, None, now).await?;
        }
        return Ok(response);
    };
    if response.status().is_client_error() {
        // Perhaps by what the very same request has changed since the guard looked for it.
        let answer = store.answered(request, now).await?;
        return Ok(answer.map_or(response, Answer::replayed));
    }
    if !response.status().is_success() {
        return Ok(response);
    }
    let (answer, response) = Answer::of(response).await?;
    let earlier = store.conclude(held, Some((request, &answer)), now).await?;
    Ok(earlier.map_or(response, Answer::replayed))
}

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

impl Answer {
    /// What can be given again of a response: its status, its JSON, the address of what it created and its tag.
    pub(crate) async fn of(response: Response) -> Result<(Self, Response)> {
        let (head, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.map_err(Error::internal)?;
        let kept = head.extensions.get::<Kept>().map_or(&body, |Kept(kept)| kept);
        let text = |name| head.headers.get(name)?.to_str().ok().map(str::to_owned);
        let answer = Self {
            status: head.status.as_u16(),
            location: text(header::LOCATION),
            tag: text(header::ETAG),
            body: String::from_utf8(kept.to_vec()).map_err(Error::internal)?,
        };
        Ok((answer, Response::from_parts(head, Body::from(body))))
    }

    /// The HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        // It was that of a response before.
        StatusCode::from_u16(self.status).unwrap_or_default()
    }

    /// The answer, given once more.
    pub(crate) fn replayed(self) -> Response {
        let mut response = self.into_response();
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        response
    }
}

impl IntoResponse for Answer {
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
