//! The start of every HTTP function, from the process to its first response, compared with the smallest function built the
//! same way, and with the smallest that makes the same DynamoDB calls for this response. Release binaries, DynamoDB over
//! TLS; counts instructions if Valgrind is installed.
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
use tests::caller::{Caller, last_segment};
use tests::callgrind;
use tests::figures::{Figures, round};
use tests::floor;
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

/// The most that a start until the first response should take, as a multiple of the floor's.
const GOAL: f64 = 1.15;

/// A function and the request that it answers first.
struct Subject {
    name: String,
    binary: PathBuf,
    variables: BTreeMap<&'static str, String>,
    event: Value,
    /// The smallest function that makes the same calls; `None` if there are no calls.
    floor: Option<Box<Subject>>,
}

/// The figures of one start, in milliseconds or millions of instructions.
#[derive(Clone, Copy)]
struct Start {
    first_poll: f64,
    first_answer: f64,
    peak_kilobytes: u64,
}

/// The start of a function and of its floor.
struct Pair {
    ours: Start,
    floor: Option<Start>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // Cargo adds --bench.
    let profile = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let profile = profile.unwrap_or_else(|| "release".to_owned());
    let packages = FUNCTIONS.iter().chain(&["floor"]).flat_map(|name| ["--package", name]);
    let binaries = tests::binaries::build(["--bins", "--profile", &profile].into_iter().chain(packages));
    // After the build: the use of an older session would be recorded, which costs a write.
    let app = TestApp::start().await;
    let subjects = subjects(&app, &binaries).await?;
    let mut times = vec![(Vec::new(), Vec::new()); subjects.len()];
    // In turn, so that other load on the computer affects all subjects alike.
    for _ in 0..STARTS {
        for (subject, (ours, floor)) in subjects.iter().zip(&mut times) {
            ours.push(time(subject).await?);
            if let Some(subject) = &subject.floor {
                floor.push(time(subject).await?);
            }
        }
    }
    let pair = |(ours, floor): &(Vec<Start>, Vec<Start>)| Pair {
        ours: median(ours),
        floor: (!floor.is_empty()).then(|| median(floor)),
    };
    let times: Vec<Pair> = times.iter().map(pair).collect();
    let mut figures = Figures::of_profile(&profile);
    print(&mut figures, "milliseconds", &subjects, &times);
    for (subject, Pair { ours: start, .. }) in subjects.iter().zip(&times) {
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
            let floor = match &subject.floor {
                Some(floor) => Some(instructions(floor).await?),
                None => None,
            };
            counts.push(Pair { ours: instructions(subject).await?, floor });
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
    let video_uri = video["resource_uri"].as_str().unwrap_or_default().to_owned();
    let path = |uri: &str| uri.split_once("/api/v3").map_or(String::new(), |(_, path)| path.to_owned());
    // The path of each function's resource, and how the sort keys begin of the items that the answer shows.
    let paths = [
        ("/".to_owned(), ""),
        ("/whoami/".to_owned(), "CUSTOMER#"),
        ("/companies/acme/".to_owned(), "COMPANY"),
        (path(&project), "PROJECT#"),
        (path(&candidate), "CANDIDATE#"),
        (path(&question.uri("resource_uri")), "INTERVIEW"),
        (path(&format!("{candidate}interview/")), "INTERVIEW"),
        (path(&owner.uri), "CUSTOMER#"),
        (path(&video_uri), last_segment(&video_uri)),
        ("/companies/acme/search/".to_owned(), "CANDIDATE#"),
        ("/companies/acme/events/".to_owned(), "SEQUENCE"),
        ("/docs/".to_owned(), ""),
    ];
    let tls = TlsDynamoDb::start(app.environment(), Path::new(env!("CARGO_TARGET_TMPDIR"))).await?;
    let mut variables = app.environment().clone();
    variables.extend(tls.variables());
    variables.remove("WEAK_PASSWORD_HASHES");

    let mut subjects = Vec::new();
    for (name, (path, shown)) in FUNCTIONS.into_iter().zip(paths) {
        let headers =
            json!({ "accept-encoding": "gzip", "authorization": format!("Token {}", owner.secret()) });
        let mut event = http_event("GET", &format!("/api/v3{path}"), headers);
        event["rawQueryString"] = if name == "search" { "q=ada" } else { "" }.into();
        let binary = |name| binaries.get(name).cloned().ok_or(format!("{name} was not built"));
        let variables = variables.clone();
        let mut subject =
            Subject { name: name.to_owned(), binary: binary(name)?, variables, event, floor: None };
        let floor = floor_of(&subject, app.environment(), binary("floor")?, shown).await?;
        subject.floor = floor.map(Box::new);
        subjects.push(subject);
    }
    Ok(subjects)
}

/// `subject`'s floor. `plain` are variables of the same DynamoDB without TLS, which can be recorded. The floor
/// answers with the items whose sort keys begin with `shown`.
async fn floor_of(
    subject: &Subject,
    plain: &BTreeMap<&'static str, String>,
    binary: PathBuf,
    shown: &str,
) -> Result<Option<Subject>> {
    let requests = floor::record_calls(&subject.binary, plain, std::slice::from_ref(&subject.event)).await?;
    if requests.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    let calls = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("start-{}.calls", subject.name));
    let variables = floor::variables(&subject.variables, &calls, &requests, shown)?;
    let name = format!("{}.floor", subject.name);
    Ok(Some(Subject { name, binary, variables, event: subject.event.clone(), floor: None }))
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

fn print(figures: &mut Figures, unit: &str, subjects: &[Subject], starts: &[Pair]) {
    for (subject, Pair { ours, floor }) in subjects.iter().zip(starts) {
        let mut figure = json!({
            "figure": unit, "function": subject.name, "first_poll": round(ours.first_poll),
            "first_answer": round(ours.first_answer),
            "ratio_to_hello": round(ours.first_answer / starts[0].ours.first_answer),
        });
        if let Some(floor) = floor {
            figure["floor"] = round(floor.first_answer).into();
            figure["ratio_to_floor"] = round(ours.first_answer / floor.first_answer).into();
            figure["goal"] = GOAL.into();
        }
        figures.print(&figure);
    }
}
