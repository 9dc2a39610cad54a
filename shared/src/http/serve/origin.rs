//! Refuses requests that have gone around the distribution in front of the API, and so around its web ACL.

use axum::extract::{Request, State};
use axum::http::HeaderName;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::domain::Refusal;
use crate::error::Error;

/// The distribution sends its secret in this header, which replaces a client's header of this name.
const ORIGIN_SECRET: HeaderName = HeaderName::from_static("x-origin-secret");

const NOT_PUBLIC: Refusal =
    Refusal { code: "not_public", detail: "This address is not public. Use the base URL of the API." };

/// Admits a request with one of the deployment's secrets; any request if there are no secrets.
pub(in crate::http) async fn admit(State(app): State<App>, request: Request, next: Next) -> Response {
    // HTTP APIs have no web ACL and no resource policy of their own, and an authorizer would be one more function in
    // front of all routes.
    let sent = request.headers().get(ORIGIN_SECRET);
    if app.config().origin_secrets.admit(sent.map(|secret| secret.as_bytes())) {
        next.run(request).await
    } else {
        Error::Forbidden(NOT_PUBLIC).into_response()
    }
}
