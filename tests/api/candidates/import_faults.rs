//! Imports during which the process dies, or the storage or the time runs short.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::Staff;
use tests::chaos::{Chaos, Fault, Pause};
use tests::effort;

use crate::candidates::import::{
    KEY, assert_replayed, candidates, entries, entry, import, mixed, without_references,
};

/// Holds the next transaction of each of the four lanes.
fn hold_lanes(chaos: &Chaos) -> Vec<Pause> {
    (0..4).map(|_| chaos.pause("TransactWriteItems")).collect()
}

async fn reached(held: &[Pause]) {
    for lane in held {
        lane.reached().await;
    }
}

/// The report and the candidates of an undisturbed import of [`mixed`].
async fn undisturbed() -> (Value, Vec<(String, String, usize)>, u32) {
    let (app, _chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let response = import(&owner, &project, Some(KEY), &mixed(&app).0).await.expect(200);
    (without_references(&response.json()), candidates(&app).await, response.log().dynamodb_calls)
}

/// The service with a project that runs, and what will be imported.
async fn given() -> (TestApp, Chaos, Staff, String, Value) {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let list = mixed(&app).0;
    (app, chaos, owner, project, list)
}

#[tokio::test]
async fn a_retry_completes_an_import_that_stopped_at_any_point() {
    let (report, state, calls) = undisturbed().await;
    for survived in effort::cases(0..=calls) {
        let (app, chaos, owner, project, list) = given().await;
        chaos.cut_after(survived as usize);
        // The answer is lost with the process.
        let _ = import(&owner, &project, Some(KEY), &list).await;
        chaos.heal();
        app.assert_sound();
        let left = candidates(&app).await;
        assert!(left.len() <= state.len());
        let began = (2..calls).contains(&survived);
        if began {
            assert_refusal!(import(&owner, &project, Some(KEY), &list).await, @r#"409 {"code":"in_progress","detail":"A request with this `Idempotency-Key` is still running. Retry after the seconds in `Retry-After`."}"#);
        }
        app.clock().advance(TimeDelta::seconds(30));
        let repeated = import(&owner, &project, Some(KEY), &list).await.expect(200);
        assert_eq!(without_references(&repeated.json()), report, "after {survived} calls");
        assert_eq!(candidates(&app).await, state, "after {survived} calls");
        let is_replay = repeated.header("idempotent-replayed").is_some();
        assert_eq!(is_replay, survived == calls, "after {survived} calls");
        app.assert_sound();
        let again = import(&owner, &project, Some(KEY), &list).await;
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        assert_eq!(again.body, repeated.body);
        assert_eq!(candidates(&app).await, state);
    }
}

#[tokio::test]
async fn one_that_was_only_thought_dead_and_its_successor_create_nothing_twice() {
    let (report, state, _) = undisturbed().await;
    let (app, chaos, owner, project, list) = given().await;
    let held = hold_lanes(&chaos);
    let meanwhile = async {
        reached(&held).await;
        app.clock().advance(TimeDelta::seconds(30));
        let successor = import(&owner, &project, Some(KEY), &list).await.expect(200);
        app.clock().advance(TimeDelta::seconds(-30));
        held.iter().for_each(Pause::resume);
        successor
    };
    let (first, successor) = tokio::join!(import(&owner, &project, Some(KEY), &list), meanwhile);
    assert_eq!(first.expect(200).json(), successor.json());
    assert_eq!(without_references(&successor.json()), report);
    assert_eq!(candidates(&app).await, state);
    assert_replayed(import(&owner, &project, Some(KEY), &list).await, &successor);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_who_would_go_on_with_it_one_does() {
    let (report, state, calls) = undisturbed().await;
    let (app, chaos, owner, project, list) = given().await;
    chaos.cut_after(calls as usize / 2);
    let _ = import(&owner, &project, Some(KEY), &list).await;
    chaos.heal();
    app.clock().advance(TimeDelta::seconds(30));
    let repeat = || import(&owner, &project, Some(KEY), &list);
    let (a, b, c, d) = tokio::join!(repeat(), repeat(), repeat(), repeat());
    let mut done = 0;
    for response in [a, b, c, d] {
        if response.status == 200 {
            assert_eq!(without_references(&response.json()), report);
            done += usize::from(response.header("idempotent-replayed").is_none());
        } else {
            assert_refusal!(response, @r#"409 {"code":"in_progress","detail":"A request with this `Idempotency-Key` is still running. Retry after the seconds in `Retry-After`."}"#);
        }
    }
    assert_eq!(done, 1);
    assert_eq!(candidates(&app).await, state);
}

#[tokio::test]
async fn lost_answers_of_the_storage_change_nothing() {
    let (report, state, _) = undisturbed().await;
    let (app, chaos, owner, project, list) = given().await;
    for operation in ["PutItem", "TransactWriteItems", "PutItem"] {
        chaos.next(operation, Fault::AnswerLost);
    }
    let first = import(&owner, &project, Some(KEY), &list).await.expect(200);
    assert_eq!(without_references(&first.json()), report);
    assert_eq!(candidates(&app).await, state);
    assert_replayed(import(&owner, &project, Some(KEY), &list).await, &first);

    // All is done, and nothing is heard of it.
    let (app, chaos, owner, project, list) = given().await;
    chaos.always("TransactWriteItems", Fault::AnswerLost);
    let deaf = import(&owner, &project, Some(KEY), &list).await.expect(200).json();
    assert_eq!(deaf["meta"], json!({ "total": 12, "created": 0, "invited": 0, "failed": 12, "pending": 0 }));
    assert_eq!(candidates(&app).await, state);
    chaos.heal();
    let repeated = import(&owner, &project, Some(KEY), &list).await.expect(200);
    assert_eq!(without_references(&repeated.json()), report);
    assert_eq!(candidates(&app).await, state);
}

#[tokio::test]
async fn entries_that_the_storage_has_no_time_for_fail_and_a_repeat_does_them() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let list = json!(entries(&app, 12));
    // Four lanes fail for one entry each, whichever they get.
    for _ in 0..4 * 8 {
        chaos.next("TransactWriteItems", Fault::Throttled);
    }
    let report = import(&owner, &project, Some(KEY), &list).await.expect(200).json();
    let failed: Vec<&Value> =
        report["objects"].as_array().unwrap().iter().filter(|row| row["status"] == "failed").collect();
    assert!((1..=4).contains(&failed.len()), "{report:#}");
    assert!(
        failed.iter().all(|row| row["errors"]["code"] == "busy" && row["candidate"].is_null()),
        "{report:#}"
    );
    assert_eq!(report["meta"]["invited"], 12 - failed.len());
    let repeated = import(&owner, &project, Some(KEY), &list).await.expect(200);
    assert_eq!(
        repeated.json()["meta"],
        json!({ "total": 12, "created": 12, "invited": 12, "failed": 0, "pending": 0 })
    );
    assert!(candidates(&app).await.iter().all(|(_, status, mails)| status == "invited" && *mails == 1));
    assert_replayed(import(&owner, &project, Some(KEY), &list).await, &repeated);
}

#[tokio::test]
async fn entries_that_the_request_has_no_time_for_are_left_to_a_repeat() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let list = json!(entries(&app, 10));
    let held = hold_lanes(&chaos);
    let meanwhile = async {
        reached(&held).await;
        app.clock().advance(TimeDelta::seconds(22));
        held.iter().for_each(Pause::resume);
    };
    let (first, ()) = tokio::join!(import(&owner, &project, Some(KEY), &list), meanwhile);
    let report = first.expect(200).json();
    assert_eq!(report["meta"], json!({ "total": 10, "created": 4, "invited": 4, "failed": 0, "pending": 6 }));
    for row in report["objects"].as_array().unwrap().iter().skip(4) {
        assert_eq!((&row["status"], &row["errors"]["code"]), (&json!("pending"), &json!("not_done_in_time")));
    }
    let how =
        "Entries 4-9 were not processed in time. Retry the whole request with the same `Idempotency-Key`.";
    assert_eq!(report["detail"], how);
    let repeated = import(&owner, &project, Some(KEY), &list).await.expect(200);
    assert_eq!(
        repeated.json()["meta"],
        json!({ "total": 10, "created": 10, "invited": 10, "failed": 0, "pending": 0 })
    );
    assert_eq!(repeated.json()["objects"][0], report["objects"][0]);
    assert_eq!(repeated.json().get("detail"), None);
    assert_replayed(import(&owner, &project, Some(KEY), &list).await, &repeated);
}

#[tokio::test]
async fn without_a_key_the_response_names_the_entries_to_send_again() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let mut list = entries(&app, 10);
    // Wrong whenever it is sent.
    list[6]["email"] = json!("nobody");
    let body = json!(list);
    let held = hold_lanes(&chaos);
    let meanwhile = async {
        reached(&held).await;
        app.clock().advance(TimeDelta::seconds(22));
        held.iter().for_each(Pause::resume);
    };
    let (first, ()) = tokio::join!(import(&owner, &project, None, &body), meanwhile);
    let report = first.expect(200).json();
    assert_eq!(report["meta"], json!({ "total": 10, "created": 4, "invited": 4, "failed": 1, "pending": 5 }));
    assert_eq!(report["detail"], "Entries 4-5, 7-9 were not processed in time. Send only these again.");
    let left: Vec<Value> = [4, 5, 7, 8, 9].into_iter().map(|index| list[index].clone()).collect();
    let rest = import(&owner, &project, None, &left.into()).await.expect(200).json();
    assert_eq!(rest["meta"], json!({ "total": 5, "created": 5, "invited": 5, "failed": 0, "pending": 0 }));
    assert_eq!(candidates(&app).await.len(), 9);
}

#[tokio::test]
async fn a_project_that_stops_running_meanwhile_gets_candidates_who_are_not_invited() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let held = chaos.pause("TransactWriteItems");
    let meanwhile = async {
        held.reached().await;
        owner.set_status(&project, "10-incomplete").await.expect(200);
        held.resume();
    };
    let list = json!([entry(&app, 0)]);
    let (response, ()) = tokio::join!(import(&owner, &project, None, &list), meanwhile);
    let report = response.expect(200).json();
    assert_eq!(report["meta"], json!({ "total": 1, "created": 1, "invited": 0, "failed": 0, "pending": 0 }));
    assert_eq!(report["objects"][0]["errors"]["code"], "project_not_running");
    assert_eq!(candidates(&app).await, [("Number 0".to_owned(), "new".to_owned(), 0)]);
}
