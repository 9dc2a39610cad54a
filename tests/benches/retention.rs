//! Measures erasures: a retention run that erases 10,000 among 100,000 candidates of ten projects; write units of an erasure and
//! what partitions take of it, at the pace and with the latency on AWS; and the time from a DELETE to its `candidate.erased`.
//!
//! `tests/bench retention [DUE [ALL]]` measures other numbers.
#![recursion_limit = "256"]
use std::error::Error;
use std::time::Duration;

use chrono::TimeDelta;
use retention::InvocationLimits;
use serde_json::{Value, json};
use shared::clock::{Clock, Stopwatch};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::figures::{print_value, round, round_to};
use tests::heat::{MOST_READS, MOST_WRITES};
use tests::http::Request;
use tests::logs::take_lines;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PROJECTS: usize = 10;
/// Candidates of one project whose erasure is measured by partition.
const OF_ONE: usize = 200;
/// Candidates who are deleted one by one.
const DELETIONS: usize = 31;
/// Additional latency per response of DynamoDB, about that of a transaction on AWS, and of S3.
const LATENCY: Duration = Duration::from_millis(15);
const S3_LATENCY: Duration = Duration::from_millis(30);
/// Without pauses and turns: they are computed.
const AT_ONCE: InvocationLimits =
    InvocationLimits { time: Duration::MAX, company_time: Duration::MAX, pause: Duration::ZERO };

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // Cargo adds --bench.
    let numbers: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let due = numbers.first().copied().unwrap_or(10_000);
    let all = numbers.get(1).copied().unwrap_or(100_000).max(due);
    run(due, all).await?;
    heat().await?;
    deletions().await
}

/// The policy of a company whose candidates are kept 30 days from now on.
async fn set_retention(owner: &Staff) {
    let policy = json!({ "days": 30, "notice_days": 0 });
    owner.send(Request::put("/companies/acme/retention/").json(&policy)).await.expect(200);
}

/// A run over candidates of whom a tenth is due, four tenths are as old but were active since, and the others are new.
async fn run(due: usize, all: usize) -> Result<()> {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (_, token) = owner.named_token("Bench").await;
    set_retention(&owner).await;
    let now = app.clock().now();
    let stopwatch = Stopwatch::start();
    let mut projects = Vec::new();
    for _ in 0..PROJECTS {
        let project = owner.running_project(json!({})).await;
        app.fill(&project, due / PROJECTS, now + TimeDelta::hours(1)).await;
        app.fill(&project, all * 4 / 10 / PROJECTS, now + TimeDelta::days(20)).await;
        projects.push(project);
    }
    app.clock().advance(TimeDelta::days(31));
    for project in &projects {
        app.fill(project, all * 5 / 10 / PROJECTS, app.clock().now() + TimeDelta::days(20)).await;
    }
    print_value("filled_seconds", round(stopwatch.elapsed().as_secs_f64()));

    take_lines("retention");
    let summary = retention::run(app.app(), AT_ONCE).await?;
    let line = take_lines("retention").pop().ok_or("no summary in the log")?;
    let last_run = token.get("/companies/acme/retention/").await.expect(200).json()["last_run"].clone();
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let looked_at = number(&last_run["looked_at"]);
    // At the pace, unless the calls of a batch take longer: three rounds of deletions, a read and a write.
    let batch = f64::max(1.0, 5.0 * LATENCY.as_secs_f64());
    for (figure, value) in [
        ("due", json!(due)),
        ("candidates", json!(all)),
        ("erased", json!(summary.erased)),
        ("failed", json!(summary.failed)),
        ("last_run", last_run.clone()),
        ("seconds", json!(round(number(&line["milliseconds"]) / 1e3))),
        ("dynamodb_calls", line["dynamodb_calls"].clone()),
        ("read_units", line["read_units"].clone()),
        ("write_units", line["write_units"].clone()),
        ("minutes_at_the_pace", json!(round((due as f64 / 20.0).ceil() * batch / 60.0))),
    ] {
        print_value(figure, value);
    }
    app.clock().advance(TimeDelta::days(1));
    let again = retention::run(app.app(), AT_ONCE).await?;
    let line = take_lines("retention").pop().ok_or("no summary in the log")?;
    let looked_at_again = looked_at - summary.erased as f64;
    print_value(
        "read_units_per_candidate_looked_at",
        round_to(number(&line["read_units"]) / looked_at_again, 4),
    );
    let erased = due / PROJECTS * PROJECTS;
    if (summary.erased, again.erased) != (erased, 0) {
        return Err(format!("{} erased, {} again", summary.erased, again.erased).into());
    }
    app.leave_unsound("candidates were written past the service");
    Ok(())
}

