//! Consents: given by candidates or recorded by managers, withdrawn, and required to advance.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Invited, Staff, last_segment};
use tests::http::{Request, Response};
use tests::{assert_refusal, assert_refusals};

use super::import::import;
use crate::companies::legal::{publish, retire};
use crate::events::feed::read_all;

/// Records a consent to a version of a kind in English.
async fn accept(caller: &impl Caller, candidate: &str, kind: &str, version: u32) -> Response {
    put(caller, candidate, kind, json!({ "version": version, "language": "en" })).await
}

async fn put(caller: &impl Caller, candidate: &str, kind: &str, body: Value) -> Response {
    caller.send(Request::put(&format!("{candidate}consents/{kind}/")).json(&body)).await
}

async fn withdraw(caller: &impl Caller, candidate: &str, kind: &str) {
    caller.delete(&format!("{candidate}consents/{kind}/")).await.expect(204);
}

/// The consents that stand, as `caller` sees them.
async fn consents(caller: &impl Caller, candidate: &str) -> Value {
    let list = caller.get(&format!("{candidate}consents/")).await.expect(200).json();
    assert_eq!(list["meta"]["total_count"], list["objects"].as_array().unwrap().len());
    list["objects"].clone()
}

/// A candidate whom a project without passwords has invited.
async fn invited(app: &TestApp) -> (Staff, Invited) {
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let invited = owner.invite(&project, json!({})).await;
    (owner, invited)
}

