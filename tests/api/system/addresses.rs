//! Addresses of people: what a changed one ends and begins, and how many mails clients may have sent to one.

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Colleague, Invited, PASSWORD, Staff};
use tests::http::{Request, Response};

async fn activate(app: &TestApp, key: &str) -> Response {
    app.anonymous().post("/api-activate/", json!({ "activation_key": key, "password": PASSWORD })).await
}

async fn reset(app: &TestApp, key: &str) -> Response {
    let choice = json!({ "key": key, "password": "another horse battery" });
    app.anonymous().post("/api-password-reset/confirm/", choice).await
}

async fn reinvite(owner: &Staff, colleague: &Colleague) -> Response {
    owner.send(Request::patch(&format!("{}reinvite/", colleague.uri))).await
}

fn mails(app: &TestApp, address: &str) -> usize {
    app.mails_to(address).len()
}

/// Moves somebody to a new address, a moment later.
async fn moved(owner: &Staff, uri: &str) -> (String, Response) {
    let app = owner.app();
    app.clock().advance(TimeDelta::seconds(1));
    let email = app.next_email();
    let changed = owner.patch(uri, json!({ "email": email, "confirm": true })).await.expect(200);
    (email, changed)
}

#[tokio::test]
async fn an_invited_candidate_is_invited_at_the_new_address_alone() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let wrong = owner.invite(&project, json!({})).await;
    app.settle().await;
    // The wrong person takes the invitation up.
    let session = wrong.register().await;
    session.get("/whoami/").await.expect(200);

    let (email, changed) = moved(&owner, &wrong.uri).await;
    let right = Invited::shown_in(&app, &changed);
    assert_ne!(right.key, wrong.key);
    app.settle().await;
    // The first one is told of the change: there was a password.
    assert_eq!((mails(&app, &wrong.email), mails(&app, &email)), (2, 1));
    let mail = app.mails_to(&email).remove(0);
    assert!(mail.text.as_ref().unwrap().contains(&right.key), "{:?}", mail.text);

    assert_refusal!(wrong.get(&wrong.uri).await, @r#"401 {"code":"invalid_credential","detail":"The credential is invalid or has expired."}"#);
    session.get("/whoami/").await.expect_code(401, "invalid_credential");
    app.anonymous().log_in("acme", &email, PASSWORD).await.expect(401);
    right.register().await.advance(&right.uri).await.expect(200);
}

#[tokio::test]
async fn a_candidate_who_goes_on_by_a_key_gets_another_at_the_new_address() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let ada = owner.invite(&project, json!({})).await;
    ada.advance(&ada.uri).await.expect(200);
    app.settle().await;
    let (email, changed) = moved(&owner, &ada.uri).await;
    let key = changed.uri("interview_key");
    ada.get(&ada.uri).await.expect(401);
    app.settle().await;
    assert!(app.mails_to(&email)[0].text.as_ref().unwrap().contains(&key));
    let moved = Invited::new(&app, &ada.uri, &key, &email);
    moved.advance(&ada.uri).await.expect(200);
}

#[tokio::test]
async fn a_confirmed_candidate_keeps_the_password_and_nothing_else() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    let session = ada.register().await;
    session.advance(&ada.uri).await.expect(200);
    let forgotten = json!({ "company": "acme", "username": ada.email });
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    app.settle().await;
    let key = app.mailed_key(&ada.email);

    let (email, _) = moved(&owner, &ada.uri).await;
    session.get("/whoami/").await.expect_code(401, "invalid_credential");
    assert_refusal!(reset(&app, &key).await, @r#"400 {"key":["This key is invalid or has expired."]}"#);
    app.settle().await;
    assert_eq!(mails(&app, &email), 0, "there is nothing to tell");
    app.anonymous().log_in("acme", &email, PASSWORD).await.expect(200);
}

