//! Keeps other web sites from acting with a visitor's session cookie.

use axum::http::HeaderMap;
use axum::http::header::ORIGIN;

use crate::config::Config;
use crate::domain::Refusal;
use crate::error::{Error, Result};

const REFUSED: Refusal = Refusal {
    code: "csrf",
    detail: "This request does not come from a web site that may use the session cookie.",
};

/// Lets a request that acts by cookie pass only from our own origin, one of the configured ones, or no web site at all.
///
/// Browsers say where a request comes from in `Sec-Fetch-Site`, older ones in `Origin`, and no page can forge either.
///
/// # Errors
/// [`Error::Forbidden`].
pub(super) fn check(headers: &HeaderMap, config: &Config) -> Result<()> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if matches!(text("sec-fetch-site"), Some("same-origin" | "none")) {
        return Ok(());
    }
    let own = config.base_url.origin().ascii_serialization();
    let allowed = text(ORIGIN.as_str()).is_some_and(|origin| {
        origin == own || config.allowed_origins.iter().any(|allowed| allowed == origin)
    });
    if allowed { Ok(()) } else { Err(Error::Forbidden(REFUSED)) }
}
