//! The cost of candidates from their creation to the evaluation of their interview: usage from the log, at public
//! prices. And the write units of counting their events as usage, and of an evaluation with what is kept of its first version.
//!
//! `tests/bench cost [CANDIDATES]` measures another number than 100. With `webhook`, a webhook gets all events.
#![recursion_limit = "256"]
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use chrono::TimeDelta;
use serde_json::{Map, Value, json};
use shared::domain::candidate::CandidateStatus;
use tests::app::{FULL_COST, TestApp};
use tests::billing::{GIGABYTE_MILLISECONDS, INVOCATIONS};
use tests::caller::{Caller, PASSWORD, Staff};
use tests::changes::TableChanges;
use tests::figures::{print_value, round_to};
use tests::http::Request;
use tests::logs::Recording;
use tests::meter::write_units;
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
    // Before the clock moves on, which ends the sessions.
    print_evaluation(&app, &owner).await?;
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
    let mut changes = app.changes();
    changes.take();
    let recording = Recording::start();
    let mut mails = 0;
    let mut last_candidate = None;
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
        last_candidate = Some(invited.uri);
    }
    let text = recording.text();
    // One event more, when the month is final: the batch with it moves the month to where it stays.
    let candidate = last_candidate.ok_or("no candidate")?;
    app.clock().advance(TimeDelta::days(40));
    app.evaluate(&candidate, &evaluator.uri, false).await;
    app.settle().await;
    print_usage(&app, &mut changes)?;
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

/// Prints the write units of an evaluation of five answers and three criteria with comments, which is saved as a draft, completed and
/// changed once, and how many of them its first version adds.
async fn print_evaluation(app: &TestApp, owner: &Staff) -> Result<()> {
    let evaluator = app.staff("hiring-manager").await;
    let fields = json!({ "evaluators": [evaluator.uri], "allow_hash_login": true });
    let project = owner.running_project(fields).await;
    let mut rated = Vec::new();
    for (list, kind, name, count) in
        [("questions", "question", "text", 5), ("criteria", "criterion", "name", 3)]
    {
        for number in 1..=count {
            let fields = json!({ name: format!("Number {number}") });
            let created = owner.post(&format!("{project}{list}/"), fields).await.expect(201);
            rated.push((kind, created.uri("resource_uri")));
        }
    }
    let candidate = owner.candidate_at(&project, CandidateStatus::Interviewed).await;
    let target = format!("{candidate}evaluations/{}/", evaluator.id());
    let mut units = 0.0;
    let mut added = 0.0;
    for (value, completed) in [(3, false), (3, true), (4, true)] {
        let comment = "Names the trade-off, and what she would do in another team today.";
        let ratings: Vec<Value> = rated
            .iter()
            .map(|(kind, uri)| json!({ *kind: uri, "value": value, "comment": comment }))
            .collect();
        let body = json!({ "ratings": ratings, "recommendation": "yes", "comment": comment, "completed": completed });
        units += evaluator.send(Request::put(&target).json(&body)).await.log().write_units;
        let items = app.items().into_iter().filter_map(|item| item.as_object().cloned());
        let mut items =
            items.filter(|item| item["pk"]["S"].as_str().is_some_and(|pk| pk.ends_with("#EVALUATIONS")));
        let item = items.next().ok_or("no evaluation")?;
        let mut without = item.clone();
        without.retain(|name, _| !["first", "changed_at"].contains(&name.as_str()));
        added += write_units(&item) - write_units(&without);
    }
    print_value("evaluation_write_units", units);
    print_value("first_judgement_write_units", added);
    Ok(())
}

/// Prints what counting usage adds to the writes since `changes` were taken last, and has added to a month.
fn print_usage(app: &TestApp, changes: &mut TableChanges) -> Result<()> {
    let of_sort_key = |sk: &str| -> Result<Map<String, Value>> {
        let items = app.items().into_iter();
        let found = items.filter_map(|item| item.as_object().cloned()).find(|item| item["sk"]["S"] == sk);
        found.ok_or_else(|| format!("no item {sk}").into())
    };
    let records = changes.take();
    let writes = |is_it: &dyn Fn(&str, &str) -> bool| {
        let keys = records.iter().map(|record| &record["dynamodb"]["Keys"]);
        let count = keys.filter(|keys| {
            is_it(keys["pk"]["S"].as_str().unwrap_or_default(), keys["sk"]["S"].as_str().unwrap_or_default())
        });
        u32::try_from(count.count()).map(f64::from)
    };
    let is_numbered = |record: &&Value| {
        let is_entry =
            record["dynamodb"]["Keys"]["pk"]["S"].as_str().is_some_and(|pk| pk.starts_with("HISTORY#"));
        is_entry && record["eventName"] == "MODIFY"
    };
    let events = f64::from(u32::try_from(records.iter().filter(is_numbered).count())?);
    let (batches, closings) = (writes(&|_, sk| sk == "SEQUENCE")?, writes(&|_, sk| sk == "USAGE")?);
    let sequence = of_sort_key("SEQUENCE")?;
    let mut without = sequence.clone();
    without.remove("usage");
    let of_closings = closings * write_units(&of_sort_key("USAGE")?);
    let of_batches = batches * (write_units(&sequence) - write_units(&without));
    print_value("numbered_events", events);
    print_value("numbered_batches", batches);
    print_value("usage_write_units_of_batches", of_batches);
    print_value("usage_write_units_of_closed_months", of_closings);
    print_value("usage_write_units_per_100_events", round_to((of_batches + of_closings) / events * 100.0, 4));
    Ok(())
}