/// Erases invited candidates of one project at the pace of the schedule, with the effects that follow.
async fn heat() -> Result<()> {
    let (app, chaos) = TestApp::start_with_patient_chaos().await;
    let owner = app.owner().await;
    set_retention(&owner).await;
    let project = owner.running_project(json!({})).await;
    for _ in 0..OF_ONE {
        owner.invite(&project, json!({})).await;
    }
    app.settle().await;
    app.clock().advance(TimeDelta::days(40));
    app.expire_overdue().await;
    app.settle().await;
    // The expiry is the last that has happened to them.
    app.clock().advance(TimeDelta::days(31));
    chaos.delay(LATENCY);
    chaos.measure(&app.items(), false);
    let stopwatch = Stopwatch::start();
    let summary = retention::run(app.app(), InvocationLimits::SCHEDULED).await?;
    let seconds = stopwatch.elapsed().as_secs_f64();
    app.settle().await;
    let heat = chaos.measured().ok_or("nothing is measured")?;
    let units = heat.units();
    if summary.erased != OF_ONE {
        return Err(format!("{} of {OF_ONE} are erased", summary.erased).into());
    }
    print_value("erased_of_one_project", summary.erased);
    print_value("seconds_of_one_project", round(seconds));
    print_value("units_by_partition_and_reported", json!(units));
    print_value("write_units_per_erasure", round(heat.written() / summary.erased as f64));
    for peak in heat.peaks().iter().take(6) {
        print_value(&format!("write_units_in_a_second {}", peak.place.pattern()), peak.writes);
        print_value(&format!("read_units_in_a_second {}", peak.place.pattern()), peak.reads);
    }
    let is_above_half =
        heat.peaks().iter().any(|peak| peak.writes > MOST_WRITES / 2.0 || peak.reads > MOST_READS / 2.0);
    print_value("a_partition_above_half_of_its_limits", is_above_half);
    Ok(())
}

/// The time from a DELETE to its `candidate.erased`, without that in which a stream starts a function.
async fn deletions() -> Result<()> {
    let (app, [dynamodb, s3]) = TestApp::start_with_counted_storage().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let mut candidates = Vec::new();
    for _ in 0..DELETIONS {
        candidates.push(owner.invite(&project, json!({})).await.uri);
    }
    app.settle().await;
    dynamodb.delay(LATENCY);
    s3.delay(S3_LATENCY);
    let mut seconds = Vec::new();
    for candidate in &candidates {
        let stopwatch = Stopwatch::start();
        owner.delete(candidate).await.expect(204);
        app.settle().await;
        seconds.push(stopwatch.elapsed().as_secs_f64());
    }
    let events = owner.get("/companies/acme/events/?type=candidate.erased&page_size=100").await.expect(200);
    let erased = events.json()["objects"].as_array().map_or(0, Vec::len);
    if erased != DELETIONS {
        return Err(format!("{erased} of {DELETIONS} are erased").into());
    }
    seconds.sort_by(f64::total_cmp);
    print_value("seconds_from_delete_to_erased_median", round(seconds[DELETIONS / 2]));
    Ok(())
}
