//! One request and its answer over a connection of their own.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::RETRY_AFTER;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use shared::domain::webhook::{DeliveryError, EndpointResponse};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout_at};
use url::Position;

use super::OutgoingMessage;

const USER_AGENT: &str = "interview-service/3";

/// The longest head of an answer.
// An endpoint is not trusted: without limits, its answers could fill the memory.
const MAX_HEAD: usize = 16 * 1024;
/// How much is read of the body of an answer before the connection is closed.
const MAX_BODY: usize = 16 * 1024;
/// How much is kept of the body.
const MAX_KEPT: usize = 512;

/// Sends `message` and reads the answer, its body for `body_time` at most. Dropping the future closes the connection.
pub(super) async fn post<S>(
    stream: S,
    message: &OutgoingMessage,
    deadline: Instant,
    body_time: Duration,
) -> Result<EndpointResponse, DeliveryError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut client = http1::Builder::new();
    let handshake = timeout_at(deadline, client.max_buf_size(MAX_HEAD).handshake(TokioIo::new(stream))).await;
    let handshake = handshake.map_err(|_| DeliveryError::Timeout)?;
    let (mut sender, connection) = handshake.map_err(|_| DeliveryError::Connection)?;
    let request = request(message)?;
    let answer = pin!(async move {
        let response = timeout_at(deadline, sender.send_request(request)).await;
        let response = response.map_err(|_| DeliveryError::Timeout)?.map_err(error_of)?;
        Ok(read(response, Instant::now() + body_time).await)
    });
    match select(answer, pin!(connection)).await {
        Either::Left((answer, _)) => answer,
        // The connection has ended, and with it what is left to read.
        Either::Right((_, answer)) => answer.await,
    }
}

fn request(message: &OutgoingMessage) -> Result<Request<String>, DeliveryError> {
    let OutgoingMessage { url, id, timestamp, signature, body } = message;
    // Path and host apart: hyper's client for a connection sends the URL as it is given, and servers expect the path.
    let request = Request::post(&url[Position::BeforePath..Position::AfterQuery])
        .header("host", &url[Position::BeforeHost..Position::AfterPort])
        .header("content-type", "application/json")
        .header("user-agent", USER_AGENT)
        .header("webhook-id", id)
        .header("webhook-timestamp", *timestamp)
        .header("webhook-signature", signature);
    // Addresses are parsed before they are stored.
    request.body(body.clone()).map_err(|_| DeliveryError::UnknownHost)
}

/// The status decides, so a body that breaks off or does not end in time changes nothing.
async fn read(response: Response<Incoming>, end: Instant) -> EndpointResponse {
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
    // A byte that is not UTF-8 becomes a character of three.
    start.truncate(start.floor_char_boundary(MAX_KEPT));
    let retry_after = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    EndpointResponse { status: head.status.as_u16(), retry_after: retry_after.map(str::to_owned), start }
}

fn error_of(error: hyper::Error) -> DeliveryError {
    if error.is_parse() { DeliveryError::InvalidAnswer } else { DeliveryError::Connection }
}
