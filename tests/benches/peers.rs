//! The function for candidates beside the same requests as one would write them in Node, Python and Rust: time, memory,
//! size and price, in turn in one run, with one local DynamoDB behind TLS.
#![recursion_limit = "256"]

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::json;
use shared::clock::{Clock, Stopwatch, SystemClock};
use tests::app::TestApp;
use tests::billing::{
    self, GIGABYTE_MILLISECONDS, INVOCATIONS, SIZES, billed, billed_start, gigabyte_milliseconds, mean,
    succeed,
};
use tests::figures::{Figures, round, round_to};
use tests::function::{Function, http_event};
use tests::quota::CpuQuota;
use tests::tls::TlsDynamoDb;
use tokio::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Timed starts of each program.
const STARTS: usize = 15;
/// Requests of each kind before the measurement, so that V8 has compiled what it will compile.
const WARM_UP: usize = 200;
/// Timed requests of each kind.
const TIMED: usize = 500;
/// Requests of each kind, and starts, whose bill is measured.
const BILLED: usize = 40;
const BILLED_STARTS: usize = 3;
/// The requests of a candidate's story in `tests/bench cost`: one creates the candidate, the others read.
const READS: f64 = 9.0;
/// Memory that is granted for each megabyte of the peak.
const MARGIN: f64 = 1.25;

/// A program that answers the requests.
struct Subject {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<&'static str>,
    variables: BTreeMap<&'static str, String>,
    /// The deployment package: a file or a folder.
    package: PathBuf,
}

/// Times of one subject in milliseconds.
#[derive(Default)]
struct Times {
    starts: Vec<f64>,
    reads: Vec<f64>,
    writes: Vec<f64>,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let binaries = tests::binaries::build(["--bins", "--profile", "release", "--package", "candidates"]);
    let ours = binaries.get("candidates").ok_or("the function was not built")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let built = Command::new(root.join("tests/peers/build")).status().await?;
    if !built.success() {
        return Err("the peers could not be built".into());
    }

    let app = TestApp::start().await;
    // The binaries use the real time.
    app.clock().advance(SystemClock.now() - app.clock().now());
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "evaluators": [owner.uri] })).await;
    let candidate = owner.invite(&project, json!({ "phone": "+49 30 1234567" })).await.uri;
    let headers =
        json!({ "authorization": format!("Token {}", owner.secret()), "content-type": "application/json" });
    let read = http_event("GET", &path_of(&candidate), headers.clone());
    let write = |number: usize| {
        let mut event = http_event("POST", &format!("{}candidates/", path_of(&project)), headers.clone());
        let email = format!("grace.{number}@mail.example");
        let body =
            json!({ "first_name": "Grace", "last_name": "Hopper", "email": email, "phone": "+49 30 1" });
        event["body"] = body.to_string().into();
        event
    };

    let tls = TlsDynamoDb::start(app.environment(), Path::new(env!("CARGO_TARGET_TMPDIR"))).await?;
    let subjects = subjects(&app, &tls, ours, &root.join("target/peers"))?;
    let mut times: Vec<Times> = subjects.iter().map(|_| Times::default()).collect();
    // In turn, so that other load on the computer affects all alike.
    for _ in 0..STARTS {
        for (subject, times) in subjects.iter().zip(&mut times) {
            let mut function = subject.start().await?;
            function.ready().await?;
            succeed(&mut function, &read).await?;
            times.starts.push(milliseconds(function.age()));
            function.terminate().await?;
        }
    }
    let mut functions = Vec::new();
    for subject in &subjects {
        functions.push(subject.start().await?);
    }
    for number in 0..WARM_UP + TIMED {
        for (function, times) in functions.iter_mut().zip(&mut times) {
            for (event, times) in [(&read, &mut times.reads), (&write(number), &mut times.writes)] {
                let stopwatch = Stopwatch::start();
                succeed(function, event).await?;
                if number >= WARM_UP {
                    times.push(milliseconds(stopwatch.elapsed()));
                }
            }
        }
    }

    let mut figures = Figures::of_profile("release");
    billing::slow_down(&tls);
    for ((subject, mut function), mut times) in subjects.iter().zip(functions).zip(times) {
        let peak = function.peak_kilobytes() as f64 / 1_024.0;
        figures.print(&json!({
            "figure": "milliseconds", "program": subject.name, "start": round(percentile(&mut times.starts, 50)),
            "get_p50": round(percentile(&mut times.reads, 50)), "get_p99": round(percentile(&mut times.reads, 99)),
            "post_p50": round(percentile(&mut times.writes, 50)), "post_p99": round(percentile(&mut times.writes, 99)),
        }));
        figures.print(&json!({
            "figure": "megabytes", "program": subject.name, "peak_memory": round(peak),
            "zip": round(zipped(&subject.package)? as f64 / 1e6),
        }));
        let memory = SIZES.into_iter().find(|size| f64::from(*size) >= peak * MARGIN);
        let memory = memory.ok_or("more memory than Lambda is asked for")?;
        let quota = CpuQuota::of_memory(memory)?;
        let mut starts = Vec::new();
        for _ in 0..BILLED_STARTS {
            let mut function = subject.start().await?;
            starts.push(billed_start(&mut function, &quota, &read).await?);
            function.terminate().await?;
        }
        quota.hold(function.id().ok_or("the program has ended")?)?;
        let (mut bills, mut processor) = ([Vec::new(), Vec::new()], [0.0, 0.0]);
        for number in 0..BILLED {
            for (kind, event) in [&read, &write(WARM_UP + TIMED + number)].into_iter().enumerate() {
                let before = function.processor_time();
                bills[kind].push(billed(&mut function, number, event).await?);
                processor[kind] += milliseconds(function.processor_time() - before) / BILLED as f64;
            }
        }
        function.terminate().await?;
        let [read, write] = bills.map(|bills| mean(&bills));
        // Dollars per million are thousandths of a dollar per thousand.
        let duration = gigabyte_milliseconds(READS * read + write, memory) * GIGABYTE_MILLISECONDS / 1e3;
        let invocations = (READS + 1.0) * INVOCATIONS / 1e3;
        figures.print(&json!({
            "figure": "milliseconds_of_a_processor", "program": subject.name, "get": round(processor[0]),
            "post": round(processor[1]),
        }));
        figures.print(&json!({
            "figure": "billed", "program": subject.name, "megabytes": memory, "get_milliseconds": round(read),
            "post_milliseconds": round(write), "start_milliseconds": round(mean(&starts)),
            "dollars_per_1000_candidates": round_to(duration + invocations, 5), "of_which_for_time": round_to(duration, 5),
        }));
    }
    app.leave_unsound("the peers write candidates without what belongs to them");
    figures.finish()
}

