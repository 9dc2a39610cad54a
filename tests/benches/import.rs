//! An import of 1,000 candidates: DynamoDB usage, and time compared with DynamoDB alone, which is sent the same
//! transactions over as many connections. On AWS, DynamoDB's latency dominates, so some runs add latency. Also one request that
//! invites 1,000 candidates who are there.
//!
//! Fails if a partition key takes more than half of what a partition takes, or if partitions with limits refuse anything.
#![recursion_limit = "256"]
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use shared::clock::Stopwatch;
use shared::domain::transition::project_counts::SHARDS;
use tests::app::TestApp;
use tests::caller::Caller;
use tests::chaos::Chaos;
use tests::figures::{median, print, round};
use tests::heat::{MOST_READS, MOST_WRITES, Peak};
use tests::http::Request;
use tests::logs::RequestLog;
use tests::table::Contents;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const ENTRIES: usize = 1_000;
/// Imports of each latency, in turn with DynamoDB alone, so that other load on the computer affects both alike.
const RUNS: usize = 3;
/// Additional latency per response of DynamoDB, about that of a transaction on AWS.
const LATENCY: Duration = Duration::from_millis(15);
/// The emulator requires a signature but does not check it.
const UNSIGNED: &str = "AWS4-HMAC-SHA256 Credential=local/20261101/eu-central-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0";

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    heat().await?;
    let recording = Recording::new().await?;
    for latency in [Duration::ZERO, LATENCY] {
        let (mut imports, mut alone) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let (app, _chaos) = start(latency).await;
            imports.push(import(&app, &project(&app).await).await?);
            let (app, _chaos) = start(latency).await;
            alone.push(recording.replay(&app).await?);
        }
        report(latency, &imports, alone);
        let (app, _chaos) = start(latency).await;
        report_bulk(latency, &bulk(&app).await?);
    }
    Ok(())
}

/// Imports everyone into a draft, lets it run, and invites them all in one request.
async fn bulk(app: &TestApp) -> Result<Import> {
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let entries: Vec<Value> = (0..ENTRIES).map(|number| entry(app, number)).collect();
    owner.post(&format!("{project}candidates/import/"), entries.into()).await.expect(200);
    owner.set_status(&project, "40-running").await.expect(200);
    let request = Request::post(&format!("{project}candidates/bulk/"))
        .json(&json!({ "action": "advance", "status": "new" }))
        .header("idempotency-key", "bench");
    let stopwatch = Stopwatch::start();
    let response = owner.send(request).await.expect(200);
    let seconds = stopwatch.elapsed().as_secs_f64();
    if response.json()["meta"]["done"] != ENTRIES {
        return Err(format!("not all are invited: {}", response.json()["meta"]).into());
    }
    verify(app).await?;
    Ok(Import { seconds, log: response.log(), answer_bytes: response.body.len() })
}

fn report_bulk(latency: Duration, bulk: &Import) {
    let Import { seconds, log, answer_bytes } = bulk;
    let figures = [
        ("bulk_seconds", json!(round(*seconds))),
        ("bulk_dynamodb_calls", json!(log.dynamodb_calls)),
        ("bulk_write_units_per_entry", json!(round(log.write_units / ENTRIES as f64))),
        ("bulk_read_units", json!(log.read_units)),
        ("bulk_answer_bytes", json!(answer_bytes)),
    ];
    for (figure, value) in figures {
        let latency = latency.as_millis();
        print(&json!({ "figure": figure, "entries": ENTRIES, "latency_ms": latency, "value": value }));
    }
}

/// Imports in front of partitions without and with limits.
async fn heat() -> Result<()> {
    for is_limited in [false, true] {
        let (app, chaos) = TestApp::start_with_patient_chaos().await;
        let project = project(&app).await;
        chaos.delay(LATENCY);
        chaos.measure(&app.items(), is_limited);
        let import = import(&app, &project).await?;
        let heat = chaos.measured().ok_or("nothing is measured")?;
        let peaks = heat.peaks();
        let limits = if is_limited { "limited" } else { "unlimited" };
        print(&json!({ "figure": "seconds", "partitions": limits, "value": round(import.seconds) }));
        print(&json!({ "figure": "refused_requests", "partitions": limits, "value": heat.refused() }));
        print(
            &json!({ "figure": "units_by_partition_and_reported", "partitions": limits, "value": heat.units() }),
        );
        for peak in peaks.iter().take(8) {
            let place = peak.place.pattern();
            print(
                &json!({ "figure": "write_units_in_a_second", "partitions": limits, "of": place, "value": peak.writes }),
            );
        }
        let most = |units: fn(&Peak) -> f64| peaks.iter().map(units).fold(0.0, f64::max);
        let (reads, writes) = (most(|peak| peak.reads), most(|peak| peak.writes));
        print(&json!({ "figure": "read_units_in_a_second", "partitions": limits, "value": reads }));
        if heat.refused() > 0 || writes * 2.0 > MOST_WRITES || reads * 2.0 > MOST_READS {
            return Err(format!("too hot: {} refused, {:?}", heat.refused(), peaks.first()).into());
        }
    }
    Ok(())
}

