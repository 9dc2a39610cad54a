//! Turns events of API Gateway (payload format 2.0) into HTTP requests.

use axum::body::{Body, Bytes};
use axum::http::{Request, Uri, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lambda_http::aws_lambda_events::apigw::ApiGatewayV2httpRequest;
use lambda_http::request::LambdaRequest;
use lambda_http::{Adapter, LambdaEvent};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Serialize;
use serde_json::value::RawValue;
use tower::{BoxError, Service, ServiceExt};

use crate::http::serve::routes::HttpService;

/// The ASCII characters that a query must escape.
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>');
/// The ASCII characters that a path must escape.
const PATH: &AsciiSet = &QUERY.add(b'?').add(b'\\').add(b'^').add(b'`').add(b'{').add(b'|').add(b'}');

/// Answers an event with `service`.
pub async fn answer(
    service: HttpService,
    event: LambdaEvent<Box<RawValue>>,
) -> Result<impl Serialize + Send + Sync + 'static, BoxError> {
    // Parse here, inside the handler: parsing may panic, and here the runtime reports the panic and continues.
    let mut event_request: ApiGatewayV2httpRequest = serde_json::from_str(event.payload.get())?;
    // Take URL and body from the event, because `lambda_http` panics if the URL has invalid characters, an invalid host
    // or is too long.
    let uri = take_uri(&mut event_request);
    let body = event_request.body.take().unwrap_or_default();
    let body: Bytes =
        if event_request.is_base64_encoded { STANDARD.decode(body)? } else { body.into_bytes() }.into();
    let service = service.ready_oneshot().await?;
    let service = service.map_request(move |request: lambda_http::Request| {
        let mut request: Request<Body> = request.map(|_| Body::from(body.clone()));
        *request.uri_mut() = uri.clone();
        request
    });
    let event = LambdaEvent::new(LambdaRequest::ApiGatewayV2(event_request), event.context);
    // Two statements, because the adapter is not `Send` and must be dropped before the `await`.
    let answer = Adapter::from(service).call(event);
    Ok(answer.await?)
}

/// Path and query as the client sent them. A URL that is too long, which the gateway never sends, becomes the root,
/// which returns 404.
fn take_uri(event: &mut ApiGatewayV2httpRequest) -> Uri {
    let path = event.raw_path.replace("/".to_owned()).unwrap_or_default();
    let query = event.raw_query_string.take().filter(|query| !query.is_empty());
    // `lambda_http` would build the URL from these, and a Host header could replace the path.
    event.headers.remove(header::HOST);
    event.request_context.domain_name = None;
    let path = path.strip_prefix('/').unwrap_or(&path);
    let path = utf8_percent_encode(path, PATH);
    let uri = match query {
        Some(query) => format!("/{path}?{}", utf8_percent_encode(&query, QUERY)),
        None => format!("/{path}"),
    };
    uri.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(path: &str, query: &str) -> String {
        let mut event = ApiGatewayV2httpRequest::default();
        event.raw_path = Some(path.to_owned());
        event.raw_query_string = Some(query.to_owned());
        take_uri(&mut event).to_string()
    }

    #[test]
    fn any_path_and_query_become_an_address() {
        assert_eq!(uri("/api/v3/x/", "a=1&b=%22"), "/api/v3/x/?a=1&b=%22");
        assert_eq!(uri("/a b/\"<ö", "q=\"<\u{0}ö#"), "/a%20b/%22%3C%C3%B6?q=%22%3C%00%C3%B6%23");
        assert_eq!(uri("/a?b#c", ""), "/a%3Fb%23c");
        assert_eq!(uri("//evil.example/../x", ""), "//evil.example/../x");
        assert_eq!(uri("", ""), "/");
        assert_eq!(uri("x", ""), "/x");
        assert_eq!(uri("https://evil.example/", ""), "/https://evil.example/");
        assert_eq!(uri(&format!("/{}", "x".repeat(70_000)), ""), "/");
        for character in '\0'..'\u{400}' {
            let path = format!("/x{character}");
            let query = format!("q={character}");
            assert!(uri(&path, &query).starts_with("/x"), "{character:?}");
        }
    }
}
