//! How long sessions live, and what ends them.

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, PASSWORD};
use tests::http::Request;

#[tokio::test]
async fn a_session_dies_of_two_hours_without_use() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    app.clock().advance(TimeDelta::minutes(120) - TimeDelta::seconds(1));
    let late = owner.new_token().await;
    app.clock().advance(TimeDelta::seconds(1));
    owner.get("/whoami/").await.expect_code(401, "invalid_credential");
    late.get("/whoami/").await.expect(200);
}

#[tokio::test]
async fn use_keeps_a_session_alive() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for expires_at in ["2026-11-08T13:59:00Z", "2026-11-08T15:58:00Z", "2026-11-08T17:57:00Z"] {
        app.clock().advance(TimeDelta::minutes(119));
        let whoami = owner.get("/whoami/").await.expect(200).json();
        assert_eq!(whoami["token"]["expires_at"], expires_at);
    }
    app.clock().advance(TimeDelta::minutes(120));
    owner.get("/whoami/").await.expect(401);
}

#[tokio::test]
async fn use_of_any_part_of_the_service_keeps_a_session_alive() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for path in ["", "customers/", "projects/", "videos/", "search/?q=ada", "events/"] {
        app.clock().advance(TimeDelta::minutes(119));
        owner.get(&format!("/companies/acme/{path}")).await.expect(200);
    }
}

#[tokio::test]
async fn use_is_noted_once_in_a_tenth_of_the_idle_period() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for (minutes, calls, units) in [(11, 1, 0.0), (1, 2, 1.0), (0, 1, 0.0), (11, 1, 0.0), (1, 2, 1.0)] {
        app.clock().advance(TimeDelta::minutes(minutes));
        let log = owner.get("/companies/acme/").await.expect(200).log();
        assert_eq!((log.dynamodb_calls, log.write_units), (calls, units), "{minutes} min later: {log:?}");
    }
}

#[tokio::test]
async fn however_busy_a_session_ends_after_thirty_days() {
    let app = TestApp::start_with(&[("SESSION_IDLE_MINUTES", "1440")]).await;
    let owner = app.owner().await;
    let (step, days) = (TimeDelta::hours(23), TimeDelta::days(30));
    let mut age = TimeDelta::zero();
    while age + step < days {
        app.clock().advance(step);
        age += step;
        owner.get("/whoami/").await.expect(200);
    }
    let whoami = owner.get("/whoami/").await.expect(200).json();
    assert_eq!(whoami["token"]["expires_at"], "2026-12-08T10:00:00Z");
    app.clock().advance(days - age);
    owner.get("/whoami/").await.expect_code(401, "invalid_credential");
}

#[tokio::test]
async fn an_extended_token_knows_no_inactivity_and_its_last_day() {
    let app = TestApp::start().await;
    app.owner().await;
    let login = json!({
        "company": "acme", "username": "owner", "password": PASSWORD, "extended_expiration_period": 3,
    });
    let token = app.anonymous().post("/api-token-auth/", login).await.expect(200).uri("token");
    let token = app.token(&token);
    app.clock().advance(TimeDelta::days(3) - TimeDelta::seconds(1));
    assert_eq!(token.get("/whoami/").await.expect(200).log().write_units, 0.0, "its use need not be noted");
    app.clock().advance(TimeDelta::seconds(1));
    token.get("/whoami/").await.expect_code(401, "invalid_credential");
}

#[tokio::test]
async fn an_invalidated_token_is_refused_from_the_next_request_on() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let token = owner.new_token().await;
    let sessions = app.table().sessions().await;

    let response = token.send(Request::post("/api-token-invalidate/")).await.expect(204);
    assert!(response.body.is_empty());
    token.get("/whoami/").await.expect_code(401, "invalid_credential");
    token.send(Request::post("/api-token-invalidate/")).await.expect_code(401, "invalid_credential");
    owner.get("/whoami/").await.expect(200);
    assert_eq!(app.table().sessions().await, sessions - 1);
}

#[tokio::test]
async fn a_session_is_invalidated_together_with_its_cookie() {
    let app = TestApp::start().await;
    let browser = app.owner().await.browser().await;
    let response = browser.send(Request::post("/api-session-invalidate/")).await.expect(204);
    let cleared = "sessionid=; Max-Age=0; HttpOnly; Secure; SameSite=Lax; Path=/api/v3";
    assert_eq!(response.header("set-cookie"), Some(cleared));
    browser.get("/whoami/").await.expect_code(401, "invalid_credential");
}

#[tokio::test]
async fn invalidation_takes_post_only() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for path in
        ["/api-token-invalidate/", "/api-session-invalidate/", "/api-token-auth/", "/api-session-auth/"]
    {
        for request in [Request::get(path), Request::delete(path), Request::patch(path)] {
            let response = owner.send(request).await;
            assert_refusal!(response, @r#"405 {"code":"method_not_allowed","detail":"Method not allowed. The `Allow` header lists the methods of this path."}"#);
            assert_eq!(response.header("allow"), Some("POST"), "{response}");
        }
    }
    owner.get("/whoami/").await.expect(200);
}

#[tokio::test]
async fn deactivation_and_a_new_session_epoch_end_every_session() {
    let app = TestApp::start().await;
    for (attribute, value) in
        [("is_active", AttributeValue::Bool(false)), ("session_epoch", AttributeValue::N("1".to_owned()))]
    {
        let staff = app.staff("admin").await;
        let browser = staff.browser().await;
        app.table().set_customer(&staff.uri, attribute, value).await;
        staff.get("/whoami/").await.expect_code(401, "invalid_credential");
        browser.get("/whoami/").await.expect_code(401, "invalid_credential");
    }
}

#[tokio::test]
async fn a_user_may_have_many_sessions() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (first, second) = (owner.new_token().await, owner.new_token().await);
    assert_ne!(first.secret, second.secret);
    first.send(Request::post("/api-token-invalidate/")).await.expect(204);
    second.get("/whoami/").await.expect(200);
}