fn report(latency: Duration, imports: &[Import], alone: Vec<f64>) {
    let (seconds, alone) = (median(imports.iter().map(|import| import.seconds).collect()), median(alone));
    let usage = imports.first().map(|import| {
        [
            ("dynamodb_calls", json!(import.log.dynamodb_calls)),
            ("write_units_per_entry", json!(round(import.log.write_units / ENTRIES as f64))),
            ("read_units", json!(import.log.read_units)),
            ("answer_bytes", json!(import.answer_bytes)),
        ]
    });
    let times = [
        ("seconds", json!(round(seconds))),
        ("seconds_of_dynamodb_alone", json!(round(alone))),
        ("entries_per_second", json!(round(ENTRIES as f64 / seconds))),
        ("ratio_to_dynamodb_alone", json!(round(alone / seconds))),
    ];
    for (figure, value) in usage.into_iter().flatten().chain(times) {
        let latency = latency.as_millis();
        print(&json!({ "figure": figure, "entries": ENTRIES, "latency_ms": latency, "value": value }));
    }
}

/// The service; a proxy in front of DynamoDB adds latency.
async fn start(latency: Duration) -> (TestApp, Option<Chaos>) {
    if latency.is_zero() {
        return (TestApp::start().await, None);
    }
    let (app, chaos) = TestApp::start_with_chaos().await;
    chaos.delay(latency);
    (app, Some(chaos))
}

async fn project(app: &TestApp) -> String {
    app.owner().await.running_project(json!({})).await
}

struct Import {
    seconds: f64,
    log: RequestLog,
    answer_bytes: usize,
}

/// Imports everyone into a project.
async fn import(app: &TestApp, project: &str) -> Result<Import> {
    let entries: Vec<Value> = (0..ENTRIES).map(|number| entry(app, number)).collect();
    let request = Request::post(&format!("{project}candidates/import/"))
        .json(&entries.into())
        .header("idempotency-key", "bench");
    let owner = app.owner().await;
    let stopwatch = Stopwatch::start();
    let response = owner.send(request).await.expect(200);
    let seconds = stopwatch.elapsed().as_secs_f64();

    let all = json!({ "total": ENTRIES, "created": ENTRIES, "invited": ENTRIES, "failed": 0, "pending": 0 });
    if response.json()["meta"] != all {
        return Err(format!("not all are invited: {}", response.json()["meta"]).into());
    }
    verify(app).await?;
    Ok(Import { seconds, log: response.log(), answer_bytes: response.body.len() })
}

/// The transactions of an import, and the table before it.
struct Recording {
    table: String,
    before: Contents,
    bodies: Vec<Bytes>,
}

impl Recording {
    async fn new() -> Result<Self> {
        let (app, chaos) = TestApp::start_with_chaos().await;
        let project = project(&app).await;
        let before = app.table().contents().await;
        chaos.record();
        import(&app, &project).await?;
        Ok(Self { table: app.app().config().table.clone(), before, bodies: chaos.recorded() })
    }

    /// Sends the transactions to the DynamoDB of `app`, and returns the seconds.
    async fn replay(&self, app: &TestApp) -> Result<f64> {
        app.table().restore(&self.before).await;
        let bodies = self.bodies_for(&app.app().config().table)?;
        let url =
            app.environment().get("AWS_ENDPOINT_URL_DYNAMODB").and_then(|url| url.strip_prefix("http://"));
        let address = url.ok_or("DynamoDB has no address")?;
        let bodies = Arc::new(Mutex::new(bodies));
        let mut connections = JoinSet::new();
        let stopwatch = Stopwatch::start();
        for _ in 0..SHARDS {
            connections.spawn(send_all(address.to_owned(), bodies.clone()));
        }
        while let Some(ended) = connections.join_next().await {
            ended??;
        }
        let seconds = stopwatch.elapsed().as_secs_f64();
        verify(app).await?;
        Ok(seconds)
    }

    /// The bodies for another table. Each needs a token of its own, which DynamoDB remembers with the content.
    fn bodies_for(&self, table: &str) -> Result<Vec<Bytes>> {
        let prepare = |(number, body): (usize, &Bytes)| {
            let text = std::str::from_utf8(body)?.replace(&self.table, table);
            let mut transaction: Value = serde_json::from_str(&text)?;
            transaction["ClientRequestToken"] = format!("{table}-{number}").into();
            Ok(transaction.to_string().into())
        };
        self.bodies.iter().enumerate().map(prepare).collect()
    }
}

/// Sends transactions over one connection, one after the other, until none are left.
async fn send_all(address: String, bodies: Arc<Mutex<Vec<Bytes>>>) -> Result<()> {
    let stream = TcpStream::connect(&address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let next = || bodies.lock().unwrap_or_else(PoisonError::into_inner).pop();
    while let Some(body) = next() {
        let request = axum::http::Request::post("/")
            .header("host", &address)
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-target", "DynamoDB_20120810.TransactWriteItems")
            .header("x-amz-date", "20261101T000000Z")
            .header("authorization", UNSIGNED)
            .body(Body::from(body))?;
        sender.ready().await?;
        let response = sender.send_request(request).await?;
        let status = response.status();
        let answer = to_bytes(Body::new(response.into_body()), usize::MAX).await?;
        if !status.is_success() {
            return Err(format!("DynamoDB alone: {status} {}", String::from_utf8_lossy(&answer)).into());
        }
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
