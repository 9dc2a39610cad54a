//! Responses of DynamoDB, SES and S3 to requests that they refuse.

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Method, Response, StatusCode, header, request};
use serde_json::{Value, json};

/// The response to a transaction that is cancelled because another one uses its items.
pub(crate) fn conflict(request: &Bytes) -> Response<Body> {
    let request: Value = serde_json::from_slice(request).unwrap_or_default();
    let count = request["TransactItems"].as_array().map_or(0, Vec::len);
    let mut reasons = vec![json!({ "Code": "None" }); count];
    if let Some(last) = reasons.last_mut() {
        let message = "Transaction is ongoing for the item";
        *last = json!({ "Code": "TransactionConflict", "Message": message });
    }
    let message = "Transaction cancelled, please refer cancellation reasons for specific reasons";
    error("TransactionCanceledException", json!({ "Message": message, "CancellationReasons": reasons }))
}

/// An error response of DynamoDB.
pub(crate) fn error(kind: &str, mut body: Value) -> Response<Body> {
    body["__type"] = format!("com.amazonaws.dynamodb.v20120810#{kind}").into();
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    let json = HeaderValue::from_static("application/x-amz-json-1.0");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// An error response of SES or S3, depending on the request.
pub(crate) fn refusal(head: &request::Parts, code: &str) -> Response<Body> {
    // Only SES receives forms.
    let is_for_ses = head.method == Method::POST;
    let error = format!("<Error><Type>Sender</Type><Code>{code}</Code></Error>");
    let body = if is_for_ses { format!("<ErrorResponse>{error}</ErrorResponse>") } else { error };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = match code {
        "InternalFailure" => StatusCode::INTERNAL_SERVER_ERROR,
        "AccessDenied" => StatusCode::FORBIDDEN,
        _ => StatusCode::BAD_REQUEST,
    };
    response
}
