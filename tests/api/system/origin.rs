//! A distribution in front of the API: what goes around it is refused.

use serde_json::json;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::http::{Request, Response};

const SECRET: &str = "secret-of-the-distribution-0123456789";
const NEXT: &str = "the-secret-that-takes-its-place-0123456789";

async fn sent(app: &TestApp, path: &str, secret: Option<&str>) -> Response {
    let request = Request::get(path);
    app.send(match secret {
        Some(secret) => request.header("x-origin-secret", secret),
        None => request,
    })
    .await
}

#[tokio::test]
async fn only_requests_with_a_secret_of_the_distribution_are_answered() {
    let app = TestApp::start_with(&[("ORIGIN_SECRETS", &format!("{SECRET},{NEXT}"))]).await;
    for secret in [SECRET, NEXT] {
        assert_eq!(sent(&app, "/openapi.json", Some(secret)).await.status, 200);
        assert_eq!(sent(&app, "/whoami/", Some(secret)).await.status, 401);
    }
    for secret in [None, Some(""), Some("guess"), Some(&SECRET[1..]), Some(&*format!("{SECRET},{NEXT}"))] {
        for path in ["/openapi.json", "/whoami/", "/nothing/", "/companies/acme/projects/"] {
            let refused = sent(&app, path, secret).await;
            let refused = refused;
            assert_refusal!(refused, @r#"403 {"code":"not_public","detail":"This address is not public. Use the base URL of the API."}"#);
            assert!(refused.header("x-request-id").is_some(), "{path}");
        }
    }
}

#[tokio::test]
async fn failed_logins_count_for_the_viewer_and_not_for_the_distribution() {
    let app = TestApp::start_with(&[("ORIGIN_SECRETS", SECRET)]).await;
    let log_in = async |forwarded: &str| {
        let login = json!({ "company": "acme", "username": "owner", "password": "wrong horse battery" });
        let request = Request::post("/api-token-auth/").json(&login).header("x-origin-secret", SECRET);
        app.send(request.header("x-forwarded-for", forwarded).from_source("192.0.2.1")).await
    };
    for n in 0..10 {
        let forged = format!("198.51.100.{n}, 203.0.113.7");
        log_in(&forged).await.expect_code(401, "invalid_credentials");
    }
    assert_refusal!(log_in("203.0.113.7").await, @r#"429 {"code":"throttled","detail":"Too many attempts. Try again after the seconds in `Retry-After`."}"#);
    log_in("203.0.113.8").await.expect_code(401, "invalid_credentials");
}

#[tokio::test]
async fn without_a_secret_all_requests_are() {
    let app = TestApp::start().await;
    assert_eq!(sent(&app, "/openapi.json", None).await.status, 200);
    assert_eq!(sent(&app, "/whoami/", Some("any")).await.status, 401);
}
