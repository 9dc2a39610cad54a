//! Starts of runs, how long they go on, and what becomes of the others if one fails.

use std::time::Duration;

use chrono::TimeDelta;
use retention::InvocationLimits;
use serde_json::json;
use shared::clock::Clock;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::chaos::Fault;
use tests::http::Request;
use tests::logs;

use super::{GivenCompany, RETENTION, counts};

/// No time: each invocation does the least that it can.
const HURRIED: InvocationLimits =
    InvocationLimits { time: Duration::ZERO, company_time: Duration::ZERO, pause: Duration::ZERO };

#[tokio::test]
async fn a_run_without_time_goes_on_in_the_middle_of_a_project() {
    let given = GivenCompany::start().await;
    let candidates = given.candidates(45).await;
    given.set_retention(json!({ "days": 7, "notice_days": 30 })).await;
    given.app.clock().advance(TimeDelta::days(7));
    let soon = given.candidate().await;
    given.app.clock().advance(TimeDelta::days(1));
    let mut turns = Vec::new();
    loop {
        let summary = given.app.erase_due_within(HURRIED).await;
        turns.push(summary.erased);
        given.app.assert_sound();
        if !summary.more {
            break;
        }
    }
    assert_eq!(turns[..3], [20, 20, 5]);
    assert!(given.exists(&soon).await);
    assert_eq!(given.existing(&candidates).await, vec![false; 45]);
    assert_eq!(given.last_run().await, counts(46, 45, 0, 1, 0), "each once, though pages were read again");
}

#[tokio::test]
async fn companies_take_turns() {
    let given = GivenCompany::start().await;
    let other = GivenCompany::of(given.app.owner_of("globex").await).await;
    let mut candidates = Vec::new();
    for given in [&given, &other] {
        given.set_retention(json!({ "days": 7 })).await;
        candidates.push(given.candidates(25).await);
    }
    given.app.clock().advance(TimeDelta::days(8));
    let limits = InvocationLimits { time: Duration::MAX, ..HURRIED };
    let summary = given.app.erase_due_within(limits).await;
    assert_eq!((summary.erased, summary.runs, summary.more), (50, 2, false));
    assert_eq!(given.existing(&candidates[0]).await, vec![false; 25]);
    assert_eq!(other.existing(&candidates[1]).await, vec![false; 25]);
}

#[tokio::test]
async fn each_kind_of_work_gets_further_however_many_requests_are_due() {
    let given = GivenCompany::start().await;
    let candidates = given.candidates(30).await;
    for candidate in &candidates {
        given.token.send(Request::put(&format!("{candidate}erasure-request/"))).await.expect(200);
    }
    given.app.clock().advance(TimeDelta::minutes(1));
    let ending = GivenCompany::of(given.app.owner_of("globex").await).await;
    ending.candidates(3).await;
    let kept = GivenCompany::of(given.app.owner_of("initech").await).await;
    let requested = kept.candidates(3).await;
    for candidate in &requested {
        kept.token.send(Request::put(&format!("{candidate}erasure-request/"))).await.expect(200);
    }
    kept.set_retention(json!({ "days": 7 })).await;
    let old = kept.candidates(2).await;
    given.app.clock().advance(TimeDelta::days(31));
    let erase = json!({ "command": "erase-company", "company": "globex", "confirm": "globex" });
    given.app.operate(erase).await.unwrap();
    let summary = given.app.erase_due_within(HURRIED).await;
    // Three are due by their request and by the rule: whichever is faster erases them.
    assert_eq!((summary.requested + summary.erased, summary.of_companies), (22, 3), "{summary:?}");
    assert_eq!(kept.existing(&requested).await, [false; 3], "companies take turns");
    assert_eq!(kept.existing(&old).await, [false; 2]);
    let left = given.existing(&candidates).await.into_iter().filter(|exists| *exists).count();
    assert_eq!(left, 13);
}