/// Ours first.
fn subjects(app: &TestApp, tls: &TlsDynamoDb, ours: &Path, peers: &Path) -> Result<Vec<Subject>> {
    let mut variables = app.environment().clone();
    variables.extend(tls.variables());
    // The service knows Amazon's five authorities. The others load all that the system trusts.
    let trusted = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trusted.pem");
    let system = std::fs::read_to_string("/etc/ssl/certs/ca-certificates.crt")?;
    std::fs::write(&trusted, system + &std::fs::read_to_string(tls.authority())?)?;
    let own = tls.authority().display().to_string();
    // Lambda sets the region under both names.
    let region = variables.get("AWS_REGION").cloned().ok_or("no region")?;
    let with = |more: &[(&'static str, String)]| {
        let more = more.iter().cloned().chain([("AWS_DEFAULT_REGION", region.clone())]);
        variables.clone().into_iter().chain(more).collect::<BTreeMap<_, _>>()
    };
    let [node, python, rust] = ["node", "python", "rust"].map(|name| peers.join(name));
    let path = ["package", "runtime"].map(|folder| python.join(folder).display().to_string()).join(":");
    let trusted = trusted.display().to_string();
    Ok(vec![
        Subject {
            name: "ours",
            program: ours.to_owned(),
            arguments: Vec::new(),
            variables: variables.clone(),
            package: ours.to_owned(),
        },
        Subject {
            name: "node",
            program: node.join("runtime/node"),
            arguments: vec!["bootstrap.cjs"],
            variables: with(&[("NODE_EXTRA_CA_CERTS", own)]),
            package: node.join("package"),
        },
        Subject {
            name: "python",
            program: python.join("runtime/python"),
            arguments: vec!["-m", "awslambdaric", "handler.handler"],
            variables: with(&[("PYTHONPATH", path), ("AWS_CA_BUNDLE", trusted.clone())]),
            package: python.join("package"),
        },
        Subject {
            name: "rust",
            program: rust.join("package/bootstrap"),
            arguments: Vec::new(),
            variables: with(&[("SSL_CERT_FILE", trusted)]),
            package: rust.join("package"),
        },
    ])
}

impl Subject {
    async fn start(&self) -> Result<Function> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(self.program.parent().ok_or("a program without a folder")?);
        Ok(Function::start(command, &self.variables).await?)
    }
}

/// The bytes of all files below a path, each compressed as in a zip file.
fn zipped(path: &Path) -> Result<usize> {
    if path.is_dir() {
        let entries = std::fs::read_dir(path)?;
        return entries.map(|entry| zipped(&entry?.path())).sum();
    }
    let mut zip = DeflateEncoder::new(Vec::new(), Compression::best());
    zip.write_all(&std::fs::read(path)?)?;
    Ok(zip.finish()?.len())
}

fn milliseconds(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn percentile(times: &mut [f64], percent: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

/// The path of a URL.
fn path_of(uri: &str) -> String {
    uri.split_once("/api/v3").map_or(uri.to_owned(), |(_, path)| format!("/api/v3{path}"))
}
