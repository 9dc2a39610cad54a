//! GET /api/v3/.

use axum::http::HeaderValue;
use axum::http::header::LINK;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use shared::http::wire::Uri;
use shared::http::{CACHE_SHORTLY, FileReader, PackedFile};
use shared::openapi::{DescribeResponse, OperationDoc};
use shared::{Error, Result};

/// The addresses at which the API is described.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Root")]
struct RootView {
    /// The URL of the OpenAPI document.
    #[schemars(example = &"https://interviews.example.com/api/v3/openapi.json")]
    service_desc: Uri,
    /// The URL of the reference, for browsers.
    #[schemars(example = &"https://interviews.example.com/api/v3/docs/")]
    service_doc: Uri,
}

/// A [`RootView`], with a `Link` header for each URL.
pub(crate) struct RootResponse(Response);

impl IntoResponse for RootResponse {
    fn into_response(self) -> Response {
        self.0
    }
}

impl DescribeResponse for RootResponse {
    fn describe(operation: &mut OperationDoc) {
        operation.shows_with_links::<RootView>(
            "The URLs, also as `Link` with the relations `service-desc` and `service-doc` of RFC 8631.",
        );
    }
}

/// GET /api/v3/.
pub(crate) async fn show(reader: FileReader) -> Result<RootResponse> {
    let base = &reader.base_url;
    let view = RootView {
        service_desc: Uri::new(format!("{base}/openapi.json")),
        service_doc: Uri::new(format!("{base}/docs/")),
    };
    let RootView { service_desc, service_doc } = &view;
    let links = format!(
        "<{service_desc}>; rel=\"service-desc\"; type=\"application/json\", <{service_doc}>; rel=\"service-doc\"; type=\"text/html\""
    );
    let links = HeaderValue::try_from(links).map_err(Error::internal)?;
    let content = serde_json::to_vec(&view).map_err(Error::internal)?;
    let file = PackedFile::pack("application/json", &content).map_err(Error::internal)?;
    let mut response = file.send(&reader, CACHE_SHORTLY)?;
    response.headers_mut().insert(LINK, links);
    Ok(RootResponse(response))
}
