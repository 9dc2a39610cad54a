//! An import of 1,000 candidates, and one request that invites 1,000 who are there: time, DynamoDB usage, and units by
//! partition key, with the latency of DynamoDB on AWS.
//!
//! Fails if a partition key takes more than half of what a partition takes, or if partitions with limits refuse anything.
#![recursion_limit = "256"]
use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use serde_json::{Value, json};
use shared::clock::Stopwatch;
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::figures::{print, round};
use tests::heat::{MOST_READS, MOST_WRITES, Peak};
use tests::http::Request;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ENTRIES: usize = 1_000;
/// Additional latency per response of DynamoDB, about that of a transaction on AWS.
const LATENCY: Duration = Duration::from_millis(15);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    for is_limited in [false, true] {
        import(is_limited).await?;
    }
    invite().await
}

/// Imports everyone in front of partitions with or without limits.
async fn import(is_limited: bool) -> Result<()> {
    let (app, chaos) = TestApp::start_with_patient_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let request = Request::post(&format!("{project}candidates/import/")).json(&entries(&app));
    chaos.delay(LATENCY);
    chaos.measure(&app.items(), is_limited);
    let limits = if is_limited { "limited" } else { "unlimited" };
    let meta = measure(&format!("import, {limits}"), &owner, request).await;
    let heat = chaos.measured().ok_or("nothing is measured")?;
    let all = json!({ "total": ENTRIES, "created": ENTRIES, "invited": ENTRIES, "failed": 0, "pending": 0 });
    if meta != all {
        return Err(format!("not all are invited: {meta}").into());
    }
    verify(&app).await?;

    let peaks = heat.peaks();
    print(&json!({ "figure": "refused_requests", "partitions": limits, "value": heat.refused() }));
    print(
        &json!({ "figure": "units_by_partition_and_reported", "partitions": limits, "value": heat.units() }),
    );
    for peak in peaks.iter().take(8) {
        print(&json!({
            "figure": "write_units_in_a_second", "partitions": limits, "of": peak.place.pattern(), "value": peak.writes,
        }));
    }
    let most = |units: fn(&Peak) -> f64| peaks.iter().map(units).fold(0.0, f64::max);
    let (reads, writes) = (most(|peak| peak.reads), most(|peak| peak.writes));
    print(&json!({ "figure": "read_units_in_a_second", "partitions": limits, "value": reads }));
    if heat.refused() > 0 || writes * 2.0 > MOST_WRITES || reads * 2.0 > MOST_READS {
        return Err(format!("too hot: {} refused, {:?}", heat.refused(), peaks.first()).into());
    }
    Ok(())
}

/// Imports everyone into a draft, lets it run, and invites them all in one request.
async fn invite() -> Result<()> {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    owner.post(&format!("{project}candidates/import/"), entries(&app)).await.expect(200);
    owner.set_status(&project, "40-running").await.expect(200);
    chaos.delay(LATENCY);
    let body = json!({ "action": "advance", "status": "new" });
    let request = Request::post(&format!("{project}candidates/bulk/")).json(&body);
    let meta = measure("invitations", &owner, request).await;
    if meta["done"] != ENTRIES {
        return Err(format!("not all are invited: {meta}").into());
    }
    verify(&app).await
}

/// Sends a request, prints what it takes, and returns the `meta` of its response.
async fn measure(name: &str, owner: &Staff, request: Request) -> Value {
    let stopwatch = Stopwatch::start();
    let response = owner.send(request.header("idempotency-key", "bench")).await.expect(200);
    let seconds = stopwatch.elapsed().as_secs_f64();
    let log = response.log();
    print(&json!({
        "figure": "request", "request": name, "entries": ENTRIES, "seconds": round(seconds),
        "dynamodb_calls": log.dynamodb_calls, "read_units": log.read_units,
        "write_units_per_entry": round(log.write_units / ENTRIES as f64), "answer_bytes": response.body.len(),
    }));
    response.json()["meta"].clone()
}

/// Checks the table: everyone is invited, with one mail each to be sent.
async fn verify(app: &TestApp) -> Result<()> {
    let mut mails = BTreeMap::new();
    let mut invited = 0;
    for ((pk, sk), item) in app.table().snapshot().await {
        if sk == "EFFECT" {
            *mails.entry(item["task"]["candidate"].to_string()).or_default() += 1;
        } else if pk.starts_with("COMPANY#") && sk.starts_with("CANDIDATE#") && item["status"] == "invited" {
            invited += 1;
        }
    }
    let is_right =
        invited == ENTRIES && mails.len() == ENTRIES && mails.values().all(|count: &usize| *count == 1);
    if is_right { Ok(()) } else { Err(format!("{invited} invited, mails to {}", mails.len()).into()) }
}

fn entries(app: &TestApp) -> Value {
    let entry = |number| {
        json!({
            "first_name": "Ada",
            "last_name": format!("Lovelace-{number}"),
            "username": format!("ada.{number}"),
            "email": format!("ada.{number}@mail.example"),
            "deadline": app.clock().in_days(7),
        })
    };
    (0..ENTRIES).map(entry).collect()
}
