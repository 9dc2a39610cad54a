//! What it takes to expire deadlines: 10,000 that have passed among 100,000 candidates of ten projects.
//!
//! `tests/bench sweep [DUE [ALL]]` measures other numbers.
#![recursion_limit = "256"]
use std::error::Error;

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::clock::{Clock, Stopwatch};
use tests::app::TestApp;
use tests::caller::Caller;
use tests::logs::take_lines;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PROJECTS: usize = 10;

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
    let summary = deadline_expiry::sweep(app.app(), usize::MAX).await?;
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
    let again = deadline_expiry::sweep(app.app(), usize::MAX).await?;
    if summary.expired != expired || counted != expired as u64 || again.expired != 0 {
        return Err(format!("{} expired, {counted} counted, {} again", summary.expired, again.expired).into());
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
