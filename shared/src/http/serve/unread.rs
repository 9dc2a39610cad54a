//! Refuses parts of a request that the route does not read.

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::Method;
use axum::http::header::IF_MATCH;

use crate::app::App;
use crate::error::Result;
use crate::http::body::{MAX_BYTES, read_body};
use crate::http::exchange::condition::{IF_MATCH_NOT_SUPPORTED, refuse_if_none_match};
use crate::http::{QueryParameters, WithFiles};

/// The parts of a request that the handler's arguments read. The arguments themselves refuse unknown names in these parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestReads {
    pub(crate) query: bool,
    pub(crate) body: bool,
    /// Whether the request may create the resource that its path names.
    pub(crate) may_create: bool,
}

/// Refuses query parameters, body fields and conditions that would have no effect, because the client may rely on them.
pub(crate) async fn refuse_unread(request: Request, reads: RequestReads, app: &App) -> Result<Request> {
    if !reads.query {
        QueryParameters::refuse_all(request.uri().query())?;
    }
    // By HTTP's rules, the body of a GET is ignored, and so are conditions if the response has no `ETag`.
    if request.method().is_safe() {
        return Ok(request);
    }
    let headers = request.headers();
    refuse_if_none_match(headers, reads.may_create && request.method() == Method::PUT)?;
    // A POST creates a different resource than the one that its path names. For other methods, admission has compared `If-Match`.
    if request.method() == Method::POST && headers.contains_key(IF_MATCH) {
        return Err(IF_MATCH_NOT_SUPPORTED.into());
    }
    // Many clients and proxies add or drop the body of a DELETE.
    if reads.body || request.method() == Method::DELETE {
        return Ok(request);
    }
    let (parts, body) = request.into_parts();
    let body = read_body(body, MAX_BYTES).await?;
    // Some clients send null instead of no body.
    if !body.is_empty() && body != "null" {
        let request = Request::from_parts(parts.clone(), Body::from(body));
        let WithFiles(fields) = WithFiles::from_request(request, app).await?;
        fields.finish(|| Some(()))?;
    }
    Ok(Request::from_parts(parts, Body::empty()))
}
