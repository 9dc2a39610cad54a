//! Time and DynamoDB usage of a page of results: 100 candidates, each evaluated by 5 evaluators with ratings of 10
//! questions and 5 criteria.
//!
//! `tests/bench results [CANDIDATES]` measures another number of candidates, of whom a page shows 100.
#![recursion_limit = "256"]
use std::error::Error;

use serde_json::{Value, json};
use shared::clock::Stopwatch;
use shared::domain::candidate::CandidateStatus;
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::http::Request;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const EVALUATORS: usize = 5;
/// Repetitions per operation.
const TIMES: usize = 21;
const COMMENT: &str = "Answers to the point, with an example from the last project.";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // Cargo adds --bench.
    let count = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(100_usize);
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let mut evaluators = Vec::new();
    for _ in 0..EVALUATORS {
        evaluators.push(app.staff("hiring-manager").await);
    }
    let people: Vec<&str> = evaluators.iter().map(|one| one.uri.as_str()).collect();
    let project = owner.running_project(json!({ "allow_hash_login": true, "evaluators": people })).await;
    let mut rated = Vec::new();
    for (list, kind, name, number) in
        [("questions", "question", "text", 10), ("criteria", "criterion", "name", 5)]
    {
        for number in 0..number {
            let part = json!({ name: format!("No. {number}") });
            let part = owner.post(&format!("{project}{list}/"), part).await.expect(201);
            rated.push((kind, part.uri("resource_uri")));
        }
    }
    let mut candidate = String::new();
    for number in 0..count {
        candidate = owner.candidate_at(&project, CandidateStatus::Interviewed).await;
        for (by, evaluator) in evaluators.iter().enumerate() {
            let ratings = rated.iter().enumerate().map(|(place, (kind, uri))| {
                json!({ *kind: uri, "value": (number + by + place) % 6, "comment": COMMENT })
            });
            let body =
                json!({ "ratings": ratings.collect::<Vec<_>>(), "comment": COMMENT, "completed": true });
            let target = format!("{candidate}evaluations/{}/", evaluator.id());
            evaluator.send(Request::put(&target).json(&body)).await.expect(201);
        }
    }
    let id = tests::caller::last_segment(&candidate);
    for (operation, target) in [
        ("result", format!("{project}results/{id}/")),
        ("page of 100 results", format!("{project}results/?page_size=100")),
        (
            "page of 100 results by rating",
            format!("{project}results/?page_size=100&ordering=-overall_rating"),
        ),
        ("page of 20 results by rating", format!("{project}results/?ordering=-overall_rating")),
        ("evaluations of a candidate", format!("{candidate}evaluations/")),
    ] {
        measure(operation, count, &owner, &target).await;
    }
    Ok(())
}

async fn measure(operation: &str, candidates: usize, caller: &Staff, target: &str) {
    let mut milliseconds = Vec::new();
    let mut last = caller.get(target).await.expect(200);
    for _ in 0..TIMES {
        let stopwatch = Stopwatch::start();
        last = caller.get(target).await.expect(200);
        milliseconds.push(stopwatch.elapsed().as_secs_f64() * 1e3);
    }
    milliseconds.sort_by(f64::total_cmp);
    let log = last.log();
    print(&json!({
        "operation": operation, "candidates": candidates, "bytes": last.json().to_string().len(),
        "dynamodb_calls": log.dynamodb_calls, "read_units": log.read_units,
        "median_ms": (milliseconds[TIMES / 2] * 100.0).round() / 100.0,
    }));
}

#[expect(clippy::print_stdout, reason = "standard output is what a benchmark is for")]
fn print(figure: &Value) {
    println!("{figure}");
}
