//! Nothing of the company remains, and everything of the other one.

use chrono::TimeDelta;
use serde_json::json;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::chaos::Fault;
use tests::table::{Contents, Key};

use super::planted::plant_company;
use super::{begin, finish, items_of};
use crate::system::erasure::planted::{CANARY, found};

/// The items of a company, but for what tells of time.
async fn contents_of(app: &TestApp, company: &str) -> Contents {
    let mut items = app.table().contents().await;
    items.retain(|(pk, _), item| !pk.starts_with("SESSION#") && format!("{item:?}").contains(company));
    items
}

fn kinds(keys: &[String]) -> Vec<&str> {
    let mut kinds: Vec<&str> = keys.iter().map(|key| key.split('#').next().unwrap_or_default()).collect();
    kinds.dedup();
    kinds
}

#[tokio::test]
async fn everything_of_a_company_goes_and_nothing_of_another() {
    let (app, ses) = TestApp::start_with_ses_chaos().await;
    let stranger = app.owner_of("globex").await;
    let project = stranger.running_project(json!({})).await;
    let invited = stranger.invite(&project, json!({ "username": "ada" })).await;
    stranger.label("Sales").await;
    stranger.named_token("Payroll").await;
    let planted = plant_company(&app).await;
    // Mails that were given up, one with what a user has typed.
    ses.always("SendRawEmail", Fault::Refused("InvalidParameterValue"));
    let forgotten = json!({ "company": "acme", "username": CANARY });
    app.anonymous().post("/api-password-reset/", forgotten).await.expect(202);
    planted.owner.invite(&planted.project, json!({ "first_name": CANARY })).await;
    app.settle().await;
    ses.heal();
    let other = contents_of(&app, "globex").await;
    assert!(other.len() > 20 && found(&app.moment()).len() > 30, "{:?}", found(&app.moment()));

    begin(&app).await;
    finish(&app).await;
    assert_eq!(contents_of(&app, "globex").await, other);
    assert_eq!(found(&app.moment()), [] as [String; 0]);
    // Identifiers, which end by themselves.
    assert_eq!(kinds(&items_of(&app, "acme").await), ["COMPANY", "SESSION", "UPLOAD"]);
    assert!(items_of(&app, "acme").await.contains(&"COMPANY#acme ERASURE".to_owned()));
    assert_eq!(app.object_keys(), [] as [String; 0]);
    let of_company = |key: &String| key.ends_with("/acme/company");
    assert_eq!(app.ledger().iter().filter(|key| of_company(key)).count(), 1);
    app.assert_sound();

    app.clock().advance(TimeDelta::days(60));
    app.delete_expired().await;
    assert_eq!(items_of(&app, "acme").await, [] as [String; 0]);
    stranger.new_token().await.get(&invited.uri).await.expect(200);
}

#[tokio::test]
async fn nothing_is_left_of_those_who_were_deleted_before() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let label = owner.label("Sales").await;
    let colleague = owner.colleague("recruiter", json!({})).await;
    for uri in [&candidate, &label, &colleague.uri] {
        owner.delete(uri).await.expect(204);
    }
    app.settle().await;
    let histories = |key: &Key| key.0.starts_with("HISTORY#acme#");
    assert!(app.table().contents().await.keys().filter(|key| histories(key)).count() > 8);
    begin(&app).await;
    finish(&app).await;
    assert_eq!(app.table().contents().await.keys().filter(|key| histories(key)).count(), 0);
}

#[tokio::test]
async fn items_under_keys_that_this_release_does_not_form_go_as_well() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    owner.candidate(&project, json!({ "first_name": "Ada" })).await;
    let id = tests::caller::last_segment(&project);
    for (pk, sk) in [
        ("COMPANY#acme".to_owned(), "NEWER#1"),
        (format!("COMPANY#acme#PROJECT#{id}"), "NEWER#1"),
        // An older release may have formed this key.
        (format!("SEARCH#acme#NAME#01#PROJECT#{id}"), "NAME#adalovelace 01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ] {
        app.table().put_bare(&(pk, sk.to_owned())).await;
    }
    begin(&app).await;
    finish(&app).await;
    let left = app.table().contents().await.into_keys().map(|(pk, sk)| format!("{pk} {sk}"));
    let left: Vec<String> = left.filter(|key| key.contains("#acme")).collect();
    assert_eq!(left, ["COMPANY#acme ERASURE"]);
}
