//! Too many failures to log in with one name.

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::assert_refusal;
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

async fn log_in_from(app: &TestApp, source: &str, name: &str, password: &str) -> Response {
    let login = json!({ "company": "acme", "username": name, "password": password });
    // Clients can write this header, so it must not count.
    let request = Request::post("/api-token-auth/").json(&login).header("x-forwarded-for", "203.0.113.9");
    app.send(request.from_source(source)).await
}

async fn fail_from(app: &TestApp, source: &str, name: &str, times: usize) {
    for _ in 0..times {
        log_in_from(app, source, name, WRONG).await.expect_code(401, "invalid_credentials");
    }
}

#[track_caller]
fn assert_throttled(response: Response, seconds: &str) -> Vec<u8> {
    let response = response;
    assert_refusal!(response, @r#"429 {"code":"throttled","detail":"Too many attempts. Try again after the seconds in `Retry-After`."}"#);
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
}

#[tokio::test]
async fn only_the_source_of_the_failures_is_locked_out() {
    let (app, _) = given().await;
    for name in ["owner", "nobody"] {
        fail_from(&app, "192.0.2.1", name, 10).await;
        assert_throttled(log_in_from(&app, "192.0.2.1", name, PASSWORD).await, "900");
    }
    log_in_from(&app, "192.0.2.2", "owner", PASSWORD).await.expect(200);
    log_in_from(&app, "192.0.2.2", "nobody", PASSWORD).await.expect_code(401, "invalid_credentials");
    // The success has cleared the name for everybody.
    log_in_from(&app, "192.0.2.1", "owner", PASSWORD).await.expect(200);
}

#[tokio::test]
async fn all_addresses_of_one_subscriber_are_one_source() {
    let (app, _) = given().await;
    for n in 0..10 {
        fail_from(&app, &format!("2001:db8:1:2:{n:x}::1"), "owner", 1).await;
    }
    assert_throttled(log_in_from(&app, "2001:db8:1:2:ffff::1", "owner", PASSWORD).await, "900");
    log_in_from(&app, "2001:db8:1:3::1", "owner", PASSWORD).await.expect(200);
}

#[tokio::test]
async fn beyond_a_hundred_failures_a_name_is_slowed_down_for_all_sources() {
    let (app, owner) = given().await;
    let other = app.owner_of("globex").await;
    for n in 0..10 {
        fail_from(&app, &format!("192.0.2.{n}"), "owner", 10).await;
    }
    let own = "198.51.100.7";
    assert_throttled(log_in_from(&app, own, "owner", PASSWORD).await, "10");
    // Sessions go on, other names are not affected.
    owner.get("/whoami/").await.expect(200);
    other.new_token().await;
    app.clock().advance(TimeDelta::seconds(10));
    fail_from(&app, "192.0.2.200", "owner", 1).await;
    assert_throttled(log_in_from(&app, own, "owner", PASSWORD).await, "10");
    app.clock().advance(TimeDelta::seconds(10));
    log_in_from(&app, own, "owner", PASSWORD).await.expect(200);
}

#[tokio::test]
async fn a_completed_reset_unlocks_all_names_of_the_account() {
    let (app, _) = given().await;
    let staff = app.staff("recruiter").await;
    let candidate =
        app.owner().await.invite(&app.owner().await.running_project(json!({})).await, json!({})).await;
    candidate.choose_password().await;
    for (names, email) in
        [(vec![&staff.username, &staff.email], &staff.email), (vec![&candidate.email], &candidate.email)]
    {
        for name in &names {
            fail(&app, name, 10).await;
            assert_throttled(log_in(&app, name, PASSWORD).await, "900");
        }
        let forgotten = json!({ "company": "acme", "username": email });
        app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
        app.settle().await;
        assert_throttled(log_in(&app, names[0], PASSWORD).await, "900");
        let choice = json!({ "key": app.mailed_key(email), "password": "another horse battery" });
        app.anonymous().post("/api-password-reset/confirm/", choice).await.expect(204);
        for name in &names {
            log_in(&app, name, "another horse battery").await.expect(200);
        }
    }
}

#[tokio::test]
async fn a_login_with_a_shared_address_does_not_clear_the_failures_of_others() {
    let (app, owner) = given().await;
    // Project managers see the key of the candidates that they create, whatever the email.
    let project = owner.running_project(json!({})).await;
    let candidate = owner.invite(&project, json!({ "email": owner.email })).await;
    let own = json!({ "password": "password of the candidate" });
    candidate.patch(&candidate.uri, own).await.expect(200);
    for _ in 0..9 {
        fail(&app, &owner.email, 1).await;
        log_in(&app, &owner.email, "password of the candidate").await.expect(200);
    }
    fail(&app, &owner.email, 1).await;
    assert_throttled(log_in(&app, &owner.email, "password of the candidate").await, "900");
}

#[tokio::test]
async fn a_wrong_present_password_counts_as_a_failed_login() {
    let (app, owner) = given().await;
    let change = async |current: &str| {
        owner
            .patch(&owner.uri, json!({ "password": "another horse battery", "current_password": current }))
            .await
    };
    for _ in 0..10 {
        assert_refusal!(change(WRONG).await, @r#"400 {"current_password":["This is not your current password."]}"#);
    }
    assert_throttled(change(PASSWORD).await, "900");
    assert_throttled(log_in(&app, "owner", PASSWORD).await, "900");
    owner.get("/whoami/").await.expect(200);
    app.clock().advance(TimeDelta::minutes(15));
    fail(&app, "owner", 9).await;
    change(PASSWORD).await.expect(200);
    fail(&app, "owner", 1).await;
    assert_throttled(log_in(&app, "owner", "another horse battery").await, "900");
}

#[tokio::test]
async fn names_of_failed_logins_are_not_stored() {
    let (app, _) = given().await;
    fail_from(&app, "192.0.2.77", "correct-horse-battery", 1).await;
    fail_from(&app, "192.0.2.77", "correct horse battery", 1).await;
    let stored = app.table().text().await;
    assert!(stored.contains("FAILURES#"));
    for secret in ["correct-horse", "correct horse", "192.0.2.77"] {
        assert!(!stored.contains(secret), "{secret}");
    }
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
}

#[tokio::test]
async fn candidates_are_throttled_too() {
    let (app, owner) = given().await;
    let candidate = owner.invite(&owner.running_project(json!({})).await, json!({})).await;
    candidate.choose_password().await;
    fail(&app, &candidate.email, 10).await;
    assert_throttled(log_in(&app, &candidate.email, PASSWORD).await, "900");
    candidate.get("/whoami/").await.expect(200);
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
}
