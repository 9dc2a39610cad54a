//! Session cookies: how they are set, and that no other web site acts with them.

use serde_json::json;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, PASSWORD};
use tests::http::{Request, Response};

fn login() -> Request {
    let login = json!({ "company": "acme", "username": "owner", "password": PASSWORD });
    Request::post("/api-session-auth/").json(&login)
}

/// A request that acts by cookie, with these headers, on a service with one allowed origin.
async fn by_cookie(app: &TestApp, request: Request, headers: &[(&str, &str)]) -> Response {
    let cookie = app.owner().await.browser().await.cookie;
    let request = request.header("cookie", &format!("sessionid={cookie}"));
    app.send(headers.iter().fold(request, |request, (name, value)| request.header(name, value))).await
}

#[tokio::test]
async fn a_session_login_answers_like_whoami_and_sets_the_cookie() {
    let app = TestApp::start().await;
    app.owner().await;
    let response = app.send(login().header("sec-fetch-site", "same-origin")).await.expect(200);
    let cookie = response.header("set-cookie").unwrap();
    let (secret, attributes) = cookie.strip_prefix("sessionid=").unwrap().split_once(';').unwrap();
    assert_eq!(attributes, " HttpOnly; Secure; SameSite=Lax; Path=/api/v3");
    assert!(!response.json().to_string().contains(secret), "scripts may not read it: {response}");

    let request = Request::get("/whoami/").header("cookie", &format!("sessionid={secret}"));
    let whoami = app.send(request).await.expect(200).json();
    assert_eq!(whoami, response.json());
    assert_eq!(whoami["token"], json!({ "kind": "cookie", "expires_at": "2026-11-08T12:00:00Z" }));
}

#[tokio::test]
async fn only_plain_http_on_this_computer_goes_without_secure() {
    for (base_url, secure) in [
        ("http://localhost:8080/api/v3", false),
        ("http://127.0.0.1:8080/api/v3", false),
        ("http://[::1]:8080/api/v3", false),
        ("https://localhost/api/v3", true),
        ("http://hr.example/api/v3", true),
    ] {
        let app = TestApp::start_with(&[("BASE_URL", base_url)]).await;
        app.owner().await;
        let response = app.send(login().header("sec-fetch-site", "same-origin")).await.expect(200);
        let cookie = response.header("set-cookie").unwrap();
        assert_eq!(cookie.contains("; Secure;"), secure, "{base_url}: {cookie}");
        assert!(cookie.contains("; HttpOnly; "), "{cookie}");
    }
}

/// A situation, the headers that browsers send in it, and whether such a request may use the cookie.
type RequestSituation = (&'static str, &'static [(&'static str, &'static str)], bool);

const ORIGINS: [RequestSituation; 18] = [
    ("no browser", &[], true),
    (
        "a script of our own page",
        &[("sec-fetch-site", "same-origin"), ("origin", "https://hr.example")],
        true,
    ),
    ("our own page without an origin", &[("sec-fetch-site", "same-origin")], true),
    ("a navigation by the address bar", &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")], true),
    ("an allowed site", &[("sec-fetch-site", "cross-site"), ("origin", "https://app.example")], true),
    ("an allowed neighbour", &[("sec-fetch-site", "same-site"), ("origin", "https://app.example")], true),
    ("an old browser on our own page", &[("origin", "https://hr.example")], true),
    ("an old browser on an allowed site", &[("origin", "https://app.example")], true),
    ("a neighbour", &[("sec-fetch-site", "same-site"), ("origin", "https://evil.hr.example")], false),
    ("a neighbour without an origin", &[("sec-fetch-site", "same-site")], false),
    ("another site", &[("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")], false),
    ("another site without an origin", &[("sec-fetch-site", "cross-site")], false),
    (
        "a navigation from another site",
        &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("origin", "null")],
        false,
    ),
    ("an old browser on another site", &[("origin", "https://evil.example")], false),
    (
        "an old browser, by a site that looks like ours",
        &[("origin", "https://hr.example.evil.example")],
        false,
    ),
    ("an old browser, without encryption", &[("origin", "http://hr.example")], false),
    ("an old form post from a page without an origin", &[("origin", "null")], false),
    ("a value that no browser sends", &[("sec-fetch-site", "Same-Origin")], false),
];

#[tokio::test]
async fn only_our_own_pages_and_allowed_origins_change_anything_by_cookie() {
    let app = TestApp::start_with(&[("ALLOWED_ORIGINS", "https://other.example, https://app.example")]).await;
    let project = app.owner().await.project(json!({})).await;
    for (situation, headers, allowed) in ORIGINS {
        let requests = [
            Request::post("/companies/acme/projects/").json(&json!({ "name": "By cookie" })),
            Request::patch(&project).json(&json!({ "name": "Changed" })),
            Request::post("/api-session-invalidate/"),
        ];
        for request in requests {
            let response = by_cookie(&app, request, headers).await;
            match allowed {
                true => assert!(response.status.is_success(), "{situation}: {response}"),
                false => assert_eq!(response.json()["code"], "csrf", "{situation}: {response}"),
            }
        }
    }
}

#[tokio::test]
async fn a_client_that_keeps_cookies_needs_nothing_else() {
    let app = TestApp::start().await;
    app.owner().await;
    let cookie = app.send(login()).await.expect(200).header("set-cookie").unwrap().to_owned();
    let cookie = cookie.split(';').next().unwrap();
    let send = |request: Request| app.send(request.header("cookie", cookie));
    send(Request::post("/companies/acme/labels/").json(&json!({ "text": "Senior" }))).await.expect(201);
    send(Request::post("/api-session-invalidate/")).await.expect(204);
    assert_refusal!(send(Request::get("/whoami/")).await, @r#"401 {"code":"invalid_credential","detail":"The credential is invalid or has expired."}"#);
}

#[tokio::test]
async fn reading_by_cookie_needs_no_origin() {
    let app = TestApp::start().await;
    let headers = [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")];
    by_cookie(&app, Request::get("/companies/acme/"), &headers).await.expect(200);
}

#[tokio::test]
async fn no_other_web_site_logs_a_visitor_in() {
    let app = TestApp::start_with(&[("ALLOWED_ORIGINS", "https://app.example")]).await;
    app.owner().await;
    for (situation, headers, allowed) in ORIGINS {
        let request = headers.iter().fold(login(), |request, (name, value)| request.header(name, value));
        let response = app.send(request).await;
        assert_eq!(response.header("set-cookie").is_some(), allowed, "{situation}: {response}");
        match allowed {
            true => drop(response.expect(200)),
            false => drop(response.expect_code(403, "csrf")),
        }
    }
}

#[tokio::test]
async fn a_token_needs_no_origin() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let request = Request::post("/companies/acme/projects/").json(&json!({ "name": "By token" }));
    owner.send(request.header("origin", "https://evil.example")).await.expect(201);
}

#[tokio::test]
async fn a_header_counts_before_a_cookie() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let cookie = owner.browser().await.cookie;
    let request = Request::get("/whoami/")
        .header("cookie", &format!("sessionid={cookie}"))
        .header("authorization", "Token stale");
    app.send(request).await.expect_code(401, "invalid_credential");
}
