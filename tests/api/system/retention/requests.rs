//! Requests for erasure that nobody answers.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::caller::Caller;
use tests::http::Request;

use super::GivenCompany;
use retention::RetentionSummary;

async fn request_erasure(given: &GivenCompany, candidate: &str) -> Value {
    given.token.send(Request::put(&format!("{candidate}erasure-request/"))).await.expect(200).json()
}

#[tokio::test]
async fn a_request_without_an_answer_is_carried_out_on_its_day() {
    let given = GivenCompany::start().await;
    let candidates = given.candidates(3).await;
    let request = request_erasure(&given, &candidates[0]).await;
    assert_eq!(request["due_at"], given.app.clock().in_days(30));
    request_erasure(&given, &candidates[1]).await;
    given.token.delete(&format!("{}erasure-request/", candidates[1])).await.expect(204);

    given.app.clock().advance(TimeDelta::days(30) - TimeDelta::seconds(1));
    assert_eq!(given.app.erase_due().await, RetentionSummary::default(), "not a second too early");
    given.app.clock().advance(TimeDelta::seconds(1));
    let summary = given.app.erase_due().await;
    assert_eq!(summary, RetentionSummary { requested: 1, ..RetentionSummary::default() });
    assert_eq!(given.existing(&candidates).await, [false, true, true]);
    let [erased] = &given.events("candidate.erased").await[..] else { panic!() };
    assert_eq!(erased["data"]["reason"], "requested");
    assert_eq!(erased["data"]["resource_uri"], candidates[0]);
}

#[tokio::test]
async fn a_hold_moves_a_request_from_day_to_day() {
    let given = GivenCompany::start().await;
    let candidate = given.candidate().await;
    request_erasure(&given, &candidate).await;
    given.hold(&candidate, Value::Null).await;
    // The function was away for two days and an hour.
    given.app.clock().advance(TimeDelta::days(32) + TimeDelta::hours(1));
    let summary = given.app.erase_due().await;
    assert_eq!((summary.postponed, summary.requested), (1, 0));
    let shown = given.token.get(&format!("{candidate}erasure-request/")).await.expect(200).json();
    assert_eq!(shown["due_at"], "2026-12-11T10:00:00Z", "the same time of the next day");
    assert_eq!(given.app.erase_due().await, RetentionSummary::default());

    given.token.delete(&format!("{candidate}hold/")).await.expect(204);
    given.app.clock().advance(TimeDelta::days(1));
    assert_eq!(given.app.erase_due().await.requested, 1);
    assert!(!given.exists(&candidate).await);
}

#[tokio::test]
async fn a_request_of_no_days_is_carried_out_at_once() {
    let given = GivenCompany::start().await;
    given.set_retention(json!({ "days": null, "request_days": 0 })).await;
    let candidate = given.candidate().await;
    request_erasure(&given, &candidate).await;
    assert_eq!(given.app.erase_due().await.requested, 1);
    assert!(!given.exists(&candidate).await);
}
