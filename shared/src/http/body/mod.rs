//! Bodies of requests: their declared type, and reading up to a length.

pub(super) mod announcement;
pub mod fields;
pub mod import;
pub(super) mod json;
pub(crate) mod known_names;
pub(super) mod multipart;
pub mod oauth;
pub(crate) mod outline;
pub(super) mod retention_rule;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, header};

use crate::error::{Error, Result};

/// The longest body that is held in memory.
// More does not reach a Lambda function.
pub(super) const MAX_BYTES: usize = 6 * 1024 * 1024;

/// The header `Content-Type`; empty if it is no text.
pub(super) fn content_type(request: &Request) -> Option<&str> {
    request.headers().get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default())
}

/// Whether a content type is this one, whatever its parameters.
pub(super) fn is_of_type(content_type: &str, wanted: &str) -> bool {
    content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted)
}

/// Whether a body is declared to be compressed, or in another coding.
pub(super) fn is_coded(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::CONTENT_ENCODING).into_iter();
    let mut codings =
        values.flat_map(|value| value.as_bytes().split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
    codings.any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
}

/// The error about a body, which is its coding if it has one and cannot be read.
pub(super) fn or_coding(error: Error, is_coded: bool) -> Error {
    match error {
        // The coding is refused only now: some clients declare a character set as the coding of plain JSON, which can be read.
        Error::MalformedJson(_) | Error::MalformedForm(_) if is_coded => Error::UnsupportedCoding,
        error => error,
    }
}

pub(super) async fn read_body(body: Body, limit: usize) -> Result<Bytes> {
    // Whatever else may go wrong with a body here, a length is all that is limited.
    axum::body::to_bytes(body, limit).await.map_err(|_| Error::TooLarge)
}
