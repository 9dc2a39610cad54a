//! Holds: who is on hold is erased by nobody, until the hold is deleted or ends.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::http::{Request, Response, send_each};
use tests::{assert_refusal, assert_refusals};

use crate::events::feed::read_all;
use crate::events::webhooks::webhook;

const REASON: &str = "Claim before the labour court.";

async fn given() -> (TestApp, Staff, String) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let candidate = owner.candidate(&owner.project(json!({})).await, json!({})).await;
    (app, owner, candidate)
}

async fn put(caller: &impl Caller, candidate: &str, body: Value) -> Response {
    caller.send(Request::put(&format!("{candidate}hold/")).json(&body)).await
}

async fn is_on_hold(caller: &impl Caller, candidate: &str) -> Value {
    caller.get(candidate).await.expect(200).json()["is_on_hold"].clone()
}

#[tokio::test]
async fn who_is_on_hold_is_not_deleted_until_the_hold_is() {
    let (app, owner, candidate) = given().await;
    let hold = format!("{candidate}hold/");
    owner.get(&hold).await.expect_code(404, "not_found");
    owner.delete(&hold).await.expect_code(404, "not_found");
    assert_eq!(is_on_hold(&owner, &candidate).await, false);
    let held = json!({ "reason": REASON, "until": null });
    put(&owner, &candidate, json!({ "reason": format!("\n{REASON}\u{0} \n") }))
        .await
        .expect_json(200, held.clone());
    owner.get(&hold).await.expect_json(200, held);
    assert_eq!(is_on_hold(&owner, &candidate).await, true);

    let before = app.table().snapshot().await;
    assert_refusal!(owner.delete(&candidate).await, @r#"400 {"code":"on_hold","detail":"The candidate is on hold and cannot be erased. Delete the hold first."}"#);
    assert_eq!(app.table().snapshot().await, before);

    owner.delete(&hold).await.expect(204);
    owner.get(&hold).await.expect_code(404, "not_found");
    owner.delete(&hold).await.expect_code(404, "not_found");
    assert_eq!(is_on_hold(&owner, &candidate).await, false);
    owner.delete(&candidate).await.expect(204);
    owner.get(&hold).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn a_hold_ends_by_itself_and_is_seen_to_end() {
    let (app, owner, candidate) = given().await;
    let hold = format!("{candidate}hold/");
    let until = json!({ "reason": REASON, "until": "2026-11-08T11:00:00Z" });
    put(&owner, &candidate, until.clone()).await.expect_json(200, until.clone());
    app.clock().advance(TimeDelta::minutes(60) - TimeDelta::milliseconds(1));
    owner.get(&hold).await.expect_json(200, until);
    let seen = owner.get(&candidate).await.expect(200);
    let tag = seen.header("etag").unwrap().to_owned();
    let get = Request::get(&candidate).header("if-none-match", &tag);
    owner.send(get.clone()).await.expect(304);
    owner.delete(&candidate).await.expect_code(400, "on_hold");

    app.clock().advance(TimeDelta::milliseconds(1));
    // Nothing was written, but who has the former answer does not keep it.
    assert_eq!(owner.send(get).await.expect(200).json()["is_on_hold"], false);
    let phone = Request::patch(&candidate).header("if-match", &tag).json(&json!({ "phone": "1" }));
    owner.send(phone).await.expect(200);
    owner.get(&hold).await.expect_code(404, "not_found");
    owner.delete(&hold).await.expect_code(404, "not_found");

    // Another one takes its place.
    put(&owner, &candidate, json!({ "reason": "Another claim." })).await.expect(200);
    owner.delete(&candidate).await.expect_code(400, "on_hold");
    let soon = json!({ "reason": "Another claim.", "until": "2026-11-08T11:00:01Z" });
    put(&owner, &candidate, soon).await.expect(200);
    app.clock().advance(TimeDelta::seconds(1));
    owner.delete(&candidate).await.expect(204);
}

#[tokio::test]
async fn a_hold_needs_a_reason_and_ends_in_the_future() {
    let (app, owner, candidate) = given().await;
    let before = app.table().snapshot().await;
    let until = |time: Value| json!({ "reason": REASON, "until": time });
    let bodies = [
        json!({}),
        json!({ "reason": null }),
        json!({ "reason": " \u{ad} " }),
        json!({ "reason": 7 }),
        json!({ "reason": "\u{0}\u{feff}" }),
        json!({ "reason": "x".repeat(501) }),
        json!({ "until": "2026-11-08T10:00:00Z" }),
        until(json!("2026-11-08T10:00:00Z")),
        until(json!("2001-01-01T00:00:00Z")),
        until(json!("2036-11-08T10:00:01Z")),
        until(json!("9999-12-31T23:59:59Z")),
        until(json!("2027-01-01")),
        until(json!("")),
        until(json!(1_798_135_200)),
    ];
    assert_refusals!(send_each(bodies, |body| put(&owner, &candidate, body)).await, @r#"
        400 {"reason":["This field is required."]}
        400 {"reason":["This field may not be null."]}
        2 x 400 {"reason":["This field may not be blank."]}
        400 {"reason":["Not a valid string."]}
        400 {"reason":["Ensure this field has no more than 500 characters."]}
        400 {"reason":["This field is required."],"until":["Must be in the future."]}
        2 x 400 {"until":["Must be in the future."]}
        2 x 400 {"until":["Must be within ten years."]}
        2 x 400 {"until":["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."]}
        400 {"until":["Not a valid string."]}
        "#);
    let list = put(&owner, &candidate, json!([{ "reason": REASON }])).await;
    assert!(list.status.is_client_error(), "{list}");
    owner.send(Request::put(&format!("{candidate}hold/"))).await.expect(400);
    assert_eq!(app.table().snapshot().await, before);

    for until in [json!("2036-11-08T10:00:00Z"), json!(null)] {
        put(&owner, &candidate, json!({ "reason": "x".repeat(500), "until": until })).await.expect(200);
    }
}

#[tokio::test]
async fn project_managers_see_that_there_is_a_hold_and_others_see_nothing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [manager, evaluator, guest] = [
        app.staff("hiring-manager").await,
        app.staff("hiring-manager").await,
        app.staff("hiring-manager").await,
    ];
    let roles = json!({ "interview_managers": [manager.uri], "evaluators": [evaluator.uri] });
    let project = owner.running_project(roles).await;
    let invited = owner.invite(&project, json!({})).await;
    let token = invited.register().await;
    let share = json!({ "customer": guest.uri });
    owner.post(&format!("{}shares/", invited.uri), share).await.expect(201);
    let (_, service) = owner.named_token("Payroll").await;
    put(&service, &invited.uri, json!({ "reason": REASON })).await.expect(200);

    let list = format!("{project}candidates/");
    for caller in [&owner, &manager] {
        assert_eq!(is_on_hold(caller, &invited.uri).await, true);
        assert_eq!(caller.get(&list).await.expect(200).json()["objects"][0]["is_on_hold"], true);
    }
    for caller in [&evaluator, &guest] {
        assert_eq!(caller.get(&invited.uri).await.expect(200).json().get("is_on_hold"), None);
    }
    for own in [&invited.uri, "/whoami/candidate/"] {
        let shown = token.get(own).await.expect(200).json();
        assert_eq!((shown.get("is_on_hold"), &shown["erasure_due_at"]), (None, &Value::Null), "{own}");
    }
    let shared = guest.get("/companies/acme/shares/?expand=candidate").await.expect(200).json();
    let shared = &shared["objects"][0]["candidate"];
    assert_eq!((shared.get("is_on_hold"), &shared["erasure_due_at"]), (None, &Value::Null));
    let hold = format!("{}hold/", invited.uri);
    manager.get(&hold).await.expect_code(403, "permission_denied");
    token.get(&hold).await.expect_code(403, "permission_denied");
}

#[tokio::test]
async fn events_tell_of_holds_and_never_why() {
    let (app, owner, candidate) = given().await;
    webhook(&owner, json!({ "types": ["candidate.*"] })).await;
    put(&owner, &candidate, json!({ "reason": REASON })).await.expect(200);
    let before = app.table().snapshot().await;
    let again = put(&owner, &candidate, json!({ "reason": REASON })).await.expect(200);
    assert_eq!(again.log().write_units, 0.0);
    assert_eq!(app.table().snapshot().await, before, "the same again is no event");
    let longer = json!({ "reason": REASON, "until": app.clock().in_days(9) });
    put(&owner, &candidate, longer).await.expect(200);
    owner.delete(&format!("{candidate}hold/")).await.expect(204);
    app.settle().await;

    let feed = read_all(&owner, &format!("resource={candidate}")).await;
    let history = owner.get(&format!("{candidate}events/")).await.expect(200).json();
    assert_eq!(json!(feed), history["objects"]);
    let told: Vec<Value> = feed[1..]
        .iter()
        .map(|event| json!([event["types"], event["data"]["changed"], event["data"]["previous"]]))
        .collect();
    assert_eq!(
        told,
        [
            json!([["candidate.held"], ["is_on_hold"], {}]),
            json!([["candidate.held"], ["is_on_hold"], {}]),
            json!([["candidate.released"], ["is_on_hold"], {}]),
        ]
    );
    assert!(feed.iter().all(|event| event["data"].get("is_on_hold").is_none()), "{feed:?}");
    assert!(!app.table().text().await.contains(REASON), "it goes with the hold");
}

#[tokio::test]
async fn if_match_is_of_the_candidate() {
    let (_, owner, candidate) = given().await;
    let first = put(&owner, &candidate, json!({ "reason": REASON })).await.expect(200);
    let hold = format!("{candidate}hold/");
    let tag = first.header("etag").unwrap();
    assert_eq!(owner.get(&hold).await.expect(200).header("etag"), Some(tag));
    let another = Request::put(&hold).header("if-match", tag).json(&json!({ "reason": "Another." }));
    let second = owner.send(another.clone()).await.expect(200);
    owner.send(another).await.expect_code(412, "precondition_failed");
    owner.send(Request::delete(&hold).header("if-match", tag)).await.expect_code(412, "precondition_failed");
    let shown = owner.get(&candidate).await.expect(200);
    // A hold set since a manager read the candidate makes their deletion stale.
    let revision =
        |response: &Response| response.header("etag").unwrap().split('-').next().unwrap().to_owned();
    assert_eq!(revision(&shown), revision(&second));
    owner.send(Request::delete(&hold).header("if-match", shown.header("etag").unwrap())).await.expect(204);
    let stale = Request::delete(&candidate).header("if-match", shown.header("etag").unwrap());
    owner.send(stale).await.expect_code(412, "precondition_failed");
}

#[tokio::test]
async fn a_hold_that_comes_while_a_deletion_is_under_way_wins() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let candidate = owner.candidate(&owner.project(json!({})).await, json!({})).await;
    let deleting = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        deleting.reached().await;
        put(&owner, &candidate, json!({ "reason": REASON })).await.expect(200);
        deleting.resume();
    };
    let (refused, ()) = tokio::join!(owner.delete(&candidate), meanwhile);
    refused.expect_code(400, "on_hold");
    assert_eq!(is_on_hold(&owner, &candidate).await, true);
}

#[tokio::test]
async fn a_deletion_that_comes_while_a_hold_is_set_wins() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let candidate = owner.candidate(&owner.project(json!({})).await, json!({})).await;
    let holding = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        holding.reached().await;
        owner.delete(&candidate).await.expect(204);
        holding.resume();
    };
    let (refused, ()) = tokio::join!(put(&owner, &candidate, json!({ "reason": REASON })), meanwhile);
    refused.expect_code(404, "not_found");
    assert!(!app.table().text().await.contains(REASON));
}
