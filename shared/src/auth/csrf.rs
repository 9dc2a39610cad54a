//! Keeps other web sites from using a visitor's session cookie.

use axum::http::header::ORIGIN;
use axum::http::{HeaderMap, HeaderValue};

use crate::config::Config;
use crate::domain::Refusal;
use crate::error::{Error, Result};

const REFUSED: Refusal = Refusal {
    code: "csrf",
    detail: "This origin may not use the session cookie. Send a token, or ask the operator to allow the origin.",
};

/// Refuses a request with the session cookie unless it comes from the service's own origin, a configured origin, or no web page.
///
/// With unsafe methods, browsers send `Sec-Fetch-Site` or, if they are older, `Origin`. No page can forge either. A
/// request with neither was not sent by a browser, so no other page can have caused it.
pub(super) fn check(headers: &HeaderMap, config: &Config) -> Result<()> {
    let own = config.base_url.origin().ascii_serialization();
    let mut allowed = config.allowed_origins.iter().chain([&own]);
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let origin = headers.get(ORIGIN).map(HeaderValue::as_bytes);
    let passes = match (site, origin) {
        (Some(b"same-origin" | b"none"), _) | (None, None) => true,
        (_, Some(origin)) => allowed.any(|allowed| allowed.as_bytes() == origin),
        (Some(_), None) => false,
    };
    if passes { Ok(()) } else { Err(Error::Forbidden(REFUSED)) }
}
