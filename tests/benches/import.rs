//! An import of 1,000 candidates, one request that invites 1,000 who are there, and one about 1,000 who are nowhere: time, DynamoDB
//! usage, and units by partition key, with the latency of DynamoDB on AWS. Then 45 a second of the last from twenty companies, beside
//! a company that reads.
//!
//! Fails if a partition key takes more than half of what a partition takes, if partitions with limits refuse anything, if those
//! who are nowhere take more than 30 calls or two seconds, or if the company that reads waits more than twice as long as alone.
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
use tests::http::{Request, Response};
use tokio::task::JoinSet;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ENTRIES: usize = 1_000;
/// Additional latency per response of DynamoDB, about that of a transaction on AWS.
const LATENCY: Duration = Duration::from_millis(15);
/// Companies that ask for candidates who are nowhere, and how often they do so together in a second.
const COMPANIES: usize = 20;
const RATE: u32 = 45;
/// How long a company reads alone, and beside these.
const DURATION: Duration = Duration::from_secs(20);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    for is_limited in [false, true] {
        import(is_limited).await?;
    }
    invite().await?;
    look_for_nobody().await?;
    flood().await
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
    // The stored response has its partition to itself, so that it takes nothing from others.
    let shared = peaks.iter().filter(|peak| !peak.place.pattern().contains("IDEMPOTENCY#"));
    let most = |units: fn(&Peak) -> f64| shared.clone().map(units).fold(0.0, f64::max);
    let (reads, writes) = (most(|peak| peak.reads), most(|peak| peak.writes));
    print(&json!({ "figure": "read_units_in_a_second", "partitions": limits, "value": reads }));
    if heat.refused() > 0 || writes * 2.0 > MOST_WRITES || reads * 2.0 > MOST_READS {
        return Err(format!("too hot: {} refused, {:?}", heat.refused(), peaks.first()).into());
    }
    Ok(())
}

/// Imports everyone into a draft, lets it run, and invites them all in one request.
async fn invite() -> Result<()> {
    let (app, chaos) = TestApp::start_with_patient_chaos().await;
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

/// Acts on candidates whom a client has made up.
async fn look_for_nobody() -> Result<()> {
    let (app, chaos) = TestApp::start_with_patient_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    chaos.delay(LATENCY);
    let (response, seconds) = measure_response("nobody", &owner, nobody(&project)).await;
    let calls = response.log().dynamodb_calls;
    if calls > 30 || seconds > 2.0 {
        return Err(format!("{calls} calls and {seconds} s for candidates who are nowhere").into());
    }
    Ok(())
}

fn nobody(project: &str) -> Request {
    let name = |number| format!("{project}candidates/01JQ8Z6R7ZP4S3C0V9N2M{number:05}/");
    let names: Vec<String> = (0..ENTRIES).map(name).collect();
    let body = json!({ "action": "skip", "candidates": names });
    Request::post(&format!("{project}candidates/bulk/")).json(&body)
}

/// Reads a list of one company alone, then beside 45 requests a second of others about candidates who are nowhere.
async fn flood() -> Result<()> {
    let (app, chaos) = TestApp::start_with_patient_chaos().await;
    let reader = app.owner().await;
    let project = reader.running_project(json!({})).await;
    for _ in 0..20 {
        reader.candidate(&project, json!({})).await;
    }
    let list = format!("{project}candidates/");
    let mut others = Vec::new();
    for number in 0..COMPANIES {
        let owner = app.owner_of(&format!("other-{number}")).await;
        let request = nobody(&owner.running_project(json!({})).await);
        others.push((owner, request));
    }
    chaos.delay(LATENCY);
    let quiet = p95(read_for(&reader, &list).await);
    let flooding = tokio::spawn(async move {
        let (mut running, whole) = (JoinSet::new(), Stopwatch::start());
        for number in 0..RATE * DURATION.as_secs() as u32 {
            let begin = Duration::from_secs(1) / RATE * number;
            #[expect(clippy::disallowed_methods, reason = "the requests come in real time")]
            tokio::time::sleep(begin.saturating_sub(whole.elapsed())).await;
            let (owner, request) = others[number as usize % COMPANIES].clone();
            running.spawn(async move {
                let stopwatch = Stopwatch::start();
                let status = owner.send(request).await.status.as_u16();
                (status, stopwatch.elapsed().as_secs_f64())
            });
        }
        running.join_all().await
    });
    let beside = p95(read_for(&reader, &list).await);
    let answers = flooding.await?;
    let done = answers.iter().filter(|(status, _)| *status == 200).count();
    let busy = answers.iter().filter(|(status, _)| *status == 429).count();
    let seconds: f64 = answers.iter().map(|(_, seconds)| seconds).sum();
    print(&json!({
        "figure": "flood", "requests": answers.len(), "done": done, "busy": busy,
        "executions": round(seconds / DURATION.as_secs_f64()),
        "p95_quiet_ms": round(quiet), "p95_beside_ms": round(beside), "ratio": round(beside / quiet),
    }));
    if done + busy < answers.len() || beside > 2.0 * quiet {
        return Err(format!("the company that reads waits {beside} ms instead of {quiet}").into());
    }
    Ok(())
}

/// The milliseconds of requests for a list, one after the other.
async fn read_for(reader: &Staff, list: &str) -> Vec<f64> {
    let (mut all, whole) = (Vec::new(), Stopwatch::start());
    while whole.elapsed() < DURATION {
        let stopwatch = Stopwatch::start();
        reader.get(list).await.expect(200);
        all.push(stopwatch.elapsed().as_secs_f64() * 1000.0);
    }
    all
}

fn p95(mut milliseconds: Vec<f64>) -> f64 {
    milliseconds.sort_by(f64::total_cmp);
    milliseconds[milliseconds.len() * 95 / 100]
}

/// Sends a request, prints what it takes, and returns the `meta` of its response.
async fn measure(name: &str, owner: &Staff, request: Request) -> Value {
    measure_response(name, owner, request).await.0.json()["meta"].clone()
}

/// Sends a request, prints what it takes, and returns its response and its seconds.
async fn measure_response(name: &str, owner: &Staff, request: Request) -> (Response, f64) {
    let stopwatch = Stopwatch::start();
    let response = owner.send(request.header("idempotency-key", "bench")).await.expect(200);
    let seconds = stopwatch.elapsed().as_secs_f64();
    let log = response.log();
    print(&json!({
        "figure": "request", "request": name, "entries": ENTRIES, "seconds": round(seconds),
        "dynamodb_calls": log.dynamodb_calls, "read_units": log.read_units,
        "write_units_per_entry": round(log.write_units / ENTRIES as f64), "answer_bytes": response.body.len(),
    }));
    (response, seconds)
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
