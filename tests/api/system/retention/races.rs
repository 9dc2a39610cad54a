//! Requests at the moment at which their candidate is erased.

use std::time::Duration;

use chrono::TimeDelta;
use retention::InvocationLimits;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::chaos::{Chaos, Pause};
use tests::http::{Request, Response};

use super::{GivenCompany, counts};

/// A candidate who is due.
async fn given() -> (GivenCompany, Chaos, String) {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let given = GivenCompany::on(app).await;
    given.set_retention(json!({ "days": 7 })).await;
    let candidate = given.candidate().await;
    given.app.clock().advance(TimeDelta::days(8));
    (given, chaos, candidate)
}

/// Holds the next transaction that writes a candidate.
fn pause(chaos: &Chaos, candidate: &str) -> Pause {
    chaos.pause_about("TransactWriteItems", last_segment(candidate))
}

/// Runs until the erasure is on its way, then lets `request` be faster.
async fn request_first(
    given: &GivenCompany,
    pause: Pause,
    request: impl Future<Output = Response>,
) -> Response {
    let meanwhile = async {
        pause.reached().await;
        let response = request.await;
        pause.resume();
        response
    };
    let (summary, response) = tokio::join!(given.app.erase_due(), meanwhile);
    assert_eq!((summary.erased, summary.moved_on, summary.failed), (0, 1, 0));
    assert_eq!(given.last_run().await, counts(1, 0, 0, 0, 0));
    response
}

/// Sends `request`, and lets the erasure be faster.
async fn erasure_first(
    given: &GivenCompany,
    pause: Pause,
    request: impl Future<Output = Response>,
) -> Response {
    let meanwhile = async {
        pause.reached().await;
        assert_eq!(given.app.erase_due().await.erased, 1);
        pause.resume();
    };
    tokio::join!(request, meanwhile).0
}

fn activity(given: &GivenCompany, candidate: &str) -> impl Future<Output = Response> {
    let deadline = json!({ "deadline": given.app.clock().in_days(3) });
    let (token, target) = (given.token.clone(), format!("{candidate}deadline/"));
    async move { token.patch(&target, deadline).await }
}

fn hold(given: &GivenCompany, candidate: &str) -> impl Future<Output = Response> {
    let (token, target) = (given.token.clone(), format!("{candidate}hold/"));
    async move { token.send(Request::put(&target).json(&json!({ "reason": "Lawsuit" }))).await }
}

#[tokio::test]
async fn a_change_that_is_faster_keeps_the_candidate_until_the_next_run() {
    let (given, chaos, candidate) = given().await;
    let faster = activity(&given, &candidate);
    request_first(&given, pause(&chaos, &candidate), faster).await.expect(200);
    assert!(given.exists(&candidate).await);
    // The deadline of a new candidate is no activity.
    given.app.clock().advance(TimeDelta::days(1));
    assert_eq!(given.app.erase_due().await.erased, 1);
}

#[tokio::test]
async fn a_change_that_is_slower_finds_no_candidate() {
    let (given, chaos, candidate) = given().await;
    let slower = activity(&given, &candidate);
    erasure_first(&given, pause(&chaos, &candidate), slower).await.expect(404);
    assert!(!given.exists(&candidate).await);
}

#[tokio::test]
async fn a_hold_that_is_faster_keeps_the_candidate() {
    let (given, chaos, candidate) = given().await;
    let faster = hold(&given, &candidate);
    request_first(&given, pause(&chaos, &candidate), faster).await.expect(200);
    given.app.clock().advance(TimeDelta::days(1));
    assert_eq!(given.app.erase_due().await.erased, 0);
    assert!(given.exists(&candidate).await);
    assert_eq!(given.last_run().await, counts(1, 0, 1, 0, 0));
}

#[tokio::test]
async fn a_hold_that_is_slower_finds_no_candidate() {
    let (given, chaos, candidate) = given().await;
    let slower = hold(&given, &candidate);
    erasure_first(&given, pause(&chaos, &candidate), slower).await.expect(404);
    assert!(!given.exists(&candidate).await);
}

#[tokio::test]
async fn a_run_that_is_under_way_obeys_a_new_policy() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let given = GivenCompany::on(app).await;
    let candidates = given.candidates(25).await;
    given.set_retention(json!({ "days": 7 })).await;
    given.app.clock().advance(TimeDelta::days(8));
    let pause = pause(&chaos, &candidates[0]);
    let delete_policy = async {
        pause.reached().await;
        given.token.delete(&given.retention()).await.expect(204);
        pause.resume();
    };
    let limits = InvocationLimits { time: Duration::MAX, company_time: Duration::MAX, pause: Duration::ZERO };
    let (summary, ()) = tokio::join!(given.app.erase_due_within(limits), delete_policy);
    assert_eq!(summary.erased, 20, "those of the batch that was on its way");
    assert_eq!(given.last_run().await, counts(25, 20, 0, 0, 0));
    let existing = given.existing(&candidates).await;
    assert_eq!(existing.iter().filter(|exists| **exists).count(), 5);
    let [completed] = &given.events("retention.completed").await[..] else { panic!() };
    assert_eq!(completed["data"]["days"], Value::Null);
}
