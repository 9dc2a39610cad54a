//! What it takes to expire deadlines: 10,000 that have passed among 100,000 candidates of ten projects; to send 10,000 reminders;
//! and what partitions take of it if 4,000 deadlines of one project pass at once, with the latency of DynamoDB on AWS.
//!
//! `tests/bench sweep [DUE [ALL]]` measures other numbers.
#![recursion_limit = "256"]
use std::error::Error;
use std::time::Duration;

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::clock::{Clock, Stopwatch};
use tests::app::TestApp;
use tests::caller::Caller;
use tests::logs::take_lines;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PROJECTS: usize = 10;
/// Deadlines of one project that pass at once.
const OF_ONE: usize = 4_000;
/// Additional latency per response of DynamoDB, about that of a transaction on AWS.
const LATENCY: Duration = Duration::from_millis(15);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // Cargo adds --bench.
    let numbers: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let due = numbers.first().copied().unwrap_or(10_000);
    let all = numbers.get(1).copied().unwrap_or(100_000).max(due);

    let app = TestApp::start().await;
    let owner = app.owner().await;
    let now = app.clock().now();
    let stopwatch = Stopwatch::start();
    let mut projects = Vec::new();
    for _ in 0..PROJECTS {
        let project = owner.running_project(json!({})).await;
        app.fill(&project, due / PROJECTS, now + TimeDelta::hours(1)).await;
        app.fill(&project, (all - due) / PROJECTS, now + TimeDelta::days(30)).await;
        projects.push(project);
    }
    print("filled_seconds", round(stopwatch.elapsed().as_secs_f64()));

    app.clock().advance(TimeDelta::minutes(90));
    let summary = deadline_expiry::sweep(app.app(), Duration::MAX).await?;
    let line = take_lines("deadline-expiry").pop().ok_or("no summary in the log")?;
    for (figure, value) in [
        ("due", json!(due)),
        ("candidates", json!(all)),
        ("expired", json!(summary.expired)),
        ("failed", json!(summary.failed)),
        ("lag_seconds", json!(summary.lag_seconds)),
        ("seconds", round(line["milliseconds"].as_f64().unwrap_or_default() / 1e3)),
        ("dynamodb_calls", line["dynamodb_calls"].clone()),
        ("read_units", line["read_units"].clone()),
        ("write_units", line["write_units"].clone()),
    ] {
        print(figure, value);
    }

    // Each once, and the counts say so.
    let expired = due / PROJECTS * PROJECTS;
    let mut counted = 0;
    for project in &projects {
        counted +=
            owner.get(project).await.expect(200).json()["expired_candidates_count"].as_u64().unwrap_or(0);
    }
    let again = deadline_expiry::sweep(app.app(), Duration::MAX).await?;
    if summary.expired != expired || counted != expired as u64 || again.expired != 0 {
        return Err(format!("{} expired, {counted} counted, {} again", summary.expired, again.expired).into());
    }
    remind(due).await?;
    heat().await
}

/// Reminds this many candidates of ten projects.
async fn remind(due: usize) -> Result<()> {
    let app = TestApp::start().await;
    app.leave_unsound("its candidates are filled in without the logins by their addresses");
    let owner = app.owner().await;
    let now = app.clock().now();
    for _ in 0..PROJECTS {
        let project = owner.running_project(json!({})).await;
        let moment = now + TimeDelta::hours(1);
        app.fill_to_remind(&project, due / PROJECTS, now + TimeDelta::days(30), moment).await;
    }
    app.clock().advance(TimeDelta::minutes(90));
    let summary = deadline_expiry::sweep(app.app(), Duration::MAX).await?;
    let line = take_lines("deadline-expiry").pop().ok_or("no summary in the log")?;
    for (figure, value) in [
        ("reminded", json!(summary.reminded)),
        ("reminding_seconds", round(line["milliseconds"].as_f64().unwrap_or_default() / 1e3)),
        ("reminding_dynamodb_calls", line["dynamodb_calls"].clone()),
        ("reminding_read_units", line["read_units"].clone()),
        ("reminding_write_units", line["write_units"].clone()),
    ] {
        print(figure, value);
    }
    let again = deadline_expiry::sweep(app.app(), Duration::MAX).await?;
    if summary.reminded != due / PROJECTS * PROJECTS || again.reminded != 0 {
        return Err(format!("{} reminded, {} again", summary.reminded, again.reminded).into());
    }
    Ok(())
}

/// Sweeps in front of partitions without and with limits.
async fn heat() -> Result<()> {
    for is_limited in [false, true] {
        let (app, chaos) = TestApp::start_with_patient_chaos().await;
        let owner = app.owner().await;
        let project = owner.running_project(json!({})).await;
        app.fill(&project, OF_ONE, app.clock().now() + TimeDelta::hours(1)).await;
        app.clock().advance(TimeDelta::minutes(90));
        chaos.delay(LATENCY);
        chaos.measure(&app.items(), is_limited);
        let stopwatch = Stopwatch::start();
        let summary = deadline_expiry::sweep(app.app(), Duration::MAX).await?;
        let seconds = stopwatch.elapsed().as_secs_f64();
        let heat = chaos.measured().ok_or("nothing is measured")?;
        let limits = if is_limited { "limited" } else { "unlimited" };
        print(&format!("seconds_{limits}"), round(seconds));
        print(&format!("expired_{limits}"), json!(summary.expired));
        print(&format!("failed_{limits}"), json!(summary.failed));
        print(&format!("refused_requests_{limits}"), json!(heat.refused()));
        print(&format!("units_by_partition_and_reported_{limits}"), json!(heat.units()));
        for peak in heat.peaks().iter().take(5) {
            let figure = format!("write_units_in_a_second_{limits} {}", peak.place.pattern());
            print(&figure, json!(peak.writes));
        }
    }
    Ok(())
}

fn round(value: f64) -> Value {
    json!((value * 100.0).round() / 100.0)
}

#[expect(clippy::print_stdout, reason = "standard output is what a benchmark is for")]
fn print(figure: &str, value: Value) {
    println!("{}", json!({ "figure": figure, "value": value }));
}
