//! Keeps other web sites from acting with a visitor's session cookie.

use axum::http::header::ORIGIN;
use axum::http::{HeaderMap, HeaderValue};

use crate::config::Config;
use crate::domain::Refusal;
use crate::error::{Error, Result};

const REFUSED: Refusal = Refusal {
    code: "csrf",
    detail: "This origin may not use the session cookie. Send a token, or ask the operator to allow the origin.",
};

/// Checks that a request that acts by the session cookie comes from the service's own origin, from a configured one, or
/// from no web page.
///
/// Browsers send `Sec-Fetch-Site`, older ones `Origin`, and no page can forge either. A request with neither was not sent
/// by a browser, so no other page can have sent it.
pub(super) fn check(headers: &HeaderMap, config: &Config) -> Result<()> {
    let own = config.base_url.origin().ascii_serialization();
    let is_allowed = |origin: &[u8]| {
        let mut allowed = config.allowed_origins.iter().chain([&own]);
        allowed.any(|allowed| allowed.as_bytes() == origin)
    };
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let origin = headers.get(ORIGIN).map(HeaderValue::as_bytes);
    let passes = match (site, origin) {
        // Every current browser sends one of the two with unsafe methods, so without both it was no browser.
        (Some(b"same-origin" | b"none"), _) | (None, None) => true,
        (_, Some(origin)) => is_allowed(origin),
        (Some(_), None) => false,
    };
    if passes { Ok(()) } else { Err(Error::Forbidden(REFUSED)) }
}
