//! The operator's command that allows mails again to an address that bounced.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};

use crate::admin::commands::refused;
use crate::events::feed::read_all;
use crate::system::undeliverable::{bounced, complained, put};

fn free(company: &str, address: &str) -> Value {
    json!({ "command": "free-address", "company": company, "address": address })
}

async fn status(owner: &Staff, uri: &str) -> Value {
    owner.get(uri).await.expect(200).json()["email_status"].clone()
}

#[tokio::test]
async fn an_address_that_bounced_by_mistake_gets_mails_again() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    put(&app, bounced(&app, &ada.email, "Permanent")).await;
    owner.remind(&ada.uri).await.expect_code(400, "undeliverable");

    let command = free("acme", &ada.email.replace("candidate", "CANDIDATE"));
    let outcome = app.operate(command.clone()).await.unwrap();
    let expected = json!({ "company": "acme", "freed": [ada.uri], "complained": [], "deliverable": 0 });
    assert_eq!(*outcome, expected);
    assert_eq!(status(&owner, &ada.uri).await, "deliverable");
    owner.remind(&ada.uri).await.expect(200);
    app.settle().await;
    assert_eq!(app.mails_to(&ada.email).len(), 2, "the invitation and the reminder");

    let events = read_all(&owner, &format!("resource={}", ada.uri)).await;
    let event = events.iter().rfind(|event| event["by"]["kind"] == "operator").unwrap();
    assert_eq!(event["types"], json!(["candidate.updated"]));
    assert_eq!(event["data"]["previous"], json!({ "email_status": "bounced" }));
    assert_eq!(event["data"]["email_status"], "deliverable");

    let before = app.table().snapshot().await;
    let again = app.operate(command).await.unwrap();
    assert_eq!((&again["freed"], &again["deliverable"]), (&json!([]), &json!(1)));
    assert_eq!(app.table().snapshot().await, before);
    // It may bounce once more.
    assert_eq!(put(&app, bounced(&app, &ada.email, "Permanent")).await, "applied");
}

#[tokio::test]
async fn an_address_is_freed_for_everyone_who_has_it() {
    const ADDRESS: &str = "grace@mail.example";
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let mut candidates = Vec::new();
    for _ in 0..2 {
        let project = owner.running_project(json!({})).await;
        candidates.push(owner.invite(&project, json!({ "email": ADDRESS })).await.uri);
        app.settle().await;
        put(&app, bounced(&app, ADDRESS, "Permanent")).await;
    }
    // The name of another candidate, whose own address has bounced.
    let project = owner.running_project(json!({})).await;
    let other = owner.invite(&project, json!({ "username": ADDRESS })).await;
    app.settle().await;
    put(&app, bounced(&app, &other.email, "Permanent")).await;
    let elsewhere = app.owner_of("globex").await;
    let colleague = elsewhere.colleague("recruiter", json!({ "email": ADDRESS })).await;
    app.settle().await;
    put(&app, bounced(&app, ADDRESS, "Permanent")).await;

    let outcome = app.operate(free("acme", ADDRESS)).await.unwrap();
    let freed: BTreeSet<&str> =
        outcome["freed"].as_array().unwrap().iter().map(|uri| uri.as_str().unwrap()).collect();
    assert_eq!(freed, candidates.iter().map(String::as_str).collect());
    for uri in &candidates {
        assert_eq!(status(&owner, uri).await, "deliverable");
    }
    assert_eq!(status(&owner, &other.uri).await, "bounced");
    assert_eq!(status(&elsewhere, &colleague.uri).await, "bounced");

    let outcome = app.operate(json!({ "command": "free-address", "address": ADDRESS })).await.unwrap();
    assert_eq!(*outcome, json!({ "freed": [colleague.uri], "complained": [], "deliverable": 2 }));
    assert_eq!(status(&elsewhere, &colleague.uri).await, "deliverable");
}

#[tokio::test]
async fn complaints_are_freed_only_on_request() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.invite(&project, json!({})).await;
    app.settle().await;
    put(&app, complained(&app, &ada.email)).await;
    let mut command = free("acme", &ada.email);
    let outcome = app.operate(command.clone()).await.unwrap();
    assert_eq!((&outcome["freed"], &outcome["complained"]), (&json!([]), &json!([ada.uri])));
    assert_eq!(status(&owner, &ada.uri).await, "complained");
    command["complaints"] = json!(true);
    assert_eq!(app.operate(command).await.unwrap()["freed"], json!([ada.uri]));
    assert_eq!(status(&owner, &ada.uri).await, "deliverable");
}

#[tokio::test]
async fn only_addresses_that_someone_has_can_be_freed() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let everywhere = json!({ "command": "free-address", "address": "unknown@mail.example" });
    let address = |message: &str| json!({ "address": [message] });
    for (command, errors) in [
        (free("acme", "unknown@mail.example"), address("No account has this email address.")),
        (everywhere, address("No account has this email address.")),
        // A user name is no address.
        (free("acme", &owner.username), address("Enter a valid email address.")),
        (free("nowhere", &owner.email), json!({ "company": ["There is no such company."] })),
        (
            free("No", ""),
            json!({
                "address": ["Enter a valid email address."],
                "company": ["Use 2 to 63 characters of a-z, 0-9 and -."],
            }),
        ),
    ] {
        assert_eq!(refused(&app, command).await, errors);
    }
}
