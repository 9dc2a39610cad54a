//! Changes of addresses of staff: who makes them, how often, and what else learns of them.

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD};
use tests::http::Request;
use tests::{assert_refusal, assert_refusals};
use tokio::task::JoinSet;

use super::Change;
use crate::auth::address_change::{AddressChange as _, assert_bad_key};
use crate::customers::crud::{CUSTOMERS, creation};
use crate::system::undeliverable::{bounced, put};

#[tokio::test]
async fn going_back_to_the_address_that_counts_needs_no_confirmation() {
    let change = Change::asked().await;
    let Change { app, owner, staff, former, new } = &change;
    let key = change.key_to(new);
    let mails = [former, new].map(|address| app.mails_to(address).len());
    change.change(json!({ "email": former })).await.expect(200);
    assert_eq!(change.shown().await, (former.clone(), true));
    app.settle().await;
    assert_eq!([former, new].map(|address| app.mails_to(address).len()), mails);
    assert_bad_key(&change.confirm(&key).await);
    staff.get("/whoami/").await.expect(200);
    owner.post(CUSTOMERS, creation(new)).await.expect(201);
}

#[tokio::test]
async fn an_owner_settles_an_address_at_once_and_nobody_else() {
    let change = Change::asked().await;
    let Change { app, owner, staff, former, new } = &change;
    let admin = app.staff("admin").await;
    let (_, named) = owner.named_token("CI").await;
    let settled = json!({ "email": app.next_email(), "confirm": true });
    let before = app.table().snapshot().await;
    let refused = [
        admin.patch(&staff.uri, settled.clone()).await,
        named.patch(&staff.uri, settled.clone()).await,
        admin.patch(&staff.uri, json!({ "confirm": true })).await,
        owner.patch(&staff.uri, json!({ "confirm": "yes" })).await,
    ];
    assert_refusals!(refused, @r#"
        3 x 403 {"code":"permission_denied","detail":"Only an owner who has logged in themselves may send `confirm`. Without it, the customer confirms the address."}
        400 {"confirm":["Must be a valid boolean."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
    // The pending one, without naming it again.
    let confirmation = change.key_to(new);
    change.change(json!({ "confirm": true })).await.expect(200);
    assert_eq!(change.shown().await, (new.clone(), true));
    staff.get("/whoami/").await.expect_code(401, "invalid_credential");
    assert_bad_key(&change.confirm(&confirmation).await);
    assert_eq!([change.log_in(former).await, change.log_in(new).await], [401, 200]);
    app.settle().await;
    assert_eq!(
        app.mails_to(former)[0].subject,
        "The email address of your account with Acme & Sons has been changed"
    );
    change.restore(&change.key_to(former)).await.expect(204);
    assert_eq!(change.shown().await, (former.clone(), true));
    // Nothing to settle.
    let before = app.table().snapshot().await;
    change.change(json!({ "confirm": true })).await.expect(200);
    admin.patch(&staff.uri, json!({ "email": former, "confirm": true })).await.expect(200);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn whoever_changes_an_address_sees_every_project_of_the_account() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let recruiter = app.staff("recruiter").await;
    let own = recruiter.project(json!({})).await;
    let other = owner.running_project(json!({ "allow_hash_login": true })).await;
    let invited = owner.colleague("hiring-manager", json!({})).await;
    let confirmed = app.staff("hiring-manager").await;
    let candidate = owner.candidate(&other, json!({})).await;
    for uri in [&invited.uri, &confirmed.uri] {
        let role =
            |project: &str| (format!("{project}roles/"), json!({ "customer": uri, "role": "evaluator" }));
        let change = async || recruiter.patch(uri, json!({ "email": app.next_email() })).await;
        let (path, body) = role(&own);
        recruiter.post(&path, body).await.expect(201);
        change().await.expect(200);
        let (path, body) = role(&other);
        let role = owner.post(&path, body).await.expect(201).uri("resource_uri");
        assert_refusal!(change().await, @r#"403 {"code":"permission_denied","detail":"To change the email address, you must see every project in which this customer has a role or a share. Ask an admin."}"#);
        owner.delete(&role).await.expect(204);
        change().await.expect(200);
        let share = owner.post(&format!("{candidate}shares/"), json!({ "customer": uri })).await.expect(201);
        change().await.expect_code(403, "permission_denied");
        // Other fields stay as they are.
        recruiter.patch(uri, json!({ "position": "Chief" })).await.expect(200);
        owner.delete(&share.uri("resource_uri")).await.expect(204);
        change().await.expect(200);
    }
}

#[tokio::test]
async fn nobody_changes_their_own_address() {
    let app = TestApp::start().await;
    for account_type in ["owner", "admin", "recruiter", "hiring-manager"] {
        let staff = app.staff(account_type).await;
        for change in
            [json!({ "email": app.next_email() }), json!({ "email": app.next_email(), "confirm": true })]
        {
            staff.patch(&staff.uri, change).await.expect_code(403, "permission_denied");
        }
    }
}

#[tokio::test]
async fn an_import_by_email_finds_staff_by_either_address() {
    let change = Change::asked().await;
    let Change { app, owner, staff, former, new } = &change;
    let entry = |email: &str, username: &str| {
        json!({
            "pk_attribute": "email", "account_type": "recruiter", "username": username, "email": email,
            "first_name": "Sam", "last_name": "Staff",
        })
    };
    for address in [former, new] {
        let list = json!([entry(&owner.email, &owner.username), entry(address, &staff.username)]);
        let answer = owner.post("/companies/acme/customers/batch-import/", list).await.expect(200).json();
        assert_eq!((&answer["unchanged"], &answer["deactivated"]), (&json!(2), &json!(0)));
    }
    let list =
        json!([entry(&owner.email, &owner.username), entry(former, &staff.username), entry(new, "another")]);
    assert_refusal!(owner.post("/companies/acme/customers/batch-import/", list).await, @r#"400 {"[2].email":["This value already belongs to another user."]}"#);
    assert_eq!(app.mails_to(new).len(), 1);
}

#[tokio::test]
async fn an_account_gets_so_many_addresses_in_72_hours() {
    let change = Change::asked().await;
    let Change { app, owner, .. } = &change;
    change.confirm(&change.key_to(&change.new)).await.expect(204);
    app.settle().await;
    for _ in 0..3 {
        app.clock().advance(TimeDelta::hours(1));
        let next = app.next_email();
        change.change(json!({ "email": next, "confirm": true })).await.expect(200);
        change.change(json!({ "email": app.next_email() })).await.expect(200);
    }
    change.change(json!({ "email": app.next_email(), "confirm": true })).await.expect(200);
    let response = change.change(json!({ "email": app.next_email() })).await;
    let wait: i64 = response.expect_code(429, "throttled").header("retry-after").unwrap().parse().unwrap();
    assert_eq!(wait, 69 * 3600, "until the first change is 72 hours old");
    // Owners help all the same, but not without end.
    for _ in 9..20 {
        change.change(json!({ "email": app.next_email(), "confirm": true })).await.expect(200);
    }
    let settled = json!({ "email": app.next_email(), "confirm": true });
    change.change(settled).await.expect_code(429, "throttled");
    app.clock().advance(TimeDelta::hours(72));
    let owner = owner.new_token().await;
    owner.patch(&change.staff.uri, json!({ "email": app.next_email() })).await.expect(200);
}

#[tokio::test]
async fn an_account_that_was_never_confirmed_is_invited_at_the_new_address() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let invited = owner.colleague("recruiter", json!({ "username": "typo" })).await;
    app.settle().await;
    let wrong = app.mailed_key(&invited.email);
    let right = app.next_email();
    let answer = owner.patch(&invited.uri, json!({ "email": right })).await.expect(200).json();
    assert_eq!((&answer["email"], &answer["email_confirmed"]), (&json!(right), &json!(false)));
    app.settle().await;
    assert_eq!(app.mails_to(&invited.email).len(), 1, "nobody there is told");
    let choice = |key: &str| json!({ "activation_key": key, "password": PASSWORD });
    app.anonymous().post("/api-activate/", choice(&wrong)).await.expect(400);
    let answer =
        app.anonymous().post("/api-activate/", choice(&app.mailed_key(&right))).await.expect(200).json();
    assert_eq!((&answer["email"], &answer["email_confirmed"]), (&json!(right), &json!(true)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_accounts_that_want_one_address_at_once_one_gets_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let wanted = app.next_email();
    let mut clients = JoinSet::new();
    for _ in 0..6 {
        let (owner, staff, wanted) = (owner.clone(), app.staff("recruiter").await, wanted.clone());
        clients
            .spawn(async move { owner.patch(&staff.uri, json!({ "email": wanted })).await.status.as_u16() });
    }
    let statuses = clients.join_all().await;
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 400, 409].contains(status)), "{statuses:?}");
}

#[tokio::test]
async fn the_feed_tells_what_became_of_an_address_without_it() {
    let change = Change::asked().await;
    let Change { app, owner, staff, former, new } = &change;
    change.confirm(&change.key_to(new)).await.expect(204);
    app.settle().await;
    change.restore(&change.key_to(former)).await.expect(204);
    app.settle().await;
    let feed = owner.get("/companies/acme/events/?page_size=100").await.expect(200).json();
    let events = feed["objects"].as_array().unwrap().iter();
    let events = events.filter(|event| event["data"]["resource_uri"] == json!(staff.uri));
    let told: Vec<_> = events
        .map(|event| json!([event["type"], event["data"]["changed"], event["data"]["previous"]]))
        .collect();
    let expected = [
        json!(["customer.updated", ["email", "email_confirmed"], { "email_confirmed": true }]),
        json!(["customer.updated", ["email_confirmed"], { "email_confirmed": false }]),
        json!(["customer.updated", ["email", "password"], {}]),
    ];
    assert_eq!(told[1..], expected);
    let text = feed.to_string();
    assert!(!text.contains(new.as_str()) && !text.contains(former.as_str()), "{text}");
}

#[tokio::test]
async fn a_new_address_that_bounces_is_shown_and_gets_no_more_mails() {
    let change = Change::asked().await;
    let Change { app, owner, staff, former, new } = &change;
    put(app, bounced(app, new, "Permanent")).await;
    assert_eq!(owner.get(&staff.uri).await.expect(200).json()["email_status"], "bounced");
    owner.send(Request::patch(&format!("{}reinvite/", staff.uri))).await.expect_code(400, "undeliverable");
    // The one that counts goes on.
    assert_eq!(change.resets(former, former).await, 1);
    change.change(json!({ "email": former })).await.expect(200);
    assert_eq!(owner.get(&staff.uri).await.expect(200).json()["email_status"], "deliverable");
}
