//! Functions with a schedule do something of each kind of work in each run, for companies in turn, however much there is of
//! another kind or of another company.

use std::time::Duration;

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::takes::Interviewee;

/// A run of the outbox's schedule that takes one step at each kind of work.
async fn hurried(app: &TestApp) -> Value {
    let summary = Box::pin(outbox::sweep(app.app(), Duration::ZERO)).await.unwrap();
    serde_json::to_value(summary).unwrap()
}

/// How many events of a company have numbers.
async fn numbered(owner: &Staff) -> usize {
    let events = owner.get(&format!("/companies/{}/events/", owner.company)).await.expect(200).json();
    events["objects"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_run_of_the_outbox_takes_a_step_at_each_kind_of_work() {
    let app = TestApp::start().await;
    let interviewee = Interviewee::asked(&app, json!({})).await;
    let owner = &interviewee.owner;
    interviewee.begin().await;
    let announced = json!({ "field": "cv", "content_type": "application/pdf", "size": 9 });
    owner.post(&format!("{}uploads/", interviewee.candidate.uri), announced).await.expect(201);
    let announced = json!({
        "name": "Welcome", "upload_filename": "w.mov", "content_type": "video/quicktime", "size": 9,
    });
    owner.post("/companies/acme/videos/", announced).await.expect(201);
    app.clock().advance(TimeDelta::hours(4));
    let run = hurried(&app).await;
    let done =
        ["events", "uploads_given_up", "takes_closed", "outdated"].map(|kind| run[kind].as_u64().unwrap());
    assert!(done[0] > 0 && done[1..] == [2, 1, 1], "{run}");
}

#[tokio::test]
async fn events_of_a_company_do_not_wait_for_the_many_of_another() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for number in 0..110 {
        owner.label(&format!("label {number}")).await;
    }
    app.clock().advance(TimeDelta::seconds(30));
    let other = app.owner_of("globex").await;
    for number in 0..4 {
        other.label(&format!("label {number}")).await;
    }
    app.clock().advance(TimeDelta::minutes(2));
    let run = hurried(&app).await;
    assert_eq!((&run["events"], &run["more"]), (&json!(100), &json!(true)), "{run}");
    assert!(numbered(&other).await >= 4, "{run}");
}
