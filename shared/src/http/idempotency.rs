//! The Idempotency-Key header: a request that may be sent again without being done again.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::json::{MAX_LIST_BYTES, read_body};
use crate::app::App;
use crate::domain::Refusal;
use crate::error::{Error, Result};
use crate::store::Answer;

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Says that an answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// The most characters of a key.
const MAX_CHARACTERS: usize = 255;

const INVALID_KEY: Refusal = Refusal {
    code: "invalid_idempotency_key",
    detail: "Send one Idempotency-Key of 1 to 255 visible ASCII characters.",
};

/// A request's body, and what names the request.
pub struct Keyed<B>(pub Intent, pub B);

/// What names a request, so that a repeat is known.
#[derive(Debug)]
pub struct Intent {
    /// Method and path.
    pub(crate) route: String,
    /// What its sender calls it; none when it is never to be known again.
    pub(crate) key: Option<String>,
    /// The hash of its body.
    pub(crate) fingerprint: String,
}

impl<B: FromRequest<App, Rejection = Error>> FromRequest<App> for Keyed<B> {
    type Rejection = Error;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        let (parts, body) = request.into_parts();
        let key = key_in(&parts.headers)?;
        let body = read_body(body, MAX_LIST_BYTES).await?;
        let fingerprint = URL_SAFE_NO_PAD.encode(Sha256::digest(&body));
        let intent = Intent { route: format!("{} {}", parts.method, parts.uri.path()), key, fingerprint };
        Ok(Self(intent, B::from_request(Request::from_parts(parts, Body::from(body)), app).await?))
    }
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
    /// What can be given again of a response: its status, its JSON and the address of what it created.
    pub(crate) async fn of(response: Response) -> Result<Self> {
        let (head, body) = response.into_parts();
        let body: Bytes = axum::body::to_bytes(body, usize::MAX).await.map_err(Error::internal)?;
        let location = head.headers.get(header::LOCATION).and_then(|location| location.to_str().ok());
        Ok(Self {
            status: head.status.as_u16(),
            location: location.map(str::to_owned),
            body: String::from_utf8(body.into()).map_err(Error::internal)?,
        })
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
        let has_body = !self.body.is_empty();
        let mut response = Response::new(Body::from(self.body));
        // Both were part of a response before.
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or_default();
        let location = self.location.and_then(|location| HeaderValue::from_str(&location).ok());
        response.headers_mut().extend(location.map(|location| (header::LOCATION, location)));
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
