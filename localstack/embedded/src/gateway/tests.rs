//! The gateway in front of functions that echo, are slow, or fail.

use std::convert::Infallible;

use lambda_http::request::LambdaRequest;
use serde_json::{Value, json};
use shared::http::HttpService;
use tower::service_fn;
use tower::util::BoxCloneSyncService;

use super::*;
use crate::in_process;

fn template(routes: &[(&str, &str)]) -> Template {
    let mut yaml = String::from("Resources:\n");
    for name in ["Echo", "Slow", "Panic", "Broken", "Huge"] {
        yaml += &format!("  {name}Function: {{Type: AWS::Serverless::Function}}\n");
        yaml += &format!("  {name}Integration:\n    Type: AWS::ApiGatewayV2::Integration\n");
        yaml += &format!("    Properties: {{IntegrationUri: !GetAtt {name}Function.Arn}}\n");
    }
    for (n, (key, function)) in routes.iter().enumerate() {
        yaml += &format!("  Route{n}:\n    Type: AWS::ApiGatewayV2::Route\n    Properties:\n");
        yaml +=
            &format!("      RouteKey: {key}\n      Target: !Sub integrations/${{{function}Integration}}\n");
    }
    Template::parse(&yaml).unwrap()
}

fn function<F>(answer: impl Fn(String) -> F + Clone + Send + Sync + 'static) -> Function
where
    F: Future<Output = String> + Send + 'static,
{
    BoxCloneSyncService::new(service_fn(move |event| {
        let answer = answer(event);
        async { Ok(answer.await) }
    }))
}

fn gateway() -> Gateway {
    let routes = [
        ("ANY /echo/{proxy+}", "Echo"),
        ("GET /slow", "Slow"),
        ("GET /panic", "Panic"),
        ("GET /broken", "Broken"),
        ("GET /huge", "Huge"),
    ];
    let echo = function(async |event| json!({ "statusCode": 200, "body": event }).to_string());
    let slow = function(async |_| {
        #[expect(clippy::disallowed_methods, reason = "a function that exceeds its time")]
        tokio::time::sleep(Duration::from_secs(60)).await;
        String::new()
    });
    let panic = function(async |_| panic!("expected by the test"));
    let broken = function(async |_| "{}".to_owned());
    let huge = function(async |_| json!({ "statusCode": 200, "body": "x".repeat(MAX_PAYLOAD) }).to_string());
    let functions = [("Echo", echo), ("Slow", slow), ("Panic", panic), ("Broken", broken), ("Huge", huge)];
    let functions = functions.map(|(name, function)| (format!("{name}Function"), function)).into();
    Gateway::new(&template(&routes), &functions, &[]).unwrap()
}

async fn call(request: Request<Body>) -> (StatusCode, Value) {
    let response = gateway().call(request).await;
    assert!(response.headers().contains_key("apigw-requestid"));
    let status = response.status();
    let body = body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn a_function_sees_the_request_as_payload_2_0() {
    let request = Request::post("/echo/a%20b/?status=x&tag=1&tag=2%2B")
        .header("host", "localhost:8080")
        .header("cookie", "a=1; b=2")
        .header("accept", "text/html")
        .header("accept", "*/*")
        .header("connection", "keep-alive")
        .header("content-type", "application/json; charset=utf-8")
        .body(Body::from("{\"a\": \"ä\"}"))
        .unwrap();
    let (_, event) = call(request).await;
    assert_eq!(event["version"], "2.0");
    assert_eq!(event["routeKey"], "ANY /echo/{proxy+}");
    assert_eq!(event["rawPath"], "/echo/a%20b/");
    assert_eq!(event["rawQueryString"], "status=x&tag=1&tag=2%2B");
    assert_eq!(event["queryStringParameters"], json!({ "status": "x", "tag": "1,2+" }));
    assert_eq!(event["pathParameters"], json!({ "proxy": "a%20b/" }));
    assert_eq!(event["cookies"], json!(["a=1", "b=2"]));
    assert_eq!(event["headers"]["accept"], "text/html,*/*");
    assert_eq!(event["headers"]["x-forwarded-for"], "127.0.0.1");
    assert_eq!(event["headers"]["x-forwarded-port"], "8080");
    assert_eq!((event["headers"].get("cookie"), event["headers"].get("connection")), (None, None));
    assert_eq!((&event["body"], &event["isBase64Encoded"]), (&json!("{\"a\": \"ä\"}"), &json!(false)));
    assert_eq!(event["requestContext"]["http"]["method"], "POST");
}

#[tokio::test]
async fn a_body_that_is_no_text_travels_in_base64() {
    for (content_type, body) in
        [("multipart/form-data; boundary=b", &b"--b"[..]), ("application/json", b"\xff")]
    {
        let request = Request::post("/echo/x").header("content-type", content_type);
        let (_, event) = call(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(event["isBase64Encoded"], true);
        let request: LambdaRequest = serde_json::from_value(event).unwrap();
        let request: lambda_http::Request = request.into();
        assert_eq!(request.body().as_ref(), body);
    }
}

#[tokio::test(start_paused = true)]
async fn the_gateway_answers_for_itself_where_no_function_does() {
    let get = |path: &str| Request::get(path).body(Body::empty()).unwrap();
    let large = |size| Request::post("/echo/x").body(Body::from(vec![b'x'; size])).unwrap();
    for (request, status, message) in [
        (get("/echo"), StatusCode::NOT_FOUND, "Not Found"),
        (get("/slow"), StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable"),
        (get("/panic"), StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error"),
        (get("/broken"), StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error"),
        (get("/huge"), StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error"),
        (large(MAX_BODY + 1), StatusCode::PAYLOAD_TOO_LARGE, "Request Too Long"),
        (large(5 * 1024 * 1024), StatusCode::PAYLOAD_TOO_LARGE, "Request Too Long"),
    ] {
        assert_eq!(call(request).await, (status, json!({ "message": message })));
    }
    assert_eq!(call(large(4_400_000)).await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_service_in_this_process_is_called_as_in_lambda() {
    let service = service_fn(async |request: Request<Body>| {
        let (head, body) = request.into_parts();
        let body = body::to_bytes(body, usize::MAX).await.unwrap();
        let seen = format!("{} {} {:?} {}", head.method, head.uri, head.headers["cookie"], body.len());
        let response = Response::builder()
            .status(201)
            .header("content-type", "text/plain")
            .header("set-cookie", "a=1")
            .header("set-cookie", "b=2")
            .header("www-authenticate", "Token");
        Ok::<_, Infallible>(response.body(Body::from(seen)).unwrap())
    });
    let functions = HashMap::from([("EchoFunction".to_owned(), in_process(HttpService::new(service)))]);
    let gateway = Gateway::new(&template(&[("$default", "Echo")]), &functions, &[]).unwrap();
    let request = Request::put("/v3/x/?q=1").header("host", "localhost:1").header("cookie", "s=1; t=2");
    let response = gateway.call(request.body(Body::from(vec![0xff; 3])).unwrap()).await;

    assert_eq!(response.status(), StatusCode::CREATED);
    let cookies: Vec<_> = response.headers().get_all("set-cookie").iter().collect();
    assert_eq!(cookies, ["a=1", "b=2"]);
    assert_eq!(response.headers()["www-authenticate"], "Token");
    let body = body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    assert_eq!(body, "PUT /v3/x/?q=1 \"s=1; t=2\" 3");
}

#[tokio::test]
async fn the_gateway_sets_the_cors_headers() {
    let open = function(async |_| {
        json!({ "statusCode": 200, "headers": { "access-control-allow-origin": "*" } }).to_string()
    });
    let functions = HashMap::from([("EchoFunction".to_owned(), open)]);
    let origins = ["https://app.example".to_owned()];
    let gateway = Gateway::new(&template(&[("$default", "Echo")]), &functions, &origins).unwrap();
    for (origin, shared) in [("https://app.example", true), ("https://evil.example", false)] {
        let request = Request::get("/").header("origin", origin).body(Body::empty()).unwrap();
        let response = gateway.call(request).await;
        let told = response.headers().get_all("access-control-allow-origin").iter().collect::<Vec<_>>();
        assert_eq!(told, if shared { vec![origin] } else { vec![] });
    }
}

#[test]
fn a_route_without_its_function_is_an_error() {
    let error = Gateway::new(&template(&[("GET /x", "Echo")]), &HashMap::new(), &[]).err().unwrap();
    assert_eq!(error.to_string(), "GET /x has no function EchoFunction");
}
