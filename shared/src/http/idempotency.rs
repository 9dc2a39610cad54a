//! The Idempotency-Key header: a request that may be sent again without being done again.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::body::{MAX_BYTES, read_body};
use super::intent::{Intent, key_in};
use super::respond::Kept;
use super::state::RequestState;
use super::tag;
use crate::app::App;
use crate::error::{Error, Result};
use crate::store::{Answer, Held};

/// Says that an answer was given before.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

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
        state.set_intent(Intent::new(&parts, key, &bytes).await);
        body = Body::from(bytes);
    }
    let held = (form == Form::Whole).then(|| state.hold());
    let mut response = handle(Request::from_parts(parts, body)).await;
    if response.status() == StatusCode::CREATED {
        response = tag::tagged(app, &state, response, 1).await?;
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
