//! GET /docs/.

use axum::http::HeaderValue;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::Response;
use shared::Result;
use shared::http::{CACHE_SHORTLY, FileReader, PackedFile};

use crate::packed;

/// URLs in the page are absolute paths, so that the page also works without the final slash: a gateway may redirect
/// either form to the other.
static PAGE: PackedFile = packed!("index.html", "text/html; charset=utf-8");

/// The page's content security policy: run and show this service's files, show its empty icon, and call the API.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// GET /docs/.
pub(crate) async fn show(reader: FileReader) -> Result<Response> {
    let mut response = PAGE.send(&reader, CACHE_SHORTLY)?;
    // The policy protects the tokens that readers enter to try out requests.
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    Ok(response)
}
