//! The types of responses, and the conversion of responses to and from their stored form.

use std::marker::PhantomData;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::{Extensions, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::http::exchange::tag::EntityTag;
use crate::store::StoredResponse;

/// 201 with the view of the created resource. Its `resource_uri` is the `Location`.
pub struct Created<T>(pub T);

/// The `resource_uri` of a view, for reading it back from JSON.
#[derive(Deserialize)]
pub(in crate::http) struct UriRow {
    pub(in crate::http) resource_uri: String,
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        located(StatusCode::CREATED, &self.0)
    }
}

/// 202 with the view of a resource whose work is not done yet. Its `resource_uri` is the `Location`.
pub struct Requested<T>(pub T);

impl<T: Serialize> IntoResponse for Requested<T> {
    fn into_response(self) -> Response {
        located(StatusCode::ACCEPTED, &self.0)
    }
}

fn located(status: StatusCode, view: &impl Serialize) -> Response {
    let body = match serde_json::to_vec(view) {
        Ok(body) => body,
        Err(error) => return Error::internal(error).into_response(),
    };
    let uri = serde_json::from_slice::<UriRow>(&body).ok().map(|row| row.resource_uri);
    // Always a valid header value: identifiers are visible ASCII.
    let location = uri.and_then(|uri| HeaderValue::from_str(&uri).ok());
    let json = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    let mut response = (status, json, body).into_response();
    response.headers_mut().extend(location.map(|location| (header::LOCATION, location)));
    response
}

/// 201 if the request has created the resource, 200 if it existed.
pub enum CreatedOrUpdated<T> {
    /// The view of the created resource.
    New(T),
    /// The view of the resource that existed.
    Old(T),
}

impl<T: Serialize> IntoResponse for CreatedOrUpdated<T> {
    fn into_response(self) -> Response {
        match self {
            Self::New(view) => Created(view).into_response(),
            Self::Old(view) => Json(view).into_response(),
        }
    }
}

/// A response that shows a secret, and the body without the secret, which is stored and replayed to retries.
pub struct WithSecret<T, K>(pub T, pub K);

impl<T: IntoResponse, K: Serialize> IntoResponse for WithSecret<T, K> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.1) {
            Ok(kept) => {
                let mut response = self.0.into_response();
                // The stored response must not contain the secret.
                response.extensions_mut().insert(StoredBody(kept.into()));
                response
            }
            Err(error) => Error::internal(error).into_response(),
        }
    }
}

#[derive(Clone)]
struct StoredBody(Bytes);

/// The body to store for replays instead of the response's own; `None` unless the response shows a secret.
fn stored_body(extensions: &Extensions) -> Option<&Bytes> {
    extensions.get::<StoredBody>().map(|StoredBody(kept)| kept)
}

/// A response, and the part from which its `ETag` is made: the rest changes without a change of the resource.
pub struct TaggedBy<T, P>(pub T, pub P);

impl<T: IntoResponse, P: Serialize> IntoResponse for TaggedBy<T, P> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.1) {
            Ok(part) => {
                let mut response = self.0.into_response();
                response.extensions_mut().insert(TaggedBody(part.into()));
                response
            }
            Err(error) => Error::internal(error).into_response(),
        }
    }
}

#[derive(Clone)]
struct TaggedBody(Bytes);

/// The body from which the `ETag` is made; `None` if it is the response's own.
pub(crate) fn tagged_body(extensions: &Extensions) -> Option<&Bytes> {
    let part = extensions.get::<TaggedBody>().map(|TaggedBody(part)| part);
    part.or_else(|| stored_body(extensions))
}

/// The response that `commit` or `show` makes from an `R`: it has its `ETag`, and its change is committed.
pub struct CommittedResponse<R> {
    response: Response,
    shows: PhantomData<R>,
}

impl<R> CommittedResponse<R> {
    pub(crate) fn new(response: Response) -> Self {
        Self { response, shows: PhantomData }
    }
}

impl<R> IntoResponse for CommittedResponse<R> {
    fn into_response(self) -> Response {
        self.response
    }
}

/// 200 with a view that browsers save as a file.
pub struct JsonFile<V>(PhantomData<V>);

impl<V> CommittedResponse<Json<V>> {
    pub fn as_file(mut self, name: &str) -> Result<CommittedResponse<JsonFile<V>>> {
        let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
        let headers = self.response.headers_mut();
        headers.insert(header::CONTENT_DISPOSITION, disposition.map_err(Error::internal)?);
        Ok(CommittedResponse::new(self.response))
    }
}

/// 204 without a body.
pub struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// 204 with the `ETag` of the stored value.
pub struct NoContentTagged(pub EntityTag);

impl IntoResponse for NoContentTagged {
    fn into_response(self) -> Response {
        match self.0.value() {
            Ok(tag) => (StatusCode::NO_CONTENT, [(header::ETAG, tag)]).into_response(),
            Err(error) => error.into_response(),
        }
    }
}

/// 202 with a view of the queued work.
pub struct QueuedResponse<T>(pub T);

impl<T: Serialize> IntoResponse for QueuedResponse<T> {
    fn into_response(self) -> Response {
        (StatusCode::ACCEPTED, Json(self.0)).into_response()
    }
}

/// 202 without a body.
pub struct AcceptedResponse;

impl IntoResponse for AcceptedResponse {
    fn into_response(self) -> Response {
        StatusCode::ACCEPTED.into_response()
    }
}

/// The header that marks a replayed response.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

impl StoredResponse {
    /// The parts of a response that are replayed: status, JSON body, `Location` and `ETag`. Also returns the response
    /// itself, because reading consumes its body.
    pub(in crate::http) async fn of(response: Response) -> Result<(Self, Response)> {
        let (head, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.map_err(Error::internal)?;
        let kept = stored_body(&head.extensions).unwrap_or(&body);
        let text = |name| head.headers.get(name)?.to_str().ok().map(str::to_owned);
        let stored = Self {
            status: head.status.as_u16(),
            location: text(header::LOCATION),
            tag: text(header::ETAG),
            body: String::from_utf8(kept.to_vec()).map_err(Error::internal)?,
        };
        Ok((stored, Response::from_parts(head, Body::from(body))))
    }

    pub(in crate::http) fn replay(self) -> Response {
        let mut response = Response::new(Body::empty());
        // Always valid: it was the status of a response.
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or_default();
        let headers = response.headers_mut();
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
        if !self.body.is_empty() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        for (name, text) in [(header::LOCATION, self.location), (header::ETAG, self.tag)] {
            headers
                .extend(text.and_then(|text| HeaderValue::from_str(&text).ok()).map(|value| (name, value)));
        }
        response.map(|_: Body| Body::from(self.body))
    }
}
