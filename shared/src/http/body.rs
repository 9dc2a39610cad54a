//! Bodies of requests: their declared type, and reading up to a length.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header;

use crate::error::{Error, Result};

/// The longest body that is held in memory.
// More does not reach a Lambda function.
pub(super) const MAX_BYTES: usize = 6 * 1024 * 1024;

/// What a request says its body is; empty when that is no text.
pub(super) fn content_type(request: &Request) -> Option<&str> {
    request.headers().get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default())
}

/// Whether a content type is this one, whatever its parameters.
pub(super) fn is_of_type(content_type: &str, wanted: &str) -> bool {
    content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted)
}

pub(super) async fn read_body(body: Body, limit: usize) -> Result<Bytes> {
    // Whatever else may go wrong with a body here, a length is all that is limited.
    axum::body::to_bytes(body, limit).await.map_err(|_| Error::TooLarge)
}
