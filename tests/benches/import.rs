//! An import of 1,000 candidates: time and DynamoDB usage. On AWS, DynamoDB's latency dominates, so one run adds
//! latency.
#![recursion_limit = "256"]
use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use serde_json::{Value, json};
use shared::clock::Stopwatch;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::http::Request;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ENTRIES: usize = 1_000;
/// Additional latency per response of DynamoDB, about that of a transaction on AWS.
const LATENCY: Duration = Duration::from_millis(15);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    measure(&TestApp::start().await, Duration::ZERO).await?;
    let (app, chaos) = TestApp::start_with_chaos().await;
    chaos.delay(LATENCY);
    measure(&app, LATENCY).await
}

async fn measure(app: &TestApp, latency: Duration) -> Result<()> {
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let entries: Vec<Value> = (0..ENTRIES).map(|number| entry(app, number)).collect();
    let request = Request::post(&format!("{project}candidates/import/"))
        .json(&entries.into())
        .header("idempotency-key", "bench");
    let stopwatch = Stopwatch::start();
    let response = owner.send(request).await.expect(200);
    let seconds = stopwatch.elapsed().as_secs_f64();

    let all = json!({ "total": ENTRIES, "created": ENTRIES, "invited": ENTRIES, "failed": 0, "pending": 0 });
    if response.json()["meta"] != all {
        return Err(format!("not all are invited: {}", response.json()["meta"]).into());
    }
    verify(app).await?;
    let log = response.log();
    for (figure, value) in [
        ("seconds", round(seconds)),
        ("dynamodb_calls", json!(log.dynamodb_calls)),
        ("write_units", json!(log.write_units)),
        ("write_units_per_entry", round(log.write_units / ENTRIES as f64)),
        ("read_units", json!(log.read_units)),
        ("answer_bytes", json!(response.body.len())),
    ] {
        print(json!({
            "figure": figure, "entries": ENTRIES, "latency_ms": round(latency.as_secs_f64() * 1e3), "value": value,
        }));
    }
    Ok(())
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

fn entry(app: &TestApp, number: usize) -> Value {
    json!({
        "first_name": "Ada",
        "last_name": format!("Lovelace-{number}"),
        "username": format!("ada.{number}"),
        "email": format!("ada.{number}@mail.example"),
        "deadline": app.clock().in_days(7),
    })
}

fn round(value: f64) -> Value {
    json!((value * 100.0).round() / 100.0)
}

#[expect(clippy::print_stdout, reason = "standard output is what a benchmark is for")]
fn print(figure: Value) {
    println!("{figure}");
}
