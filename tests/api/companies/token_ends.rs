//! The end of named tokens: by time, by deletion, and the deletion of those that have ended.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Staff, Token, last_segment};
use tests::chaos::Fault;
use tests::files::fetch;

use crate::candidates::files::{given, with_files};

const TOKENS: &str = "/companies/acme/tokens/";

/// A token that ends in so many hours.
async fn ending_token(app: &TestApp, owner: &Staff, hours: i64) -> (String, Token) {
    let end = app.app().now() + TimeDelta::hours(hours);
    owner.named_token_with(json!({ "expires_at": end.to_rfc3339() })).await
}

async fn listed(owner: &impl Caller) -> Vec<Value> {
    owner.get(TOKENS).await.expect(200).json()["objects"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_token_past_its_end_is_dead_and_shown_for_thirty_days_and_then_deleted_by_the_system() {
    let app = TestApp::start().await;
    let person = app.owner().await;
    let (uri, token) = ending_token(&app, &person, 2).await;
    let (stays, other) = person.named_token("Payroll").await;
    app.clock().advance(TimeDelta::hours(2) - TimeDelta::seconds(1));
    token.get("/companies/acme/").await.expect(200);
    app.clock().advance(TimeDelta::seconds(1));
    assert_refusal!(token.get("/companies/acme/").await, @r#"401 {"code":"invalid_credential","detail":"The credential is invalid or has expired."}"#);
    let owner = person.new_token().await;
    let shown = owner.get(&uri).await.expect(200).json();
    assert_eq!((&shown["is_expired"], &shown["expires_at"]), (&json!(true), &json!("2026-11-08T12:00:00Z")));
    assert_eq!(listed(&owner).await.len(), 2);
    assert_eq!(app.sweep().await["RetentionFunction"]["tokens"], 0);

    app.clock().advance(TimeDelta::days(30) - TimeDelta::seconds(1));
    assert_eq!(app.sweep().await["RetentionFunction"]["tokens"], 0);
    let owner = person.new_token().await;
    owner.get(&uri).await.expect(200);
    app.clock().advance(TimeDelta::seconds(1));
    assert_eq!(app.sweep().await["RetentionFunction"]["tokens"], 1);
    owner.get(&uri).await.expect_code(404, "not_found");
    assert_eq!(listed(&owner).await.len(), 1);
    token.get("/companies/acme/").await.expect_code(401, "invalid_credential");
    other.get("/companies/acme/").await.expect(200);
    owner.get(&stays).await.expect(200);
    app.assert_sound();
    assert_eq!(app.sweep().await["RetentionFunction"]["tokens"], 0);

    app.settle().await;
    let feed = owner.get(&format!("/companies/acme/events/?resource={uri}")).await.expect(200).json();
    let told: Vec<_> = feed["objects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| (event["types"][0].clone(), event["by"]["kind"].clone()))
        .collect();
    let expected = [("token.created", "customer"), ("token.deleted", "system")];
    assert_eq!(told, expected.map(|(event, by)| (json!(event), json!(by))));
    let data = &feed["objects"][0]["data"];
    assert_eq!((&data["account_type"], &data["read_only"]), (&json!("owner"), &json!(false)));
    assert_eq!(data["expires_at"], "2026-11-08T12:00:00Z");
}

#[tokio::test]
async fn an_owner_deletes_an_expired_token_before_the_system_does() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (uri, _) = ending_token(&app, &owner, 1).await;
    app.clock().advance(TimeDelta::days(31));
    let owner = owner.new_token().await;
    owner.delete(&uri).await.expect(204);
    assert_eq!(app.sweep().await["RetentionFunction"]["tokens"], 0);
    app.assert_sound();
}

#[tokio::test]
async fn one_token_that_cannot_be_deleted_holds_up_no_other() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let [first, second] = [ending_token(&app, &owner, 1).await.0, ending_token(&app, &owner, 2).await.0];
    app.clock().advance(TimeDelta::days(31));
    app.settle().await;
    let refused = Fault::Refused("ValidationException");
    chaos.next_about("TransactWriteItems", last_segment(&first), refused);
    let swept = app.sweep().await["RetentionFunction"].clone();
    assert_eq!((&swept["tokens"], &swept["failed"]), (&json!(1), &json!(1)));
    let owner = owner.new_token().await;
    owner.get(&first).await.expect(200);
    owner.get(&second).await.expect_code(404, "not_found");
    assert_eq!(app.sweep().await["RetentionFunction"]["tokens"], 1);
}

#[tokio::test]
async fn addresses_of_files_end_with_the_token_and_what_was_begun_goes_on() {
    let (app, owner, candidates) = given().await;
    let candidate = with_files(&owner, &candidates).await;
    let (uri, deleted) = owner.named_token("Deleted").await;
    let (_, ending) = ending_token(&app, &owner, 2).await;
    let (_, stays) = owner.named_token("Stays").await;
    let (_, reader) = owner.named_token_with(json!({ "read_only": true })).await;
    let anonymous = app.anonymous();
    let address = async |token: &Token| token.get(&candidate).await.expect(200).uri("cv");
    let [of_deleted, of_ending, of_staying, of_reader] =
        [address(&deleted).await, address(&ending).await, address(&stays).await, address(&reader).await];
    // Files are read by a token that may only read.
    let read = anonymous.get(&of_reader).await.expect(302);
    assert_eq!(fetch(read.header("location").unwrap(), &[]).await.status, 200);

    let begun = anonymous.get(&of_deleted).await.expect(302);
    owner.delete(&uri).await.expect(204);
    anonymous.get(&of_deleted).await.expect_code(401, "invalid_credential");
    // The bucket knows nothing of tokens: an address of its own is good for a minute more.
    assert_eq!(fetch(begun.header("location").unwrap(), &[]).await.status, 200);

    anonymous.get(&of_ending).await.expect(302);
    app.clock().advance(TimeDelta::hours(2));
    anonymous.get(&of_ending).await.expect_code(401, "invalid_credential");
    anonymous.get(&of_staying).await.expect(302);
}
