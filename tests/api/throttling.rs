//! Too many failures to log in with one name.

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD, Staff};
use tests::http::{Request, Response};
use tokio::task::JoinSet;

const WRONG: &str = "wrong horse battery";

async fn log_in(app: &TestApp, name: &str, password: &str) -> Response {
    app.anonymous().log_in("acme", name, password).await
}

async fn fail(app: &TestApp, name: &str, times: usize) {
    for _ in 0..times {
        log_in(app, name, WRONG).await.expect_code(401, "invalid_credentials");
    }
}

#[track_caller]
fn assert_throttled(response: Response, seconds: &str) -> Vec<u8> {
    let response = response.expect_code(429, "throttled");
    assert_eq!(response.header("retry-after"), Some(seconds), "{response}");
    response.body
}

/// The service with an owner, whose failures so far are none.
async fn given() -> (TestApp, Staff) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    (app, owner)
}

#[tokio::test]
async fn after_ten_failures_even_the_right_password_has_to_wait() {
    let (app, owner) = given().await;
    fail(&app, "owner", 4).await;
    app.clock().advance(TimeDelta::minutes(5));
    fail(&app, " OWNER ", 6).await;
    assert_throttled(log_in(&app, "owner", PASSWORD).await, "600");
    let login = json!({ "company": "acme", "username": "Owner", "password": PASSWORD });
    let session = Request::post("/api-session-auth/").json(&login).header("sec-fetch-site", "none");
    assert_throttled(app.send(session.clone()).await, "600");
    // Being turned away is no failure, and sessions live on.
    app.clock().advance(TimeDelta::minutes(10) - TimeDelta::seconds(1));
    assert_throttled(log_in(&app, "owner", PASSWORD).await, "1");
    owner.get("/whoami/").await.expect(200);
    app.clock().advance(TimeDelta::seconds(1));
    // Four have been forgotten, so that there is room for four.
    fail(&app, "owner", 4).await;
    assert_throttled(log_in(&app, "owner", PASSWORD).await, "300");
    app.clock().advance(TimeDelta::minutes(5));
    app.send(session).await.expect(200);
}

#[tokio::test]
async fn success_forgets_the_failures() {
    let (app, _) = given().await;
    for _ in 0..3 {
        fail(&app, "owner", 9).await;
        log_in(&app, "owner", PASSWORD).await.expect(200);
    }
    fail(&app, "owner", 10).await;
    assert_throttled(log_in(&app, "owner", PASSWORD).await, "900");
    app.table().assert_sound().await;
}

#[tokio::test]
async fn other_names_are_unaffected() {
    let (app, owner) = given().await;
    let stranger = app.owner_of("globex").await;
    let staff = app.staff("recruiter").await;
    fail(&app, "owner", 10).await;
    assert_throttled(log_in(&app, "owner", PASSWORD).await, "900");
    log_in(&app, &owner.email, PASSWORD).await.expect(200);
    log_in(&app, &staff.username, PASSWORD).await.expect(200);
    stranger.new_token().await;
}

#[tokio::test]
async fn nobodys_names_are_throttled_alike() {
    let (app, _) = given().await;
    fail(&app, "owner", 10).await;
    let mut bodies = vec![assert_throttled(log_in(&app, "owner", WRONG).await, "900")];
    for (company, name) in
        [("acme", "nobody"), ("globex", "owner"), ("No Company", "owner"), ("acme", "with space")]
    {
        let attempt = async || app.anonymous().log_in(company, name, WRONG).await;
        for _ in 0..10 {
            attempt().await.expect_code(401, "invalid_credentials");
        }
        let throttled = attempt().await;
        bodies.push(assert_throttled(throttled, "900"));
        app.clock().advance(TimeDelta::minutes(15));
        attempt().await.expect_code(401, "invalid_credentials");
        app.clock().advance(TimeDelta::minutes(-15));
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1);
    app.table().assert_sound().await;
}

#[tokio::test]
async fn candidates_are_throttled_too() {
    let (app, owner) = given().await;
    let candidate = owner.invite(&owner.running_project(json!({})).await, json!({})).await;
    candidate.choose_password().await;
    fail(&app, &candidate.email, 10).await;
    assert_throttled(log_in(&app, &candidate.email, PASSWORD).await, "900");
    candidate.get("/whoami/").await.expect(200);
    app.table().assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_thirty_attempts_at_once_ten_are_made() {
    let (app, _) = given().await;
    for name in ["owner", "nobody"] {
        let mut clients = JoinSet::new();
        for _ in 0..30 {
            let app = app.clone();
            clients.spawn(async move { log_in(&app, name, WRONG).await });
        }
        let (mut made, mut refused) = (0, 0);
        for response in clients.join_all().await {
            if response.status == 401 {
                made += 1;
            } else {
                assert_throttled(response, "900");
                refused += 1;
            }
        }
        assert_eq!((made, refused), (10, 20), "{name}");
    }
    assert_throttled(log_in(&app, "owner", PASSWORD).await, "900");
    app.clock().advance(TimeDelta::minutes(15));
    log_in(&app, "owner", PASSWORD).await.expect(200);
    app.table().assert_sound().await;
}
