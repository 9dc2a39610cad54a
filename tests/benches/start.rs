//! The start of every HTTP function, from the process to its first response, compared with the smallest function built the
//! same way. Release binaries, DynamoDB over TLS; counts instructions if Valgrind is installed.
//!
//! `tests/bench start local` measures binaries of the profile `local`, which are built faster.
#![recursion_limit = "256"]

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::{Value, json};
use shared::clock::{Clock, SystemClock};
use tests::app::TestApp;
use tests::caller::Caller;
use tests::callgrind;
use tests::figures::{Figures, round};
use tests::function::{Function, http_event};
use tests::tls::TlsDynamoDb;
use tokio::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The number of timed starts of each function.
const STARTS: usize = 31;
/// The smallest function and the others.
const FUNCTIONS: [&str; 12] = [
    "hello",
    "auth",
    "companies",
    "projects",
    "candidates",
    "evaluations",
    "interviews",
    "customers",
    "videos",
    "search",
    "events",
    "docs",
];

/// A function and the request that it answers first.
struct Subject {
    name: &'static str,
    binary: PathBuf,
    variables: BTreeMap<&'static str, String>,
    event: Value,
}

/// What one start took, in milliseconds or millions of instructions.
#[derive(Clone, Copy)]
struct Start {
    first_poll: f64,
    first_answer: f64,
    peak_kilobytes: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // Cargo adds --bench.
    let profile = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let profile = profile.unwrap_or_else(|| "release".to_owned());
    let packages = FUNCTIONS.iter().flat_map(|name| ["--package", name]);
    let binaries = tests::binaries::build(["--bins", "--profile", &profile].into_iter().chain(packages));
    // After the build: the use of an older session would be recorded, which costs a write.
    let app = TestApp::start().await;
    let subjects = subjects(&app, &binaries).await?;
    let mut times = vec![Vec::new(); subjects.len()];
    // In turn, so that other load on the computer affects all subjects alike.
    for _ in 0..STARTS {
        for (subject, times) in subjects.iter().zip(&mut times) {
            times.push(time(subject).await?);
        }
    }
    let times: Vec<Start> = times.iter().map(|times| median(times)).collect();
    let mut figures = Figures::of_profile(&profile);
    print(&mut figures, "milliseconds", &subjects, &times);
    for (subject, start) in subjects.iter().zip(&times) {
        let binary = std::fs::read(&subject.binary)?;
        let mut zip = DeflateEncoder::new(Vec::new(), Compression::best());
        zip.write_all(&binary)?;
        figures.print(&json!({
            "figure": "megabytes", "function": subject.name, "binary": round(binary.len() as f64 / 1e6),
            "zip": round(zip.finish()?.len() as f64 / 1e6), "peak_memory": round(start.peak_kilobytes as f64 / 1e3),
        }));
    }
    if callgrind::is_installed().await {
        let mut counts = Vec::new();
        for subject in &subjects {
            counts.push(instructions(subject).await?);
        }
        print(&mut figures, "instructions_millions", &subjects, &counts);
    }
    figures.finish()
}

/// The smallest function first.
async fn subjects(app: &TestApp, binaries: &BTreeMap<String, PathBuf>) -> Result<Vec<Subject>> {
    // The binaries use the real time.
    app.clock().advance(SystemClock.now() - app.clock().now());
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, json!({ "first_name": "Ada" })).await;
    let question = owner.post(&format!("{project}questions/"), json!({ "text": "Why?" })).await.expect(201);
    let video = json!({ "name": "Hi", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 9 });
    let video = owner.post("/companies/acme/videos/", video).await.expect(201).json();
    let path = |uri: &str| uri.split_once("/api/v3").map_or(String::new(), |(_, path)| path.to_owned());
    let paths = [
        "/".to_owned(),
        "/whoami/".to_owned(),
        "/companies/acme/".to_owned(),
        path(&project),
        path(&candidate),
        path(&question.uri("resource_uri")),
        path(&format!("{candidate}interview/")),
        path(&owner.uri),
        path(video["resource_uri"].as_str().unwrap_or_default()),
        "/companies/acme/search/".to_owned(),
        "/companies/acme/events/".to_owned(),
        "/docs/".to_owned(),
    ];
    let tls = TlsDynamoDb::start(app.environment(), Path::new(env!("CARGO_TARGET_TMPDIR"))).await?;
    let mut variables = app.environment().clone();
    variables.extend(tls.variables());
    variables.remove("WEAK_PASSWORD_HASHES");

    let subject = |(name, path): (&'static str, String)| {
        let headers =
            json!({ "accept-encoding": "gzip", "authorization": format!("Token {}", owner.secret()) });
        let mut event = http_event("GET", &format!("/api/v3{path}"), headers);
        event["rawQueryString"] = if name == "search" { "q=ada" } else { "" }.into();
        let binary = binaries.get(name).ok_or(format!("{name} was not built"))?.clone();
        Ok(Subject { name, binary, variables: variables.clone(), event })
    };
    FUNCTIONS.into_iter().zip(paths).map(subject).collect()
}

/// The milliseconds from the start to the first poll for an event and to the first response.
async fn time(subject: &Subject) -> Result<Start> {
    let mut function = Function::start(Command::new(&subject.binary), &subject.variables).await?;
    function.ready().await?;
    let first_poll = function.age();
    answer(subject, &mut function).await?;
    let [first_poll, first_answer] = [first_poll, function.age()].map(|time| time.as_secs_f64() * 1e3);
    Ok(Start { first_poll, first_answer, peak_kilobytes: function.peak_kilobytes() })
}

async fn answer(subject: &Subject, function: &mut Function) -> Result<()> {
    let answer = function.invoke(&subject.event).await?;
    if answer["statusCode"] == 200 {
        Ok(())
    } else {
        Err(format!("unexpected answer of {}: {answer}", subject.name).into())
    }
}

/// The millions of instructions from the start to the first poll for an event and to the first response.
async fn instructions(subject: &Subject) -> Result<Start> {
    let count = async |answers: bool| {
        let profile =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("start-{}.callgrind", subject.name));
        let ask =
            async |function: &mut Function| if answers { answer(subject, function).await } else { Ok(()) };
        let mut least = f64::MAX;
        for _ in 0..callgrind::RUNS {
            let counted =
                callgrind::instructions(&subject.binary, &subject.variables, &profile, &ask).await?;
            least = least.min(counted);
        }
        Ok::<_, Box<dyn Error>>(least)
    };
    Ok(Start { first_poll: count(false).await?, first_answer: count(true).await?, peak_kilobytes: 0 })
}

fn median(starts: &[Start]) -> Start {
    let median = |figure: fn(&Start) -> f64| {
        let mut figures: Vec<f64> = starts.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures[figures.len() / 2]
    };
    Start {
        first_poll: median(|start| start.first_poll),
        first_answer: median(|start| start.first_answer),
        peak_kilobytes: starts.iter().map(|start| start.peak_kilobytes).max().unwrap_or_default(),
    }
}

fn print(figures: &mut Figures, unit: &str, subjects: &[Subject], starts: &[Start]) {
    for (subject, start) in subjects.iter().zip(starts) {
        figures.print(&json!({
            "figure": unit, "function": subject.name, "first_poll": round(start.first_poll),
            "first_answer": round(start.first_answer),
            "ratio_to_hello": round(start.first_answer / starts[0].first_answer),
        }));
    }
}
