//! GET /docs/.

use axum::http::HeaderValue;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::Response;
use shared::config::VERSION_PATH;
use shared::{Error, Result};

use crate::assets;
use crate::file::{File, Reader};

/// What the page may do: run and show files of this service, show its empty icon, and call the API.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// GET /docs/. Its addresses are whole paths, so that it is the same without the final slash: a gateway may lead from the
/// one form to the other.
pub(crate) async fn show(reader: Reader) -> Result<Response> {
    let address = |name| assets::address(name).ok_or_else(|| Error::internal(format!("no {name}")));
    let page = format!(
        include_str!("../assets/index.html"),
        version_path = VERSION_PATH,
        reference_css = address("reference.css")?,
        parts_css = address("parts.css")?,
        markdown_js = address("markdown.js")?,
        schema_js = address("schema.js")?,
        samples_js = address("samples.js")?,
        trial_js = address("trial.js")?,
        reference_js = address("reference.js")?,
        navigation_js = address("navigation.js")?,
    );
    let page = File::pack("text/html; charset=utf-8", page.as_bytes()).map_err(Error::internal)?;
    let mut response = page.send(&reader)?;
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    Ok(response)
}
