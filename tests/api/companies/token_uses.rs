//! The last use of named tokens: noted once a day, and never at the expense of a request.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::chaos::Fault;
use tests::http::Request;

use crate::candidates::files::{given, with_files};

const TOKENS: &str = "/companies/acme/tokens/";

/// The last use of the token at `uri`, which the list shows as well.
async fn last_use(owner: &Staff, uri: &str) -> Value {
    owner.app().app().finish_background().await;
    let owner = owner.new_token().await;
    let shown = owner.get(uri).await.expect(200).json();
    let list = owner.get(TOKENS).await.expect(200).json();
    let listed = list["objects"].as_array().unwrap().iter().find(|one| one["resource_uri"] == *uri).unwrap();
    assert_eq!(*listed, shown);
    shown["last_used_at"].clone()
}

#[tokio::test]
async fn the_last_use_is_noted_by_the_day_and_costs_one_write() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let (uri, token) = owner.named_token_with(json!({ "name": "Payroll" })).await;
    assert_eq!(last_use(&owner, &uri).await, Value::Null);
    let calls = async |target: &str| {
        let before = chaos.requests("UpdateItem");
        let log = token.get(target).await.log();
        app.app().finish_background().await;
        (log.dynamodb_calls, chaos.requests("UpdateItem") - before)
    };
    assert_eq!(calls("/companies/acme/").await, (2, 1));
    for target in ["/companies/acme/", "/whoami/", "/companies/globex/"] {
        assert_eq!(calls(target).await, (1, 0), "{target}");
    }
    assert_eq!(last_use(&owner, &uri).await, "2026-11-08T00:00:00Z");
    // To the end of the day in UTC.
    app.clock().advance(TimeDelta::hours(14) - TimeDelta::seconds(1));
    assert_eq!(calls("/companies/acme/").await, (1, 0));
    app.clock().advance(TimeDelta::seconds(1));
    // Requests that are refused are uses as well.
    assert_eq!(calls("/companies/globex/").await, (2, 1));
    assert_eq!(calls("/companies/acme/").await, (1, 0));
    assert_eq!(last_use(&owner, &uri).await, "2026-11-09T00:00:00Z");
}

#[tokio::test]
async fn parallel_first_requests_of_a_day_write_one_use() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (uri, token) = owner.named_token_with(json!({ "name": "Payroll" })).await;
    let mut changes = app.changes();
    changes.take();
    let ask = async || token.get("/companies/acme/").await.expect(200);
    tokio::join!(ask(), ask(), ask(), ask(), ask(), ask());
    app.app().finish_background().await;
    assert_eq!(changes.take().len(), 1);
    assert_eq!(last_use(&owner, &uri).await, "2026-11-08T00:00:00Z");
}

#[tokio::test]
async fn a_request_waits_for_no_note_of_its_use_and_does_not_fail_with_it() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let (uri, token) = owner.named_token_with(json!({ "name": "Payroll" })).await;
    for fault in [Fault::Unreachable, Fault::Throttled, Fault::Refused("AccessDeniedException")] {
        chaos.next("UpdateItem", fault);
        token.get("/companies/acme/").await.expect(200);
        assert_eq!(last_use(&owner, &uri).await, Value::Null);
    }
    // The response is there while the write is held up, and so is that of a change.
    let [held, other] = [chaos.pause("UpdateItem"), chaos.pause("UpdateItem")];
    token.get("/companies/acme/").await.expect(200);
    held.reached().await;
    token.patch("/companies/acme/", json!({ "phone": "1" })).await.expect(200);
    other.reached().await;
    held.resume();
    other.resume();
    assert_eq!(last_use(&owner, &uri).await, "2026-11-08T00:00:00Z");
}

#[tokio::test]
async fn a_late_note_brings_back_no_deleted_token_and_no_earlier_day() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let (uri, token) = owner.named_token_with(json!({ "name": "Payroll" })).await;
    let late = chaos.pause("UpdateItem");
    token.get("/companies/acme/").await.expect(200);
    late.reached().await;
    app.clock().advance(TimeDelta::days(1));
    token.get("/companies/acme/").await.expect(200);
    late.resume();
    assert_eq!(last_use(&owner, &uri).await, "2026-11-09T00:00:00Z");

    app.clock().advance(TimeDelta::days(1));
    let late = chaos.pause("UpdateItem");
    token.get("/companies/acme/").await.expect(200);
    late.reached().await;
    owner.new_token().await.delete(&uri).await.expect(204);
    late.resume();
    app.app().finish_background().await;
    token.get("/companies/acme/").await.expect_code(401, "invalid_credential");
    app.assert_sound();
}

#[tokio::test]
async fn neither_dead_tokens_nor_files_nor_other_callers_are_uses() {
    let (app, owner, candidates) = given().await;
    let candidate = with_files(&owner, &candidates).await;
    let (uri, token) = owner.named_token_with(json!({ "name": "Payroll" })).await;
    let address = token.get(&candidate).await.expect(200).uri("cv");
    assert_eq!(last_use(&owner, &uri).await, "2026-11-08T00:00:00Z");
    app.clock().advance(TimeDelta::hours(15));
    app.anonymous().get(&address).await.expect(302);
    app.token("ivn_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA").get("/companies/acme/").await.expect(401);
    assert_eq!(last_use(&owner, &uri).await, "2026-11-08T00:00:00Z");
    // The use of a token is no change of it, so a deletion that depends on its revision goes through.
    let owner = owner.new_token().await;
    let tag = owner.get(&uri).await.expect(200).header("etag").unwrap().to_owned();
    token.get(&candidate).await.expect(200);
    app.app().finish_background().await;
    owner.send(Request::delete(&uri).header("if-match", &tag)).await.expect(204);
}
