//! Refuses requests that bypass the CloudFront distribution in front of the API, and so its web ACL.

use axum::extract::{Request, State};
use axum::http::HeaderName;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::domain::Refusal;
use crate::error::Error;

/// The header in which the distribution sends its secret, replacing any such header of the client.
const ORIGIN_SECRET: HeaderName = HeaderName::from_static("x-origin-secret");

const NOT_PUBLIC: Refusal =
    Refusal { code: "not_public", detail: "This address is not public. Use the base URL of the API." };

/// Admits requests with one of the deployment's secrets; admits every request if the deployment has no secrets.
pub(in crate::http) async fn admit(State(app): State<App>, request: Request, next: Next) -> Response {
    // HTTP APIs support neither web ACLs nor resource policies, and an authorizer would be one more function in front of all routes.
    let sent = request.headers().get(ORIGIN_SECRET);
    if app.config().origin_secrets.admit(sent.map(|secret| secret.as_bytes())) {
        next.run(request).await
    } else {
        Error::Forbidden(NOT_PUBLIC).into_response()
    }
}
