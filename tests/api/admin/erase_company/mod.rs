//! The end of a contract: a company is erased, and no other one is touched.

mod everything;
mod holds;
mod interruptions;
mod logins;
pub(crate) mod planted;
mod webhooks;

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::{TestApp, person};
use tests::caller::{Caller, PASSWORD};

use super::commands::{assert_refused, create_company, create_customer, refused};

fn command(company: &str) -> Value {
    json!({ "command": "erase-company", "company": company, "confirm": company })
}

/// Gives the command and returns what it shows of the erasure of acme.
pub(crate) async fn begin(app: &TestApp) -> Value {
    app.operate(command("acme")).await.unwrap()["erasure"].clone()
}

/// The erasures that the operator finds.
async fn listed(app: &TestApp) -> Vec<Value> {
    let output = app.operate(json!({ "command": "list-failures" })).await.unwrap();
    output["company_erasures"].as_array().unwrap().clone()
}

/// Lets time pass, and has everything done that is due.
async fn pass(app: &TestApp, time: TimeDelta) {
    app.clock().advance(time);
    app.settle().await;
    app.sweep().await;
    app.settle().await;
}

/// Lets time pass until no erasure is listed.
pub(crate) async fn finish(app: &TestApp) {
    for number in 0..50 {
        if listed(app).await.is_empty() {
            return;
        }
        pass(app, TimeDelta::minutes(if number < 10 { 30 } else { 60 })).await;
    }
    panic!("{:?}", listed(app).await);
}

/// The keys of the items that name a company.
async fn items_of(app: &TestApp, company: &str) -> Vec<String> {
    let items = app.table().contents().await.into_iter();
    let named = items.filter(|(_, item)| format!("{item:?}").contains(company));
    named.map(|((pk, sk), _)| format!("{pk} {sk}")).collect()
}

#[tokio::test]
async fn the_identifier_must_be_repeated() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let candidate = owner.candidate(&owner.project(json!({})).await, json!({})).await;
    app.owner_of("globex").await;
    let mut refusals = Vec::new();
    for (company, confirm, release) in [
        (json!("acme"), Value::Null, json!([])),
        (json!("acme"), json!("globex"), json!([])),
        (json!("acme"), json!("ACME"), json!([])),
        (json!("acme"), json!("acme "), json!([])),
        (Value::Null, json!("acme"), json!([])),
        (json!("No"), json!("No"), json!([])),
        (json!("nowhere"), json!("nowhere"), json!([])),
        (json!("acme"), json!(""), json!(["x"])),
        (json!("globex"), json!("globex"), json!([candidate])),
    ] {
        let command = json!({
            "command": "erase-company", "company": company, "confirm": confirm, "release": release,
        });
        refusals.push(refused(&app, command).await.to_string().replace(&candidate, "…"));
    }
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    {"confirm":["This field is required."]}
    {"confirm":["Repeat the identifier in `company`."]}
    {"confirm":["Repeat the identifier in `company`."]}
    {"confirm":["Repeat the identifier in `company`."]}
    {"company":["This field is required."]}
    {"company":["Use 2 to 63 characters of a-z, 0-9 and -."]}
    {"company":["There is no such company."]}
    {"confirm":["Repeat the identifier in `company`."],"release":["\"x\" is not the URL of a candidate under https://hr.example/api/v3."]}
    {"release":["\"…\" is of another company."]}
    "#);
    owner.get("/companies/acme/").await.expect(200);
}

