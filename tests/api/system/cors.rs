//! Pages of other web sites: which may call the API and read what it answers, and which may not.

use axum::http::{HeaderMap, Method};
use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD};
use tests::files::{pdf, send_to};
use tests::http::{Request, Response};

const PAGE: &str = "https://app.example";
const ELSEWHERE: [&str; 5] = [
    "https://evil.example",
    "https://app.example.evil.example",
    "http://app.example",
    "https://app.example:8443",
    "null",
];
const PROJECTS: &str = "/companies/acme/projects/";

async fn sharing() -> TestApp {
    TestApp::start_with(&[("ALLOWED_ORIGINS", "https://other.example,https://app.example")]).await
}

/// The request that a browser sends before the request of a page.
fn preflight(origin: &str, method: &str, headers: &str) -> Request {
    let ask = Request::new(Method::OPTIONS, PROJECTS).header("origin", origin);
    let ask = ask.header("access-control-request-method", method);
    if headers.is_empty() { ask } else { ask.header("access-control-request-headers", headers) }
}

/// The headers by which an answer is shared.
fn shared_by(headers: &HeaderMap) -> Vec<String> {
    let shared = headers.iter().filter(|(name, _)| name.as_str().starts_with("access-control-"));
    let mut shared: Vec<_> =
        shared.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
    shared.sort_unstable();
    shared
}

#[track_caller]
fn assert_readable(response: &Response, origin: &str) {
    let expected = [
        "access-control-allow-credentials: true".to_owned(),
        format!("access-control-allow-origin: {origin}"),
        "access-control-expose-headers: etag,idempotent-replayed,location,retry-after,x-request-id"
            .to_owned(),
    ];
    assert_eq!(shared_by(&response.headers), expected, "{response}");
}

#[track_caller]
fn assert_unreadable(response: &Response) {
    assert_eq!(shared_by(&response.headers), [""; 0], "{response}");
}

#[tokio::test]
async fn a_preflight_response_lists_allowed_methods_and_headers() {
    let app = sharing().await;
    for origin in ["https://other.example", PAGE] {
        for (method, headers) in [
            ("GET", "authorization"),
            ("POST", "authorization,content-type,idempotency-key"),
            ("PUT", "Authorization, Content-Type, If-Match"),
            ("PATCH", "authorization,content-type,if-match"),
            ("DELETE", "authorization,if-match"),
            ("HEAD", "authorization,if-none-match"),
            ("POST", ""),
        ] {
            let answer = app.send(preflight(origin, method, headers)).await.expect(204);
            let expected = [
                "access-control-allow-credentials: true".to_owned(),
                "access-control-allow-headers: authorization,content-type,idempotency-key,if-match,if-none-match"
                    .to_owned(),
                "access-control-allow-methods: GET,HEAD,POST,PUT,PATCH,DELETE".to_owned(),
                format!("access-control-allow-origin: {origin}"),
                "access-control-max-age: 3600".to_owned(),
            ];
            assert_eq!(shared_by(&answer.headers), expected, "{method} {headers}");
            assert!(answer.body.is_empty());
        }
    }
}

#[tokio::test]
async fn other_pages_methods_and_headers_are_not_allowed() {
    let app = sharing().await;
    let foreign = ELSEWHERE.map(|origin| preflight(origin, "GET", "authorization"));
    let unknown =
        [preflight(PAGE, "TRACE", ""), preflight(PAGE, "patch", ""), preflight(PAGE, "GET", "x-else")];
    for request in foreign.into_iter().chain(unknown) {
        assert_unreadable(&app.send(request).await.expect(204));
    }
    // That is no question of a browser's, and OPTIONS no method of the API's.
    assert_eq!(app.send(Request::new(Method::OPTIONS, PROJECTS)).await.status, 405);
}

#[tokio::test]
async fn answers_are_readable_by_allowed_pages_alone() {
    let app = sharing().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let read = || Request::get(&project);
    let answer = owner.send(read().header("origin", PAGE)).await.expect(200);
    assert_readable(&answer, PAGE);
    assert_eq!(answer.header("vary"), Some("origin"));
    for origin in ELSEWHERE {
        let answer = owner.send(read().header("origin", origin)).await.expect(200);
        assert_unreadable(&answer);
        assert_eq!(answer.header("vary"), Some("origin"));
    }
    assert_unreadable(&owner.send(read()).await.expect(200));
    let packed = owner.get("/openapi.json").await.expect(200);
    assert_eq!(packed.header("vary"), Some("Accept-Encoding, origin"));
}

