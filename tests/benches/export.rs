//! The rate of `export-company`: records a second, with the processor's time, memory and capacity that they take.
//!
//! DynamoDB and S3 are the local back end, in this process, on the same processors. `tests/bench export 5000` takes another
//! number of candidates.
#![recursion_limit = "256"]
use std::error::Error;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use shared::clock::Stopwatch;
use shared::domain::candidate::CandidateStatus;
use tests::app::TestApp;
use tests::binaries;
use tests::caller::Caller;
use tests::figures::round;
use tests::function::watch;
use tests::http::Request;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const CANDIDATES: usize = 2_000;
/// What an import takes at once.
const TOGETHER: usize = 1_000;
/// Candidates who have been evaluated.
const EVALUATED: usize = 100;
/// Dollars for a million read units on demand in us-east-1.
const DOLLARS_PER_MILLION: f64 = 0.125;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let count = arguments.first().copied().unwrap_or(CANDIDATES);
    // Along with this benchmark, because alone it would want other features of some dependencies, which would be built anew.
    let selection =
        ["--package", "tests", "--bench", "export", "--package", "admin", "--bin", "export-company"];
    let program = binaries::build(["--profile", "local"].iter().chain(&selection));
    let program = program.get("export-company").ok_or("no program")?;

    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true, "evaluators": [owner.uri] })).await;
    let criterion = json!({ "name": "Listening" });
    let criterion =
        owner.post(&format!("{project}criteria/"), criterion).await.expect(201).uri("resource_uri");
    for start in (0..count).step_by(TOGETHER) {
        let entry = |number| json!({ "first_name": "Ada", "last_name": format!("Byron {number}"), "email": app.next_email() });
        let entries: Vec<Value> = (start..count.min(start + TOGETHER)).map(entry).collect();
        owner.post(&format!("{project}candidates/import/"), Value::from(entries)).await.expect(200);
    }
    for _ in 0..EVALUATED.min(count) {
        let candidate = owner.candidate_at(&project, CandidateStatus::Interviewed).await;
        let rating =
            json!({ "criterion": criterion, "value": 3, "comment": "Answers what was asked, in order." });
        let evaluation =
            json!({ "ratings": [rating], "comment": "Good.", "recommendation": "yes", "completed": true });
        let target = format!("{candidate}evaluations/{}/", owner.id());
        owner.send(Request::put(&target).json(&evaluation)).await.expect(201);
    }
    app.settle().await;

    let folder = tempfile::TempDir::new()?;
    let stopwatch = Stopwatch::start();
    let mut command = Command::new(program);
    command.arg("acme").arg(folder.path().join("archive")).envs(app.environment());
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let (seconds, peak) = watch(&mut run).await?;
    let result: Value = serde_json::from_slice(&run.wait_with_output()?.stdout)?;
    let elapsed = stopwatch.elapsed().as_secs_f64();
    let [records, units] =
        ["records", "read_units"].map(|figure| result[figure].as_f64().unwrap_or_default());
    let candidates = (count + EVALUATED.min(count)) as f64;
    print("candidates", json!(candidates));
    print("records", result["records"].clone());
    print("is_exact", result["is_exact"].clone());
    print("records_per_second", json!((records / elapsed).round()));
    print("records_per_second_of_one_processor", json!((records / seconds).round()));
    print("peak_megabytes", round(peak as f64 / 1024.0));
    print("read_units_per_candidate", round(units / candidates));
    print("read_units_per_second", round(units / elapsed));
    print("dollars_per_100_000_candidates", round(units / candidates * 0.1 * DOLLARS_PER_MILLION));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "standard output is what a benchmark is for")]
fn print(figure: &str, value: impl Into<Value>) {
    println!("{}", json!({ "figure": figure, "value": value.into() }));
}
