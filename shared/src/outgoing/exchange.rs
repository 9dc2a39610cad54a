//! Sends one request over its own connection and reads the response.

use std::pin::pin;

use futures_util::future::{Either, select};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::RETRY_AFTER;
use hyper::http::request::Builder;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout_at};
use url::{Position, Url};

use super::connect::ByteStream;
use super::{FetchedAnswer, OutgoingMessage};
use crate::domain::outgoing::OutgoingError;
use crate::domain::webhook::EndpointResponse;

const USER_AGENT: &str = "interview-service/3";

/// The maximum size of a response's head in bytes.
// Servers are not trusted: without limits, their responses could fill the memory.
const MAX_HEAD: usize = 16 * 1024;
/// The maximum number of bytes of a webhook's response body that are read before the connection is closed.
const MAX_BODY: usize = 16 * 1024;
/// The maximum number of bytes of a webhook's response body that are kept.
const MAX_KEPT: usize = 512;

/// Sends `request`. Calls `read` once the head of the response has arrived. Dropping the future closes the connection.
pub(super) async fn exchange<T, F>(
    stream: Box<dyn ByteStream>,
    request: Request<String>,
    deadline: Instant,
    read: impl FnOnce(Response<Incoming>) -> F,
) -> Result<T, OutgoingError>
where
    F: Future<Output = Result<T, OutgoingError>>,
{
    let mut client = http1::Builder::new();
    let handshake = timeout_at(deadline, client.max_buf_size(MAX_HEAD).handshake(TokioIo::new(stream))).await;
    let handshake = handshake.map_err(|_| OutgoingError::Timeout)?;
    let (mut sender, connection) = handshake.map_err(|_| OutgoingError::Connection)?;
    let answer = pin!(async move {
        let response = timeout_at(deadline, sender.send_request(request)).await;
        let response =
            response.map_err(|_| OutgoingError::Timeout)?.map_err(|error| match error.is_parse() {
                true => OutgoingError::InvalidAnswer,
                false => OutgoingError::Connection,
            })?;
        read(response).await
    });
    match select(answer, pin!(connection)).await {
        Either::Left((answer, _)) => answer,
        // The connection has ended, so the response is complete or broken off.
        Either::Right((_, answer)) => answer.await,
    }
}

/// A GET request to `url`.
pub(super) fn get_request(url: &Url) -> Result<Request<String>, OutgoingError> {
    let request = to_host(Request::get(target(url)), url).header("accept", "application/json");
    request.body(String::new()).map_err(|_| OutgoingError::UnknownHost)
}

/// A POST request with a form to `url`.
pub(super) fn form_request(
    url: &Url,
    form: String,
    authorization: Option<&str>,
) -> Result<Request<String>, OutgoingError> {
    let mut request = to_host(Request::post(target(url)), url)
        .header("accept", "application/json")
        .header("content-type", "application/x-www-form-urlencoded");
    if let Some(authorization) = authorization {
        request = request.header("authorization", authorization);
    }
    request.body(form).map_err(|_| OutgoingError::UnknownHost)
}

/// The POST request that delivers `message`.
pub(super) fn post_request(message: &OutgoingMessage) -> Result<Request<String>, OutgoingError> {
    let OutgoingMessage { url, id, timestamp, signature, body } = message;
    let request = to_host(Request::post(target(url)), url)
        .header("content-type", "application/json")
        .header("webhook-id", id)
        .header("webhook-timestamp", *timestamp)
        .header("webhook-signature", signature);
    // Cannot fail: URLs are parsed before they are stored.
    request.body(body.clone()).map_err(|_| OutgoingError::UnknownHost)
}

/// Path and query without the host: hyper sends the request target unchanged, and servers expect only the path.
fn target(url: &Url) -> &str {
    &url[Position::BeforePath..Position::AfterQuery]
}

fn to_host(request: Builder, url: &Url) -> Builder {
    let host = &url[Position::BeforeHost..Position::AfterPort];
    request.header("host", host).header("user-agent", USER_AGENT)
}

/// Reads the response of a webhook's endpoint. Only the status matters, so a body that breaks off or takes longer than
/// `end` is no error.
pub(super) async fn read_start(response: Response<Incoming>, end: Instant) -> EndpointResponse {
    let (head, mut body) = response.into_parts();
    let mut kept = Vec::new();
    let mut seen = 0;
    while seen < MAX_BODY {
        let Ok(Some(Ok(frame))) = timeout_at(end, body.frame()).await else { break };
        let Ok(data) = frame.into_data() else { continue };
        seen += data.len();
        kept.extend_from_slice(&data[..data.len().min(MAX_KEPT - kept.len())]);
    }
    let mut start = String::from_utf8_lossy(&kept).into_owned();
    // Truncate again: an invalid byte has become a replacement character of three bytes.
    start.truncate(start.floor_char_boundary(MAX_KEPT));
    let retry_after = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    EndpointResponse { status: head.status.as_u16(), retry_after: retry_after.map(str::to_owned), start }
}

/// Reads a response of at most `most` bytes, which must be complete by `end`.
pub(super) async fn read_whole(
    response: Response<Incoming>,
    most: usize,
    end: Instant,
) -> Result<FetchedAnswer, OutgoingError> {
    let (head, body) = response.into_parts();
    let whole = timeout_at(end, Limited::new(body, most).collect()).await;
    let whole = whole.map_err(|_| OutgoingError::Timeout)?.map_err(|_| OutgoingError::InvalidAnswer)?;
    Ok(FetchedAnswer { status: head.status.as_u16(), body: whole.to_bytes().to_vec() })
}
