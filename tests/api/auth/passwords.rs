//! Choosing a password by a key that came by mail: the first one, or another for one that was forgotten.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD, last_segment};
use tests::chaos::Fault;
use tests::http::{Request, Response, send_each};
use tests::{assert_refusal, assert_refusals};
use tokio::task::JoinSet;

const NEW: &str = "another horse battery";

async fn activate(app: &TestApp, key: &str, password: &str) -> Response {
    app.anonymous().post("/api-activate/", json!({ "activation_key": key, "password": password })).await
}

async fn forget(app: &TestApp, company: &str, username: &str) -> Response {
    app.anonymous().post("/api-password-reset/", json!({ "company": company, "username": username })).await
}

async fn reset(app: &TestApp, key: &str, password: &str) -> Response {
    app.anonymous().post("/api-password-reset/confirm/", json!({ "key": key, "password": password })).await
}

/// The key of a one-time mail with its last character changed.
fn altered(key: &str) -> String {
    let (rest, last) = key.split_at(key.len() - 1);
    format!("{rest}{}", if last == "A" { 'B' } else { 'A' })
}

#[tokio::test]
async fn an_invitation_is_taken_up_once_and_lets_its_holder_log_in() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let invited = owner.colleague("recruiter", json!({})).await;
    app.settle().await;
    let mails = app.mails_to(&invited.email);
    assert_eq!(mails.len(), 1);
    let key = app.mailed_key(&invited.email);
    assert!(key.starts_with("ivo_"), "{key}");
    assert!(!app.table().text().await.contains(&key), "it is not stored");
    app.anonymous().log_in("acme", &invited.email, PASSWORD).await.expect_code(401, "invalid_credentials");

    app.clock().advance(TimeDelta::days(13));
    let passwords = ["short", "          "];
    assert_refusals!(send_each(passwords, |password| activate(&app, &key, password)).await, @r#"
        400 {"password":["Ensure this field has at least 8 characters."]}
        400 {"password":["This field may not be blank."]}
        "#);
    let body = activate(&app, &key, PASSWORD).await.expect(200).json();
    assert_eq!((&body["resource_uri"], &body["status"]), (&json!(invited.uri), &json!("confirmed")));
    assert_eq!(body["confirmationdate"], "2026-11-21T10:00:00Z");
    let staff = app.anonymous().log_in("acme", &invited.email, PASSWORD).await.expect(200).uri("token");
    app.token(&staff).get(&invited.uri).await.expect_json(200, body);

    assert_refusal!(activate(&app, &key, NEW).await, @r#"400 {"activation_key":["This key is invalid or has expired."]}"#);
    assert_refusal!(reset(&app, &key, NEW).await, @r#"400 {"key":["This key is invalid or has expired."]}"#);
    app.anonymous().log_in("acme", &invited.email, PASSWORD).await.expect(200);
}

#[tokio::test]
async fn an_invitation_is_good_for_fourteen_days() {
    let app = TestApp::start().await;
    let invited = app.owner().await.colleague("recruiter", json!({})).await;
    app.settle().await;
    let key = app.mailed_key(&invited.email);
    app.clock().advance(TimeDelta::days(14));
    let before = app.table().snapshot().await;
    assert_refusal!(activate(&app, &key, PASSWORD).await, @r#"400 {"activation_key":["This key is invalid or has expired."]}"#);
    assert_refusal!(reset(&app, &key, PASSWORD).await, @r#"400 {"key":["This key is invalid or has expired."]}"#);
    assert_eq!(app.table().snapshot().await, before);
    app.clock().advance(TimeDelta::seconds(-1));
    activate(&app, &key, PASSWORD).await.expect(200);
}

#[tokio::test]
async fn invalid_keys_are_refused() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let invited = owner.colleague("recruiter", json!({})).await;
    let inactive = owner.colleague("recruiter", json!({})).await;
    let candidate = owner.invite(&owner.running_project(json!({})).await, json!({})).await;
    app.settle().await;
    let key = app.mailed_key(&invited.email);
    let dead = app.mailed_key(&inactive.email);
    owner.delete(&inactive.uri).await.expect(204);
    app.settle().await;
    let before = app.table().snapshot().await;
    let cut = &key[..key.len() - 8];
    for wrong in ["", "x", "ivo_", &altered(&key), cut, owner.secret(), &candidate.key, &dead, &key[4..]] {
        assert_refusal!(activate(&app, wrong, PASSWORD).await, @r#"400 {"activation_key":["This key is invalid or has expired."]}"#);
        assert_refusal!(reset(&app, wrong, PASSWORD).await, @r#"400 {"key":["This key is invalid or has expired."]}"#);
    }
    let required = json!(["This field is required."]);
    let missing = json!({ "activation_key": required, "password": required });
    app.anonymous().post("/api-activate/", json!({})).await.expect_json(400, missing);
    let missing = json!({ "key": required, "password": required });
    app.anonymous().post("/api-password-reset/confirm/", json!({})).await.expect_json(400, missing);
    assert_eq!(app.table().snapshot().await, before);
    // A space that was copied along does no harm.
    activate(&app, &format!(" {key}\n"), PASSWORD).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_many_use_at_once_sets_one_password() {
    let app = TestApp::start().await;
    let invited = app.owner().await.colleague("recruiter", json!({})).await;
    app.settle().await;
    let key = app.mailed_key(&invited.email);
    let mut clients = JoinSet::new();
    for n in 0..8 {
        let (app, key) = (app.clone(), key.clone());
        clients.spawn(async move {
            let password = format!("password number {n}");
            (activate(&app, &key, &password).await.status.as_u16(), password)
        });
    }
    let mut winners = Vec::new();
    for (status, password) in clients.join_all().await {
        match status {
            200 => winners.push(password),
            _ => assert!([400, 409].contains(&status), "{status}"),
        }
    }
    assert_eq!(winners.len(), 1);
    app.anonymous().log_in("acme", &invited.email, &winners[0]).await.expect(200);
}

#[tokio::test]
async fn a_forgotten_password_is_replaced_and_ends_all_sessions() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let staff = owner.colleague("recruiter", json!({ "username": "Forgetful" })).await.activate().await;
    let (token, browser) = (staff.new_token().await, staff.browser().await);
    let response = forget(&app, "acme", " FORGETFUL ").await.expect(202);
    assert!(response.body.is_empty(), "{response}");
    staff.get("/whoami/").await.expect(200);
    app.settle().await;
    assert_eq!(app.mails_to(&staff.email).len(), 2, "after that of the invitation");
    let key = app.mailed_key(&staff.email);
    assert!(!app.table().text().await.contains(&key), "it is not stored");
    assert_refusal!(activate(&app, &key, NEW).await, @r#"400 {"activation_key":["This key is invalid or has expired."]}"#);
    staff.get("/whoami/").await.expect(200);

    let response = reset(&app, &key, NEW).await.expect(204);
    assert!(response.body.is_empty(), "{response}");
    for dead in [staff.get("/whoami/").await, token.get("/whoami/").await, browser.get("/whoami/").await] {
        dead.expect_code(401, "invalid_credential");
    }
    app.anonymous().log_in("acme", "forgetful", PASSWORD).await.expect_code(401, "invalid_credentials");
    app.anonymous().log_in("acme", "forgetful", NEW).await.expect(200);
    assert_refusal!(reset(&app, &key, PASSWORD).await, @r#"400 {"key":["This key is invalid or has expired."]}"#);
}

#[tokio::test]
async fn a_key_for_a_forgotten_password_is_good_for_two_hours_and_until_the_next() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let staff = owner.colleague("recruiter", json!({})).await.activate().await;
    forget(&app, "acme", &staff.email).await.expect(202);
    app.settle().await;
    let first = app.mailed_key(&staff.email);
    app.clock().advance(TimeDelta::hours(2));
    assert_refusal!(reset(&app, &first, NEW).await, @r#"400 {"key":["This key is invalid or has expired."]}"#);
    app.clock().advance(TimeDelta::seconds(-1));
    forget(&app, "acme", &staff.email).await.expect(202);
    app.settle().await;
    let second = app.mailed_key(&staff.email);
    assert_refusal!(reset(&app, &first, NEW).await, @r#"400 {"key":["This key is invalid or has expired."]}"#);
    reset(&app, &second, NEW).await.expect(204);
    // A change of the password ends a key that is out.
    app.clock().advance(TimeDelta::minutes(5));
    forget(&app, "acme", &staff.email).await.expect(202);
    app.settle().await;
    let third = app.mailed_key(&staff.email);
    let token = app.anonymous().log_in("acme", &staff.email, NEW).await.expect(200).uri("token");
    let change = json!({ "password": PASSWORD, "current_password": NEW });
    app.token(&token).patch(&staff.uri, change).await.expect(200);
    assert_refusal!(reset(&app, &third, NEW).await, @r#"400 {"key":["This key is invalid or has expired."]}"#);
}

#[tokio::test]
async fn candidates_forget_passwords_too_each_their_own() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let email = app.next_email();
    let mut candidates = Vec::new();
    for _ in 0..3 {
        let project = owner.running_project(json!({})).await;
        candidates.push(owner.invite(&project, json!({ "email": email })).await);
    }
    // The third has no password to forget.
    let mut tokens = Vec::new();
    for (n, candidate) in candidates[..2].iter().enumerate() {
        let password = format!("password number {n}");
        candidate.patch(&candidate.uri, json!({ "password": password })).await.expect(200);
        let token = app.anonymous().log_in("acme", &email, &password).await.expect(200).uri("token");
        tokens.push(app.token(&token));
    }
    app.settle().await;
    let earlier = app.mails_to(&email).len();
    forget(&app, "acme", &email.to_uppercase()).await.expect(202);
    app.settle().await;
    let mails = app.mails_to(&email);
    assert_eq!(mails.len() - earlier, 1, "one mail lists all accounts of the address");
    let text = mails[0].text.as_ref().unwrap();
    let key = |rest: &str| {
        rest.split(|c: char| !c.is_ascii_alphanumeric() && !"_-".contains(c)).next().unwrap().to_owned()
    };
    let keys: BTreeSet<String> = text.split("/reset-password/").skip(1).map(key).collect();
    assert_eq!(keys.len(), 2, "{text}");
    // Not what staff activate their accounts with.
    let before = app.table().snapshot().await;
    for key in &keys {
        assert_refusal!(activate(&app, key, NEW).await, @r#"400 {"activation_key":["This key is invalid or has expired."]}"#);
    }
    assert_eq!(app.table().snapshot().await, before);
    let key = keys.first().unwrap();
    reset(&app, key, NEW).await.expect(204);
    assert_refusal!(reset(&app, key, NEW).await, @r#"400 {"key":["This key is invalid or has expired."]}"#);
    let statuses = [tokens[0].get("/whoami/").await, tokens[1].get("/whoami/").await];
    let alive: Vec<u16> = statuses.iter().map(|response| response.status.as_u16()).collect();
    assert!(alive == [401, 200] || alive == [200, 401], "{alive:?}");
    let token = app.anonymous().log_in("acme", &email, NEW).await.expect(200).uri("token");
    let own = app.token(&token).get("/whoami/").await.expect(200).json()["resource"]["resource_uri"].clone();
    let changed = if alive[0] == 401 { &candidates[0].uri } else { &candidates[1].uri };
    assert_eq!(own, *changed);
}

#[tokio::test]
async fn skipped_or_deactivated_users_cannot_choose_a_password() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let staff = owner.colleague("recruiter", json!({})).await.activate().await;
    let candidate = owner.invite(&owner.running_project(json!({})).await, json!({})).await;
    candidate.choose_password().await;
    for email in [&staff.email, &candidate.email] {
        forget(&app, "acme", email).await.expect(202);
    }
    app.settle().await;
    let keys = [app.mailed_key(&staff.email), app.mailed_key(&candidate.email)];
    owner.delete(&staff.uri).await.expect(204);
    let skip = format!("{}status/skip/", candidate.uri);
    owner.send(Request::patch(&skip)).await.expect(200);
    for key in keys {
        assert_refusal!(reset(&app, &key, NEW).await, @r#"400 {"key":["This key is invalid or has expired."]}"#);
    }
    // Nor is anything sent to them from now on.
    app.clock().advance(TimeDelta::minutes(5));
    app.settle().await;
    let sent = [app.mails_to(&staff.email).len(), app.mails_to(&candidate.email).len()];
    for email in [&staff.email, &candidate.email] {
        forget(&app, "acme", email).await.expect(202);
    }
    app.settle().await;
    assert_eq!([app.mails_to(&staff.email).len(), app.mails_to(&candidate.email).len()], sent);
}

#[tokio::test]
async fn a_password_reset_does_not_reveal_accounts() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let staff = owner.colleague("recruiter", json!({ "username": "there" })).await.activate().await;
    let mut answers = BTreeSet::new();
    for (company, name) in [
        ("acme", "there"),
        ("acme", staff.email.as_str()),
        ("acme", "not-there"),
        ("acme", "nobody@mail.example"),
        ("globex", "there"),
        ("No Company", "there"),
        ("acme", "with space"),
        ("acme", "\u{0}"),
    ] {
        let response = forget(&app, company, name).await.expect(202);
        let mut headers: Vec<_> =
            response.headers.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        headers.retain(|(name, _)| !name.ends_with("request-id") && !name.ends_with("requestid"));
        headers.sort_by(|a, b| a.0.cmp(&b.0));
        answers.insert(format!("{headers:?} {:?}", response.body));
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
    app.settle().await;
    let bodies = [
        json!({}),
        json!({ "company": "", "username": null }),
        json!({ "company": "acme", "username": "x".repeat(255) }),
    ];
    let refusals =
        send_each(bodies, async |body| app.anonymous().post("/api-password-reset/", body).await).await;
    assert_refusals!(refusals, @r#"
        400 {"company":["This field is required."],"username":["This field is required."]}
        400 {"company":["This field may not be blank."],"username":["This field may not be null."]}
        400 {"username":["Ensure this field has no more than 254 characters."]}
        "#);
}

#[tokio::test]
async fn one_mail_in_five_minutes_is_enough() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let staff = owner.colleague("recruiter", json!({ "username": "impatient" })).await.activate().await;
    let sent = async || {
        app.settle().await;
        app.mails_to(&staff.email).len()
    };
    let before = sent().await;
    app.clock().advance(TimeDelta::seconds(30));
    forget(&app, "acme", "impatient").await.expect(202);
    assert_eq!(sent().await, before + 1);
    let key = app.mailed_key(&staff.email);
    for seconds in [0, 29, 270] {
        app.clock().advance(TimeDelta::seconds(seconds));
        for name in ["impatient", "IMPATIENT", &staff.email] {
            forget(&app, "acme", name).await.expect(202);
        }
        assert_eq!(sent().await, before + 1, "after {seconds} seconds more");
    }
    reset(&app, &key, NEW).await.expect(204);
    app.clock().advance(TimeDelta::seconds(1));
    forget(&app, "acme", "impatient").await.expect(202);
    assert_eq!(sent().await, before + 2);
}

#[tokio::test]
async fn an_invited_user_can_reset_the_password_as_well() {
    let app = TestApp::start().await;
    let invited = app.owner().await.colleague("recruiter", json!({})).await;
    app.settle().await;
    app.clock().advance(TimeDelta::minutes(5));
    forget(&app, "acme", &invited.email).await.expect(202);
    app.settle().await;
    let text = app.mails_to(&invited.email)[0].text.clone().unwrap();
    let key = app.mailed_key(&invited.email);
    let outcome = if text.contains("/activate/") {
        activate(&app, &key, PASSWORD).await.expect(200)
    } else {
        reset(&app, &key, PASSWORD).await.expect(204)
    };
    drop(outcome);
    let token = app.anonymous().log_in("acme", &invited.email, PASSWORD).await.expect(200).uri("token");
    let whoami = app.token(&token).get("/whoami/").await.expect(200).json();
    assert_eq!(whoami["resource"]["status"], "confirmed");
    assert_eq!(
        last_segment(whoami["resource"]["resource_uri"].as_str().unwrap()),
        last_segment(&invited.uri)
    );
}

#[tokio::test]
async fn a_stranger_cannot_end_an_invitation_that_was_just_sent() {
    let app = TestApp::start().await;
    let invited = app.owner().await.colleague("recruiter", json!({})).await;
    app.settle().await;
    let key = app.mailed_key(&invited.email);
    app.clock().advance(TimeDelta::minutes(4));
    forget(&app, "acme", &invited.email).await.expect(202);
    app.settle().await;
    assert_eq!(app.mails_to(&invited.email).len(), 1);
    activate(&app, &key, PASSWORD).await.expect(200);
}

#[tokio::test]
async fn an_address_that_cannot_be_sent_to_holds_no_other_up_nor_is_any_sent_to_twice() {
    let (app, ses) = TestApp::start_with_ses_chaos().await;
    let owner = app.owner().await;
    // A name that leads to two addresses: of a customer by their user name, and of candidates by their email.
    let name = app.next_email();
    let staff = owner.colleague("recruiter", json!({ "username": name })).await;
    let candidate = owner.invite(&owner.running_project(json!({})).await, json!({ "email": name })).await;
    candidate.choose_password().await;
    app.settle().await;
    let staff = staff.activate().await;
    let sent = || [app.mails_to(&staff.email).len(), app.mails_to(&name).len()];
    let before = sent();
    app.clock().advance(TimeDelta::minutes(5));
    forget(&app, "acme", &name).await.expect(202);
    ses.next("SendRawEmail", Fault::Refused("InternalFailure"));
    app.settle().await;
    let first: usize = sent().iter().sum::<usize>() - before.iter().sum::<usize>();
    assert_eq!(first, 1, "the other address has its mail");
    let was_sent = if sent()[0] > before[0] { &staff.email } else { &name };
    let key = app.mailed_key(was_sent);
    app.clock().advance(TimeDelta::minutes(10));
    app.sweep().await;
    assert_eq!(sent(), before.map(|number| number + 1), "each address has one mail");
    reset(&app, &key, NEW).await.expect(204);
}
