//! The cost of candidates from their creation to the evaluation of their interview: usage from the log, at public
//! prices.
//!
//! `tests/bench cost [CANDIDATES]` measures another number than 100. With `webhook`, a webhook gets all events.
#![recursion_limit = "256"]
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use tests::app::{FULL_COST, TestApp};
use tests::billing::{GIGABYTE_MILLISECONDS, INVOCATIONS};
use tests::caller::{Caller, PASSWORD};
use tests::figures::{print_value, round_to};
use tests::logs::Recording;
use tests::receiver::Receiver;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Dollars per million, in us-east-1 in November 2026: a DynamoDB write unit and read unit on demand, a request to an
/// HTTP API, what functions cost, and a mail.
const PRICES: [(&str, f64); 6] = [
    ("write_units", 0.625),
    ("read_units", 0.125),
    ("requests", 1.0),
    ("invocations", INVOCATIONS),
    ("gigabyte_milliseconds", GIGABYTE_MILLISECONDS),
    ("mails", 100.0),
];

/// The memory in gigabytes of the functions for candidates and logins; the others have half as much.
const MEMORY: f64 = 0.5;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // Cargo adds --bench.
    let count = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(100_u32);
    let app = TestApp::start_with(&FULL_COST).await;
    let owner = app.owner().await;
    let evaluator = app.staff("hiring-manager").await;
    let project = owner.running_project(json!({ "evaluators": [evaluator.uri], "team_evaluation": 1 })).await;
    let deliveries = Arc::new(AtomicU32::new(0));
    let counted = deliveries.clone();
    let receiver = Receiver::start(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
    })
    .await;
    if std::env::args().any(|argument| argument == "webhook") {
        let webhook = json!({ "url": receiver.url });
        owner.post("/companies/acme/webhooks/", webhook).await.expect(201);
    }
    app.settle().await;
    deliveries.store(0, Ordering::Relaxed);
    let recording = Recording::start();
    let mut mails = 0;
    for _ in 0..count {
        // Create, set a deadline, invite; then read, register, log in and take the interview. Hours may lie between two
        // steps, so the events of each are numbered alone.
        let invited = owner.invite(&project, json!({})).await;
        app.settle().await;
        mails += app.mails_to(&invited.email).len();
        invited.get("/whoami/candidate/").await.expect(200);
        invited.choose_password().await;
        app.settle().await;
        invited.advance(&invited.uri).await.expect(200);
        app.settle().await;
        let login = app.anonymous().log_in("acme", &invited.email, PASSWORD).await.expect(200);
        let own = app.token(&login.uri("token"));
        own.get("/whoami/candidate/").await.expect(200);
        own.advance(&invited.uri).await.expect(200);
        app.settle().await;
        app.complete(&invited.uri).await;
        app.settle().await;
        // An evaluator reads the candidate and the list, and evaluates.
        evaluator.get(&format!("{project}candidates/")).await.expect(200);
        evaluator.get(&invited.uri).await.expect(200);
        app.evaluate(&invited.uri, &evaluator.uri, true).await;
        app.settle().await;
    }
    let text = recording.text();
    let lines: Vec<Value> = text.lines().map(serde_json::from_str).collect::<std::result::Result<_, _>>()?;
    let total = |field: &str| lines.iter().filter_map(|line| line[field].as_f64()).sum::<f64>();
    let requests = lines.iter().filter(|line| line["target"] == "request").count();
    let invocations = lines.iter().filter(|line| line["milliseconds"].is_number()).count();
    let amounts = [
        ("write_units", total("write_units")),
        ("read_units", total("read_units")),
        ("requests", f64::from(u32::try_from(requests)?)),
        ("invocations", f64::from(u32::try_from(invocations)?)),
        ("gigabyte_milliseconds", total("milliseconds") * MEMORY),
        ("mails", f64::from(u32::try_from(mails)?)),
    ];
    let mut dollars = 0.0;
    for (amount, price) in amounts.iter().zip(PRICES) {
        print_value(&format!("{}_per_candidate", amount.0), round_to(amount.1 / f64::from(count), 4));
        let cost = amount.1 / f64::from(count) * 1000.0 * price.1 / 1e6;
        print_value(&format!("{}_dollars_per_1000", price.0), round_to(cost, 4));
        dollars += cost;
    }
    print_value("dollars_per_1000", round_to(dollars, 4));
    let deliveries = f64::from(deliveries.load(Ordering::Relaxed)) / f64::from(count);
    print_value("deliveries_per_candidate", round_to(deliveries, 4));
    Ok(())
}