#[tokio::test]
async fn an_invited_candidate_cannot_be_without_an_address() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    let before = app.table().snapshot().await;
    for nothing in [json!(null), json!("")] {
        let refused = owner.patch(&ada.uri, json!({ "email": nothing, "phone": "1" })).await;
        assert_refusal!(refused, @r#"400 {"code":"email_missing","detail":"An invited candidate needs an email address. Replace it instead of removing it."}"#);
    }
    assert_eq!(app.table().snapshot().await, before);
    ada.get(&ada.uri).await.expect(200);

    owner.set_deadline(&ada.uri, &app.clock().in_days(0)).await.expect(200);
    app.expire_overdue().await;
    let later = json!({ "email": null, "deadline": app.clock().in_days(9) });
    owner.patch(&ada.uri, later).await.expect(200);
    assert_refusal!(owner.advance(&ada.uri).await, @r#"400 {"code":"email_missing","detail":"The candidate has no email address. Set one first."}"#);
    owner.patch(&ada.uri, json!({ "email": ada.email })).await.expect(200);
    assert_eq!(owner.advance(&ada.uri).await.expect(200).json()["status"], "invited");
}

#[tokio::test]
async fn an_invited_customer_is_invited_at_the_new_address_alone() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let grace = owner.colleague("recruiter", json!({})).await;
    app.settle().await;
    let old = app.mailed_key(&grace.email);
    let (email, changed) = moved(&owner, &grace.uri).await;
    assert_eq!(changed.json()["status"], "invited");
    assert_refusal!(activate(&app, &old).await, @r#"400 {"activation_key":["This key is invalid or has expired."]}"#);
    app.settle().await;
    assert_eq!((mails(&app, &grace.email), mails(&app, &email)), (1, 1));
    activate(&app, &app.mailed_key(&email)).await.expect(200);
}

#[tokio::test]
async fn a_customers_new_address_that_an_owner_confirms_ends_the_reset_key_and_the_sessions_of_the_old_one() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let grace = owner.colleague("recruiter", json!({ "username": "grace" })).await.activate().await;
    let forgotten = json!({ "company": "acme", "username": "grace" });
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    app.settle().await;
    let key = app.mailed_key(&grace.email);
    let email = app.next_email();
    let settled = json!({ "email": email, "confirm": true });
    owner.patch(&grace.uri, settled).await.expect(200);
    assert_refusal!(reset(&app, &key).await, @r#"400 {"key":["This key is invalid or has expired."]}"#);
    grace.get("/whoami/").await.expect_code(401, "invalid_credential");
    app.settle().await;
    assert_eq!(mails(&app, &email), 0);
    app.anonymous().log_in("acme", "grace", PASSWORD).await.expect(200);
}

#[tokio::test]
async fn an_invitation_that_a_newer_one_repeats_is_not_sent() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    let grace = owner.colleague("recruiter", json!({})).await;
    // Corrected before the first mail goes out.
    let (adas, _) = moved(&owner, &ada.uri).await;
    let (graces, _) = moved(&owner, &grace.uri).await;
    app.settle().await;
    assert_eq!([&ada.email, &adas, &grace.email, &graces].map(|address| mails(&app, address)), [0, 1, 0, 1]);
}

#[tokio::test]
async fn five_reminders_an_hour_and_no_more() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let [ada, bob] = [owner.invite(&project, json!({})).await, owner.invite(&project, json!({})).await];
    for _ in 0..5 {
        owner.remind(&ada.uri).await.expect(200);
        app.clock().advance(TimeDelta::minutes(1));
    }
    let before = app.table().snapshot().await;
    for _ in 0..2 {
        let refused = owner.remind(&ada.uri).await;
        assert_refusal!(refused, @r#"429 {"code":"throttled","detail":"Too many attempts. Try again after the seconds in `Retry-After`."}"#);
        assert_eq!(refused.header("retry-after"), Some("3300"));
    }
    assert_eq!(app.table().snapshot().await, before);
    owner.remind(&bob.uri).await.expect(200);
    app.clock().advance(TimeDelta::minutes(55));
    owner.remind(&ada.uri).await.expect(200);
    assert_refusal!(owner.remind(&ada.uri).await, @r#"429 {"code":"throttled","detail":"Too many attempts. Try again after the seconds in `Retry-After`."}"#);
    app.settle().await;
    assert_eq!(mails(&app, &ada.email), 1 + 6);
}

#[tokio::test]
async fn five_invitations_an_hour_to_one_customer_and_no_more() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let grace = owner.colleague("recruiter", json!({})).await;
    app.settle().await;
    for _ in 0..5 {
        app.clock().advance(TimeDelta::minutes(1));
        reinvite(&owner, &grace).await.expect(200);
        app.settle().await;
    }
    let refused = reinvite(&owner, &grace).await;
    assert_refusal!(refused, @r#"429 {"code":"throttled","detail":"Too many attempts. Try again after the seconds in `Retry-After`."}"#);
    assert_eq!(refused.header("retry-after"), Some("3360"));
    let another = json!({ "email": app.next_email() });
    assert_refusal!(owner.patch(&grace.uri, another).await, @r#"429 {"code":"throttled","detail":"Too many attempts. Try again after the seconds in `Retry-After`."}"#);
    activate(&app, &app.mailed_key(&grace.email)).await.expect(200);
    assert_eq!(mails(&app, &grace.email), 1 + 5);
}

#[tokio::test]
async fn two_addresses_by_turns_are_no_way_around_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    let other = app.next_email();
    let mut statuses = Vec::new();
    for email in [&other, &ada.email].into_iter().cycle().take(6) {
        app.clock().advance(TimeDelta::minutes(1));
        statuses.push(owner.patch(&ada.uri, json!({ "email": email })).await.status.as_u16());
        app.settle().await;
    }
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429]);
    assert_eq!(mails(&app, &ada.email) + mails(&app, &other), 1 + 5);
}