#[tokio::test]
async fn each_company_has_its_run_and_a_failure_holds_up_nobody() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let mut companies = Vec::new();
    for company in ["acme", "globex", "initech"] {
        let owner = if company == "acme" { app.owner().await } else { app.owner_of(company).await };
        let given = GivenCompany::of(owner).await;
        given.set_retention(json!({ "days": 7 })).await;
        let candidate = given.candidate().await;
        companies.push((given, candidate));
    }
    app.clock().advance(TimeDelta::days(8));
    logs::take_lines("retention");
    for _ in 0..8 {
        chaos.next_about("Query", "COMPANY#globex", Fault::Throttled);
    }
    let summary = app.erase_due().await;
    assert_eq!((summary.erased, summary.runs, summary.failed), (2, 2, 1), "{summary:?}");
    let lines = logs::take_lines("retention");
    let told: Vec<_> = lines.iter().filter(|line| line["storage_busy"] == 1).collect();
    assert_eq!(told.len(), 1);
    assert_eq!(
        (&told[0]["level"], &told[0]["company"], &told[0]["work"]),
        (&json!("WARN"), &json!("globex"), &json!("retention runs"))
    );
    let mut existing = Vec::new();
    for (given, candidate) in &companies {
        existing.push(given.exists(candidate).await);
    }
    assert_eq!(existing, [false, true, false]);

    assert_eq!(app.erase_due().await.runs, 0, "the lease stands");
    app.clock().advance(TimeDelta::minutes(10));
    assert_eq!(app.erase_due().await.erased, 1, "the run goes on");
}

#[tokio::test]
async fn a_run_starts_once_in_each_night_of_the_company() {
    let given = GivenCompany::start().await;
    given.token.patch("/companies/acme/", json!({ "timezone": "Europe/Berlin" })).await.expect(200);
    // Two days before clocks are set forward.
    given.app.clock().advance(
        "2027-03-26T12:00:00Z".parse::<chrono::DateTime<chrono::Utc>>().unwrap() - given.app.clock().now(),
    );
    given.set_retention(json!({ "days": 7 })).await;
    let mut starts = Vec::new();
    for _ in 0..4 * 24 {
        given.app.clock().advance(TimeDelta::hours(1));
        if given.app.erase_due().await.runs > 0 {
            starts.push(given.app.clock().now().format("%d %H").to_string());
        }
    }
    assert_eq!(starts, ["27 01", "28 01", "29 00", "30 00"]);
}

#[tokio::test]
async fn an_overdue_run_is_a_delay_in_the_log() {
    let given = GivenCompany::start().await;
    given.set_retention(json!({ "days": 7 })).await;
    let next = given.token.get(RETENTION).await.expect(200).json()["next_run_at"].clone();
    assert_eq!(next, "2026-11-09T02:00:00Z");
    given.app.clock().advance(TimeDelta::hours(16 + 7));
    logs::take_lines("retention");
    let summary = given.app.erase_due().await;
    assert_eq!(summary.retention_delay_seconds, 7 * 3600);
    assert_eq!(logs::take_lines("retention").pop().unwrap()["retention_delay_seconds"], 7 * 3600);
    assert_eq!(given.app.erase_due().await.retention_delay_seconds, 0);
}

#[tokio::test]
async fn an_erasure_that_does_not_end_is_a_delay_in_the_log_until_it_has_ended() {
    let (app, [_dynamodb, s3]) = TestApp::start_with_storage_chaos().await;
    let given = GivenCompany::on(app).await;
    let candidate = given.candidate().await;
    let sweep = async || given.app.sweep().await["OutboxFunction"]["erasure_delay_seconds"].clone();
    s3.always("LIST", Fault::Unreachable);
    given.token.delete(&candidate).await.expect(204);
    let mut delays = Vec::new();
    // The outbox tries for three days.
    for _ in 0..5 {
        given.app.clock().advance(TimeDelta::days(1));
        delays.push(sweep().await);
    }
    assert_eq!(delays, [1, 2, 3, 4, 5].map(|days| json!(days * 86_400)), "also once it is given up");
    s3.heal();
    let retried = given.app.operate(json!({ "command": "retry-effects" })).await.unwrap()["retried"].clone();
    assert_eq!(retried, json!({ "erased": 1 }));
    assert_eq!(sweep().await, json!(0));
    assert_eq!(given.events("candidate.erased").await.len(), 1);
}
