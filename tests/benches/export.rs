//! The rates of `export-company` and of `import-company`: records a second, with the processor's time, memory and capacity that
//! they take.
//!
//! Exports the imported company again at the end, which must give the same archive.
//!
//! DynamoDB and S3 are the local back end, in this process, on the same processors. `tests/bench export 5000` takes another
//! number of candidates.
#![recursion_limit = "256"]
use std::error::Error;
use std::fs;
use std::process::{Command, Stdio};

use admin::export::export_company;
use export_writer::InvocationLimits;
use serde_json::{Value, json};
use shared::clock::Stopwatch;
use shared::domain::archive::RecordKind;
use shared::domain::candidate::CandidateStatus;
use tests::app::TestApp;
use tests::binaries;
use tests::caller::Caller;
use tests::figures::{print_value, round};
use tests::function::watch;
use tests::http::Request;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const CANDIDATES: usize = 2_000;
/// The candidates in one import.
const TOGETHER: usize = 1_000;
/// Candidates who have been evaluated.
const EVALUATED: usize = 100;
/// Dollars for a million units on demand in us-east-1.
const DOLLARS_PER_MILLION_READS: f64 = 0.125;
const DOLLARS_PER_MILLION_WRITES: f64 = 0.625;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let count = arguments.first().copied().unwrap_or(CANDIDATES);
    // Along with this benchmark, because alone it would want other features of some dependencies, which would be built anew.
    let selection = ["--package", "tests", "--bench", "export", "--package", "admin", "--bin"];
    let selection = selection.iter().chain(&["export-company", "--bin", "import-company"]);
    let programs = binaries::build(["--profile", "local"].iter().chain(selection));
    let [export, import] = ["export-company", "import-company"].map(|name| programs.get(name));
    let (export, import) = export.zip(import).ok_or("a program is missing")?;

    let (app, _chaos) = TestApp::start_with_patient_chaos().await;
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
    let archive = folder.path().join("archive");
    let mut command = Command::new(export);
    command.arg("acme").arg(&archive).envs(app.environment());
    let candidates = (count + EVALUATED.min(count)) as f64;
    print_value("candidates", candidates);
    let exported = Measured::of(command).await?;
    let [records, units] = ["records", "read_units"].map(|figure| exported.figure(figure));
    print_value("records", exported.result["records"].clone());
    print_value("is_exact", exported.result["is_exact"].clone());
    exported.print("export", records);
    print_value("read_units_per_candidate", round(units / candidates));
    print_value("read_units_per_second", round(units / exported.elapsed));
    print_value(
        "dollars_per_100_000_candidates",
        round(units / candidates * 0.1 * DOLLARS_PER_MILLION_READS),
    );

    // Exports that owners request are written by the function.
    owner.post("/companies/acme/exports/", json!({})).await.expect(202);
    let stopwatch = Stopwatch::start();
    let summary = app.write_exports(InvocationLimits::SCHEDULED).await?;
    let elapsed = stopwatch.elapsed().as_secs_f64();
    if summary.written != 1 {
        return Err(format!("not written: {summary:?}").into());
    }
    print_value("function_candidates_per_second", round(candidates / elapsed));

    let there = TestApp::start().await;
    let mut command = Command::new(import);
    command.arg(&archive).arg("--accept-key").envs(there.environment());
    let imported = Measured::of(command).await?;
    let units = imported.figure("write_units");
    imported.print("import", records);
    print_value("write_units_per_candidate", round(units / candidates));
    print_value("dollars_per_100_000_imported", round(units / candidates * 0.1 * DOLLARS_PER_MILLION_WRITES));

    let second = folder.path().join("second");
    let moved = export_company(there.app(), "acme".parse()?, &second, ()).await;
    let moved = moved.map_err(|error| error.to_string())?;
    print_value("events", moved.sequence);
    for kind in RecordKind::ALL {
        let name = format!("records/{}.jsonl", kind.name());
        if fs::read(archive.join(&name))? != fs::read(second.join(&name))? {
            return Err(format!("{name} has changed on the way").into());
        }
    }
    Ok(())
}

/// A program that has ended.
struct Measured {
    /// In seconds.
    elapsed: f64,
    /// The time of processors, in seconds.
    processors: f64,
    /// In kibibytes.
    peak: u64,
    result: Value,
}

impl Measured {
    async fn of(mut command: Command) -> Result<Self> {
        let stopwatch = Stopwatch::start();
        let mut run = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (processors, peak) = watch(&mut run).await?;
        let result = serde_json::from_slice(&run.wait_with_output()?.stdout)?;
        Ok(Self { elapsed: stopwatch.elapsed().as_secs_f64(), processors, peak, result })
    }

    fn figure(&self, name: &str) -> f64 {
        self.result[name].as_f64().unwrap_or_default()
    }

    fn print(&self, program: &str, records: f64) {
        print_value(&format!("{program}: records_per_second"), (records / self.elapsed).round());
        let of_one = (records / self.processors).round();
        print_value(&format!("{program}: records_per_second_of_one_processor"), of_one);
        print_value(&format!("{program}: peak_megabytes"), round(self.peak as f64 / 1024.0));
    }
}