#[tokio::test]
async fn failures_are_readable_as_well() {
    let app = sharing().await;
    let owner = app.owner().await;
    let (project, label) = (owner.project(json!({})).await, owner.label("Senior").await);
    let huge = |bytes: usize| Request::post(PROJECTS).body("application/json", vec![b' '; bytes]);
    for (request, status) in [
        (Request::post(PROJECTS).json(&json!({})), 400),
        (Request::get("/companies/other/"), 404),
        (Request::get("/nothing/"), 404),
        (Request::delete(PROJECTS), 405),
        (Request::patch(&project).header("if-match", "\"7-x\"").json(&json!({ "name": "X" })), 412),
        (Request::get(&label).header("if-none-match", "*"), 304),
        (huge(2 << 20), 413),
        // The gateway's own answer.
        (huge(11 << 20), 413),
        (Request::post(PROJECTS).body("text/plain", "x"), 415),
    ] {
        assert_readable(&owner.send(request.header("origin", PAGE)).await.expect(status), PAGE);
    }
    let stranger = Request::get(PROJECTS).header("origin", PAGE);
    assert_readable(&app.send(stranger).await.expect(401), PAGE);
}

#[tokio::test]
async fn response_headers_are_exposed_to_allowed_pages() {
    let app = sharing().await;
    let owner = app.owner().await;
    let create = || {
        let create = Request::post(PROJECTS).json(&json!({ "name": "Once" }));
        create.header("idempotency-key", "k").header("origin", PAGE)
    };
    owner.send(create()).await.expect(201);
    let created = owner.send(create()).await.expect(201);
    let read =
        owner.send(Request::get(&created.uri("resource_uri")).header("origin", PAGE)).await.expect(200);
    let exposed = created.header("access-control-expose-headers").unwrap();
    for (answer, name) in [
        (&created, "location"),
        (&created, "idempotent-replayed"),
        (&created, "x-request-id"),
        (&read, "etag"),
    ] {
        assert!(answer.header(name).is_some(), "{name}: {answer}");
        assert!(exposed.split(',').any(|one| one == name), "{name}");
    }
}

#[tokio::test]
async fn without_origins_there_is_nothing_of_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let asked = app.send(preflight(PAGE, "GET", "authorization")).await.expect(405);
    let read = owner.send(Request::get(PROJECTS).header("origin", PAGE)).await.expect(200);
    for answer in [asked, read] {
        assert_unreadable(&answer);
        assert_eq!(answer.header("vary"), None);
    }
}

/// The origins that may read what the cookie leads to are those that may act by it.
#[tokio::test]
async fn a_session_serves_allowed_pages_alone() {
    let app = sharing().await;
    app.owner().await;
    let login = json!({ "company": "acme", "username": "owner", "password": PASSWORD });
    let log_in = |origin: &str| {
        let request = Request::post("/api-session-auth/").json(&login).header("sec-fetch-site", "same-site");
        request.header("origin", origin)
    };
    let session = app.send(log_in(PAGE)).await.expect(200);
    assert_readable(&session, PAGE);
    let cookie = session.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let create = |origin: &str| {
        let create = Request::post(PROJECTS).json(&json!({ "name": "From a page" })).header("origin", origin);
        create.header("cookie", &cookie).header("sec-fetch-site", "same-site")
    };
    assert_readable(&app.send(create(PAGE)).await.expect(201), PAGE);
    for origin in ELSEWHERE {
        assert_unreadable(&app.send(log_in(origin)).await.expect_code(403, "csrf"));
        assert_unreadable(&app.send(create(origin)).await.expect_code(403, "csrf"));
    }
}

#[tokio::test]
async fn the_bucket_takes_files_from_allowed_pages_alone() {
    let app = sharing().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let cv = pdf(1000);
    let announcement = json!({ "field": "cv", "content_type": "application/pdf", "size": cv.len() });
    let announced = owner.post(&format!("{candidate}uploads/"), announcement).await.expect(201).json();
    let url = announced["upload"]["url"].as_str().unwrap();
    let ask = |origin: &'static str, method: &'static str| {
        [
            ("origin", origin),
            ("access-control-request-method", method),
            ("access-control-request-headers", "content-type"),
        ]
    };
    for (origin, method, status) in [(PAGE, "PUT", 200), (PAGE, "DELETE", 403), (ELSEWHERE[0], "PUT", 403)] {
        let answer = send_to(Method::OPTIONS, url, &ask(origin, method), Vec::new()).await;
        assert_eq!(answer.status, status, "{origin} {method}");
        let shared = shared_by(&answer.headers);
        assert_eq!(
            shared.iter().any(|line| line.ends_with(&format!("origin: {PAGE}"))),
            status == 200,
            "{shared:?}"
        );
    }
    let length = cv.len().to_string();
    let headers = [("content-type", "application/pdf"), ("content-length", length.as_str())];
    let from = |origin| [&headers[..], &[("origin", origin)]].concat();
    let answer = send_to(Method::PUT, url, &from(PAGE), cv.clone()).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), PAGE);
    assert!(
        answer.header("access-control-expose-headers").contains("ETag") && !answer.header("etag").is_empty()
    );
    let answer = send_to(Method::PUT, url, &from(ELSEWHERE[0]), cv).await;
    assert_eq!(shared_by(&answer.headers), [""; 0]);
}
