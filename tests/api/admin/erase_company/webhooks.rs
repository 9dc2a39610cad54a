//! Webhooks get the last events of their company, if they can.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;

use super::{begin, finish, items_of, listed, pass};
use crate::events::webhooks::endpoint::TestEndpoint;
use crate::events::webhooks::webhook;

#[tokio::test]
async fn a_webhook_is_sent_everything_up_to_its_own_end() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::willing().await;
    webhook(&owner, json!({ "url": endpoint.url })).await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    owner.label("Sales").await;
    owner.named_token("Payroll").await;
    app.settle().await;
    endpoint.forget();
    begin(&app).await;
    finish(&app).await;
    let events = endpoint.arrivals();
    let types: Vec<&str> = events.iter().map(|one| one.event["type"].as_str().unwrap()).collect();
    assert_eq!(
        types,
        [
            "company.deleted",
            "customer.deactivated",
            "token.deleted",
            "candidate.deleted",
            "candidate.erased",
            "label.deleted",
            "customer.deleted",
        ]
    );
    let erased = &events[4].event["data"];
    assert_eq!((&erased["resource_uri"], &erased["reason"]), (&json!(candidate), &json!("company_closed")));
    assert!(!items_of(&app, "acme").await.iter().any(|key| key.starts_with("WEBHOOK#")));
}

#[tokio::test]
async fn a_webhook_that_accepts_nothing_is_given_up_after_a_day() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let endpoint = TestEndpoint::start(|_| 500).await;
    webhook(&owner, json!({ "url": endpoint.url })).await;
    app.settle().await;
    begin(&app).await;
    for _ in 0..12 {
        pass(&app, TimeDelta::hours(1)).await;
    }
    let [erasure] = &listed(&app).await[..] else { panic!("one company") };
    assert_eq!((&erasure["step"], &erasure["left"]["webhooks"]), (&json!("deliveries"), &json!(1)));
    for _ in 0..14 {
        pass(&app, TimeDelta::hours(1)).await;
    }
    finish(&app).await;
    let left = items_of(&app, "acme").await;
    assert!(!left.iter().any(|key| key.starts_with("WEBHOOK#")), "{left:?}");
    assert_eq!(app.mails_to(&owner.email).len(), 0, "no owner is left to be told");
    assert_eq!(listed(&app).await, [] as [Value; 0]);
}
