//! Events of API Gateway, in payload format 2.0, as HTTP requests.

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

/// The characters that a query must escape, besides controls and what is not ASCII.
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>');
/// The characters that a path must escape.
const PATH: &AsciiSet = &QUERY.add(b'?').add(b'\\').add(b'^').add(b'`').add(b'{').add(b'|').add(b'}');

/// The answer of `service` to an event.
pub async fn answer(
    service: HttpService,
    event: LambdaEvent<Box<RawValue>>,
) -> Result<impl Serialize + Send + Sync + 'static, BoxError> {
    // The event comes unparsed: parsing may panic, and inside the handler the runtime reports a panic and goes on.
    let mut event_request: ApiGatewayV2httpRequest = serde_json::from_str(event.payload.get())?;
    // Address and body come from the event, because the conversion of `lambda_http` panics over characters, hosts and
    // lengths that no URL may have.
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
    // The call has two steps: the adapter is not `Send`, and would be kept while waiting.
    let answer = Adapter::from(service).call(event);
    Ok(answer.await?)
}

/// Path and query as the client sent them. An address longer than any that the gateway passes on becomes the root, where
/// nothing is found.
fn take_uri(event: &mut ApiGatewayV2httpRequest) -> Uri {
    let path = event.raw_path.replace("/".to_owned()).unwrap_or_default();
    let query = event.raw_query_string.take().filter(|query| !query.is_empty());
    // `lambda_http` builds the URL from these: a Host header could replace the path.
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