#[tokio::test]
async fn a_candidate_consents_and_withdraws() {
    let app = TestApp::start().await;
    let (owner, ada) = invited(&app).await;
    publish(&owner, "consent", false).await;
    assert_eq!(consents(&ada, &ada.uri).await, json!([]));
    let given = accept(&ada, &ada.uri, "consent", 1).await.expect(200);
    let view = json!({
        "kind": "consent",
        "version": 1,
        "language": "en",
        "obtained_at": "2026-11-08T10:00:00Z",
        "recorded_by": { "kind": "candidate", "resource_uri": ada.uri },
    });
    assert_eq!(given.json(), view);
    // Again, later: it is the same consent.
    app.clock().advance(TimeDelta::hours(1));
    let before = app.table().snapshot().await;
    let again = accept(&ada, &ada.uri, "consent", 1).await.expect(200);
    assert_eq!((again.json(), again.header("etag")), (view.clone(), given.header("etag")));
    assert_eq!(app.table().snapshot().await, before);
    assert_eq!(consents(&owner, &ada.uri).await, json!([view]));

    withdraw(&ada, &ada.uri, "consent").await;
    assert_eq!(consents(&ada, &ada.uri).await, json!([]));
    let before = app.table().snapshot().await;
    withdraw(&ada, &ada.uri, "consent").await;
    withdraw(&ada, &ada.uri, "privacy_policy").await;
    assert_eq!(app.table().snapshot().await, before);
    ada.delete(&format!("{}consents/imprint/", ada.uri)).await.expect_code(404, "not_found");
    accept(&ada, &ada.uri, "imprint", 1).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn events_prove_consents_by_kind_and_version() {
    let app = TestApp::start().await;
    let (owner, ada) = invited(&app).await;
    publish(&owner, "consent", false).await;
    publish(&owner, "privacy_policy", false).await;
    accept(&ada, &ada.uri, "consent", 1).await.expect(200);
    accept(&owner, &ada.uri, "privacy_policy", 1).await.expect(200);
    withdraw(&ada, &ada.uri, "consent").await;
    app.settle().await;
    let events = read_all(&owner, &format!("resource={}", ada.uri)).await;
    let told: Vec<Value> = events[events.len() - 3..]
        .iter()
        .map(|event| {
            json!([event["types"], event["by"]["kind"], event["data"]["consents"], event["data"]["previous"]])
        })
        .collect();
    assert_eq!(
        told,
        [
            json!([["candidate.consented"], "candidate", { "consent": 1 }, { "consents": null }]),
            json!([["candidate.consented"], "customer", { "consent": 1, "privacy_policy": 1 },
            { "consents": { "consent": 1 } }]),
            json!([["candidate.consent_withdrawn"], "candidate", { "privacy_policy": 1 },
            { "consents": { "consent": 1, "privacy_policy": 1 } }]),
        ]
    );
}

#[tokio::test]
async fn candidates_advance_once_they_have_accepted_what_is_required_now() {
    let app = TestApp::start().await;
    let (owner, ada) = invited(&app).await;
    publish(&owner, "consent", true).await;
    publish(&owner, "privacy_policy", false).await;
    assert_refusal!(ada.advance(&ada.uri).await, @r#"400 {"code":"consent_missing","detail":"Accept the current version of every required legal text first."}"#);
    accept(&ada, &ada.uri, "consent", 1).await.expect(200);
    publish(&owner, "consent", true).await;
    ada.advance(&ada.uri).await.expect_code(400, "consent_missing");
    accept(&ada, &ada.uri, "consent", 2).await.expect(200);
    ada.advance(&ada.uri).await.expect(200);

    // Before the interview once more.
    withdraw(&ada, &ada.uri, "consent").await;
    ada.advance(&ada.uri).await.expect_code(400, "consent_missing");
    assert_eq!(owner.get(&ada.uri).await.expect(200).uri("status"), "confirmed");
    retire(&owner, "consent").await;
    ada.advance(&ada.uri).await.expect(200);
}

#[tokio::test]
async fn managers_advance_candidates_who_have_accepted_nothing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    publish(&owner, "consent", true).await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let ada = owner.invite(&project, json!({})).await;
    accept(&owner, &ada.uri, "consent", 1).await.expect(200);
    for _ in 0..2 {
        ada.advance(&ada.uri).await.expect(200);
    }
    app.abort(&ada.uri).await;
    withdraw(&owner, &ada.uri, "consent").await;
    owner.advance(&ada.uri).await.expect(200);
    ada.advance(&ada.uri).await.expect_code(401, "invalid_credential");
}

#[tokio::test]
async fn a_wrong_consent_is_refused_and_changes_nothing() {
    let app = TestApp::start().await;
    let (owner, ada) = invited(&app).await;
    let uri = &ada.uri;
    let mut refusals = vec![accept(&ada, uri, "consent", 1).await];
    publish(&owner, "consent", true).await;
    publish(&owner, "consent", true).await;
    let before = app.table().snapshot().await;
    let now = app.clock().in_days(0);
    for body in [
        json!({}),
        json!({ "version": 0, "language": "xx" }),
        json!({ "version": "2", "language": 7 }),
        json!({ "version": 1, "language": "en" }),
        json!({ "version": 3, "language": "en" }),
        json!({ "version": 2, "language": "fr" }),
    ] {
        refusals.push(put(&ada, uri, "consent", body.clone()).await);
        refusals.push(put(&owner, uri, "consent", body).await);
    }
    let elsewhere = |at: &str| json!({ "version": 2, "language": "en", "obtained_at": at });
    refusals.push(put(&ada, uri, "consent", elsewhere(&now)).await);
    refusals.push(put(&owner, uri, "consent", elsewhere("yesterday")).await);
    refusals.push(put(&owner, uri, "consent", elsewhere(&app.clock().in_days(1))).await);
    assert_refusals!(refusals, @r#"
        5 x 400 {"version":["This is not the current version of the text."]}
        2 x 400 {"language":["This field is required."],"version":["This field is required."]}
        2 x 400 {"language":["\"xx\" is not a valid choice. Use one of: en, de, fr, es, it, nl."],"version":["Ensure this value is from 1 to 4294967295."]}
        2 x 400 {"language":["Not a valid string."],"version":["A valid integer is required."]}
        2 x 400 {"language":["The text does not exist in this language."]}
        400 {"obtained_at":["Only managers may record a consent that was obtained elsewhere."]}
        400 {"obtained_at":["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."]}
        400 {"obtained_at":["Must not be in the future."]}
        "#);
    assert_eq!(app.table().snapshot().await, before);
}

#[tokio::test]
async fn managers_record_what_was_obtained_elsewhere_as_what_it_is() {
    let app = TestApp::start().await;
    let (owner, ada) = invited(&app).await;
    for _ in 0..2 {
        publish(&owner, "consent", true).await;
    }
    let elsewhere = |version: u32, days: i64| json!({ "version": version, "language": "en", "obtained_at": app.clock().in_days(days) });
    let recorded = put(&owner, &ada.uri, "consent", elsewhere(1, -9)).await.expect(200).json();
    assert_eq!(recorded["obtained_at"], app.clock().in_days(-9));
    assert_eq!(recorded["recorded_by"], json!({ "kind": "customer", "resource_uri": owner.uri }));
    // An earlier version is what they agreed to, not what is required.
    ada.advance(&ada.uri).await.expect_code(400, "consent_missing");
    put(&owner, &ada.uri, "consent", elsewhere(2, -8)).await.expect(200);
    assert_refusal!(put(&owner, &ada.uri, "consent", elsewhere(1, -1)).await, @r#"400 {"version":["The candidate has accepted a later version."]}"#);
    ada.advance(&ada.uri).await.expect(200);

    // The records of another system do not undo a withdrawal.
    app.clock().advance(TimeDelta::minutes(1));
    withdraw(&ada, &ada.uri, "consent").await;
    assert_refusal!(put(&owner, &ada.uri, "consent", elsewhere(2, -8)).await, @r#"400 {"obtained_at":["The candidate has withdrawn this consent since. Obtain another one."]}"#);
    assert_eq!(consents(&owner, &ada.uri).await, json!([]));
    app.clock().advance(TimeDelta::minutes(1));
    put(&owner, &ada.uri, "consent", elsewhere(2, 0)).await.expect(200);
    ada.advance(&ada.uri).await.expect(200);
}

#[tokio::test]
async fn a_stale_if_match_records_nothing() {
    let app = TestApp::start().await;
    let (owner, ada) = invited(&app).await;
    publish(&owner, "consent", false).await;
    let tag = owner.get(&ada.uri).await.expect(200).header("etag").unwrap().to_owned();
    owner.patch(&ada.uri, json!({ "phone": "1" })).await.expect(200);
    let target = format!("{}consents/consent/", ada.uri);
    let body = json!({ "version": 1, "language": "en" });
    let stale = Request::put(&target).header("if-match", &tag).json(&body);
    ada.send(stale).await.expect_code(412, "precondition_failed");
    assert_eq!(consents(&ada, &ada.uri).await, json!([]));
}

#[tokio::test]
async fn imports_bring_consents_that_were_obtained_elsewhere() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    publish(&owner, "consent", true).await;
    publish(&owner, "privacy_policy", true).await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let entry = |consents: Value| {
        json!({
            "first_name": "Ada", "last_name": "Byron", "email": "ada@mail.example",
            "deadline": app.clock().in_days(7), "consents": consents,
        })
    };
    let at = app.clock().in_days(-3);
    let good = json!([
        { "kind": "consent", "version": 1, "language": "de", "obtained_at": at },
        { "kind": "privacy_policy", "version": 1, "language": "en" },
    ]);
    let body = json!([
        entry(good),
        entry(json!([{ "kind": "imprint", "version": 0 }, 7])),
        entry(json!([{ "kind": "consent", "version": 2, "language": "en" }])),
        entry(json!([{ "kind": "consent", "version": 1, "language": "en" },
            { "kind": "consent", "version": 1, "language": "en" }])),
        entry(json!({})),
        entry(json!([])),
    ]);
    let report = import(&owner, &project, None, &body).await.expect(200).json();
    let rows = report["objects"].as_array().unwrap();
    let failures: Vec<String> =
        rows.iter().map(|row| format!("{} {}", row["status"], row["errors"])).collect();
    insta::assert_snapshot!(failures.join("\n"), @r#"
        "invited" {}
        "failed" {"consents[0].kind":["\"imprint\" is not a valid choice. Use one of: privacy_policy, consent."],"consents[0].language":["This field is required."],"consents[0].version":["Ensure this value is from 1 to 4294967295."],"consents[1]":["Invalid data. Expected an object."]}
        "failed" {"consents[0].version":["This is not the current version of the text."]}
        "failed" {"consents":["Each kind may appear only once."]}
        "failed" {"consents":["Expected a list of items."]}
        "invited" {}
        "#);

    let uri = rows[0]["candidate"].as_str().unwrap();
    let seen = consents(&owner, uri).await;
    let brief =
        |index: usize| json!([seen[index]["kind"], seen[index]["language"], seen[index]["obtained_at"]]);
    assert_eq!(brief(0), json!(["privacy_policy", "en", app.clock().in_days(0)]));
    assert_eq!(brief(1), json!(["consent", "de", at]));
    let shown = owner.get(uri).await.expect(200);
    let ada = Invited::shown_in(&app, &shown);
    ada.advance(uri).await.expect(200);
    app.settle().await;
    let events = read_all(&owner, &format!("resource={uri}")).await;
    let types = json!(["candidate.created", "candidate.invited", "candidate.consented"]);
    assert_eq!(events[0]["types"], types, "{}", last_segment(uri));
    assert_eq!(events[0]["data"]["consents"], json!({ "consent": 1, "privacy_policy": 1 }));
}
