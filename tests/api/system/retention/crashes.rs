//! Runs that die: the end is that of an undisturbed run.

use chrono::TimeDelta;
use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::chaos::{Chaos, Fault};
use tests::effort;

use super::{GivenCompany, counts};

/// Three candidates who are due by retention, one who has requested it, one on hold, and one who will soon be due.
struct DueCandidates {
    given: GivenCompany,
    chaos: Chaos,
    due: Vec<String>,
    kept: [String; 2],
}

impl DueCandidates {
    async fn start() -> Self {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let given = GivenCompany::on(app).await;
        given.set_retention(json!({ "days": 7, "request_days": 3 })).await;
        let mut due = given.candidates(3).await;
        let held = given.candidate().await;
        given.hold(&held, Value::Null).await;
        given.app.clock().advance(TimeDelta::days(5));
        let [requested, soon] = [given.candidate().await, given.candidate().await];
        let request = tests::http::Request::put(&format!("{requested}erasure-request/"));
        given.token.send(request).await.expect(200);
        due.push(requested);
        given.app.clock().advance(TimeDelta::days(3));
        Self { given, chaos, due, kept: [held, soon] }
    }

    /// Checks that everything is as after an undisturbed run.
    async fn assert_done(&self, case: &str) {
        let Self { given, due, kept, .. } = self;
        assert_eq!(given.existing(due).await, [false; 4], "{case}");
        assert_eq!(given.existing(kept).await, [true; 2], "{case}");
        assert_eq!(given.last_run().await, counts(5, 3, 1, 1, 0), "{case}");
        let completed = given.events("retention.completed").await;
        assert_eq!(completed.len(), 1, "{case}");
        let mut reasons: Vec<_> = given.events("candidate.erased").await;
        reasons.sort_by_key(|event| event["data"]["resource_uri"].to_string());
        let reasons: Vec<_> = reasons.iter().map(|event| event["data"]["reason"].clone()).collect();
        assert_eq!(reasons, ["retention", "retention", "retention", "requested"], "{case}");
    }
}

/// How many writes an undisturbed run makes.
async fn writes() -> usize {
    let candidates = DueCandidates::start().await;
    candidates.chaos.cut_after_writes(1_000);
    candidates.given.app.erase_due().await;
    let left = candidates.chaos.left().unwrap();
    candidates.chaos.heal();
    candidates.assert_done("undisturbed").await;
    1_000 - left
}

/// Lets runs die after each number of writes, and the answers to deletions be lost or not.
async fn kill_after_each_write(are_answers_lost: bool) {
    let writes = writes().await;
    assert!(writes > 7, "{writes}");
    for survived in effort::cases(0..writes) {
        let candidates = DueCandidates::start().await;
        let DueCandidates { given, chaos, due, .. } = &candidates;
        for candidate in due.iter().filter(|_| are_answers_lost) {
            chaos.next_about("TransactWriteItems", last_segment(candidate), Fault::AnswerLost);
        }
        chaos.cut_after_writes(survived);
        let _ = given.app.try_to_erase_due().await;
        chaos.heal();
        given.app.settle().await;
        given.app.assert_sound();
        given.app.clock().advance(TimeDelta::minutes(10));
        given.app.erase_due().await;
        candidates.assert_done(&format!("killed after {survived} writes of {writes}")).await;
    }
}

#[tokio::test]
async fn a_run_that_dies_after_any_write_goes_on() {
    kill_after_each_write(false).await;
}

#[tokio::test]
async fn a_run_that_dies_before_it_knows_of_its_deletions_goes_on() {
    kill_after_each_write(true).await;
}

#[tokio::test]
async fn a_run_counts_nobody_whom_a_manager_has_deleted_after_it_died() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let given = GivenCompany::on(app).await;
    given.set_retention(json!({ "days": 7 })).await;
    let candidate = given.candidate().await;
    given.app.clock().advance(TimeDelta::days(8));
    let pause = chaos.pause_about("TransactWriteItems", last_segment(&candidate));
    let app = given.app.clone();
    let run = tokio::spawn(async move { app.erase_due().await });
    pause.reached().await;
    run.abort();
    given.token.delete(&candidate).await.expect(204);
    given.app.clock().advance(TimeDelta::minutes(10));
    assert_eq!(given.app.erase_due().await.runs, 1);
    assert_eq!(given.last_run().await, counts(0, 0, 0, 0, 0));
}

#[tokio::test]
async fn a_deletion_without_an_answer_is_counted_if_it_has_happened() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let given = GivenCompany::on(app).await;
    given.set_retention(json!({ "days": 7 })).await;
    let candidates = given.candidates(2).await;
    given.app.clock().advance(TimeDelta::days(8));
    for _ in 0..8 {
        chaos.next_about("TransactWriteItems", last_segment(&candidates[0]), Fault::AnswerLost);
        chaos.next_about("TransactWriteItems", last_segment(&candidates[1]), Fault::Unreachable);
    }
    let summary = given.app.erase_due().await;
    assert_eq!((summary.erased, summary.failed, summary.runs), (1, 1, 1));
    assert_eq!(given.existing(&candidates).await, [false, true]);
    assert_eq!(given.last_run().await, counts(2, 1, 0, 0, 0));
}