#[tokio::test]
async fn the_command_shows_how_far_the_erasure_has_come_and_begins_it_once() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    for _ in 0..3 {
        owner.candidate(&project, json!({})).await;
    }
    owner.label("Sales").await;
    app.settle().await;
    assert_eq!(listed(&app).await, [] as [Value; 0]);
    let begun = begin(&app).await;
    let expected = json!({
        "state": "running", "begun_at": "2026-11-08T10:00:00Z",
        "step": "access", "step_since": "2026-11-08T10:00:00Z", "held": [],
        "left": { "candidates": 3, "projects": 1, "videos": 0, "labels": 1, "customers": 1, "webhooks": 0 },
    });
    assert_eq!(begun, expected);
    let before = app.table().snapshot().await;
    assert_eq!(begin(&app).await, expected);
    let retried = app.operate(json!({ "command": "retry-effects", "company": "acme" })).await.unwrap();
    assert_eq!(retried["retried"], json!({}));
    assert_eq!(app.table().snapshot().await, before, "it has begun");

    pass(&app, TimeDelta::minutes(5)).await;
    let [listed] = &listed(&app).await[..] else { panic!("one company") };
    // Requests may still be under way that can create candidates.
    let expected = json!({
        "company": "acme", "state": "running", "begun_at": "2026-11-08T10:00:00Z",
        "step": "projects", "step_since": "2026-11-08T10:05:00Z", "held": [],
        "left": { "candidates": 0, "projects": 1, "videos": 0, "labels": 1, "customers": 1, "webhooks": 0 },
    });
    assert_eq!(*listed, expected);
    finish(&app).await;
    let ended = begin(&app).await;
    assert_eq!((&ended["state"], &ended["begun_at"]), (&json!("ended"), &json!("2026-11-08T10:00:00Z")));
    assert_eq!(begin(&app).await, ended, "it is not begun again");
}

#[tokio::test]
async fn nothing_is_created_in_a_company_that_is_erased_until_it_is_forgotten() {
    let app = TestApp::start().await;
    app.owner().await;
    let again = create_company("acme", person("owner", "owner@acme.example"));
    begin(&app).await;
    let assert_closed = async || {
        let mut refusals = Vec::new();
        for command in [
            again.clone(),
            create_customer("acme", "owner", person("new", "new@acme.example")),
            json!({ "command": "verify-senders", "company": "acme", "senders": ["acme.example"] }),
            json!({ "command": "make-owner", "company": "acme", "username": "owner" }),
        ] {
            refusals.push(refused(&app, command).await["company"][0].to_string());
        }
        insta::allow_duplicates! { insta::assert_snapshot!(refusals.join("\n"), @r#"
        "A company with this identifier was erased. Use another one."
        "There is no such company."
        "There is no such company."
        "There is no such company."
        "#) }
    };
    assert_closed().await;
    finish(&app).await;
    assert_closed().await;
    app.clock().advance(TimeDelta::days(59));
    assert_closed().await;

    // The records of its deletions have ended, even if DynamoDB has not deleted the item yet.
    app.clock().advance(TimeDelta::days(1));
    app.operate(again).await.unwrap();
    let token = app.anonymous().log_in("acme", "owner", PASSWORD).await.expect(200).uri("token");
    let owner = app.token(&token);
    app.settle().await;
    let events = crate::events::feed::read_all(&owner, "").await;
    assert_eq!((&events[0]["type"], &events[0]["sequence"]), (&json!("company.created"), &json!(1)));
    assert_refused(&app, json!({ "command": "erase-company", "company": "acme" }), &["confirm"]).await;
    begin(&app).await;
    finish(&app).await;
}

#[tokio::test]
async fn captions_and_logos_that_an_older_release_has_left_are_erased_too() {
    let app = TestApp::start().await;
    app.owner().await;
    begin(&app).await;
    let left =
        [("LOGO#acme", "01ARZ3NDEKTSV4RRFFQ69G5FAV"), ("CAPTIONS#acme", "01ARZ3NDEKTSV4RRFFQ69G5FAV#en")];
    for (pk, sk) in left {
        app.table().put_bare(&(pk.to_owned(), sk.to_owned())).await;
    }
    finish(&app).await;
    let items = app.table().snapshot().await;
    for (pk, _) in left {
        assert!(items.keys().all(|(other, _)| other != pk), "{pk}");
    }
}
