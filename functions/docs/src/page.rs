//! GET /docs/.

use axum::http::HeaderValue;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::Response;
use shared::Result;
use shared::http::{CACHE_SHORTLY, FileReader, PackedFile};

use crate::packed;

/// The page's addresses are whole paths, so that it is the same without the final slash: a gateway may lead from the one form to
/// the other.
static PAGE: PackedFile = packed!("index.html", "text/html; charset=utf-8");

/// The content security policy of the page: it may run and show files of this service, show its empty icon, and call the API.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// GET /docs/.
pub(crate) async fn show(reader: FileReader) -> Result<Response> {
    let mut response = PAGE.send(&reader, CACHE_SHORTLY)?;
    // The page holds tokens that a reader tries requests with.
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    Ok(response)
}
