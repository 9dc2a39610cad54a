//! Request bodies: their declared type and coding, and reading with a size limit.

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

/// The maximum size of a body in bytes.
// Lambda accepts no larger event.
pub(super) const MAX_BYTES: usize = 6 * 1024 * 1024;

/// The header `Content-Type`; empty if it is not visible ASCII.
pub(super) fn content_type(request: &Request) -> Option<&str> {
    request.headers().get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default())
}

/// Compares media types, ignoring parameters and case.
pub(super) fn is_of_type(content_type: &str, wanted: &str) -> bool {
    content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(wanted)
}

/// Whether `Content-Encoding` declares any coding other than `identity`.
pub(super) fn is_coded(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::CONTENT_ENCODING).into_iter();
    let mut codings =
        values.flat_map(|value| value.as_bytes().split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
    codings.any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
}

/// Replaces the error of a malformed body with [`Error::UnsupportedCoding`] if the body declares a coding.
pub(super) fn or_coding(error: Error, is_coded: bool) -> Error {
    match error {
        // A coding alone is no reason to refuse: some clients declare a character set as the coding of plain JSON.
        Error::MalformedJson(_) | Error::MalformedForm(_) if is_coded => Error::UnsupportedCoding,
        error => error,
    }
}

pub(super) async fn read_body(body: Body, limit: usize) -> Result<Bytes> {
    // The body is in memory, so reading can only fail because of its length.
    axum::body::to_bytes(body, limit).await.map_err(|_| Error::TooLarge)
}
