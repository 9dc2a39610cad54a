//! Instructions of a function's first response and of each further one, for the requests that clients send most, and of
//! the smallest function that makes the same DynamoDB calls. Release binaries under callgrind, plain HTTP to the local back
//! end. Fails if a request misses its goal, or takes more of the floor than its record.
//!
//! `tests/bench requests local` measures binaries of the profile `local`, which are built faster and keep the names of
//! functions for `callgrind_annotate`.
#![recursion_limit = "256"]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use shared::clock::{Clock, SystemClock};
use tests::app::TestApp;
use tests::caller::Staff;
use tests::callgrind;
use tests::figures::{Figures, round, round_to};
use tests::floor::{self, ReplayServer};
use tests::function::{Function, http_event};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Candidates in the project, each found by the search.
const CANDIDATES: usize = 25;
/// The telephone number of each.
const PHONE: &str = "+49 30 1234567";
/// Further responses of a process.
const FURTHER: usize = 10;
/// The number that is compared with the record. Counts themselves differ with the versions of Valgrind and the C library, and that of a
/// first response by some percent from run to run.
const COMPARED: [&str; 1] = ["ratio_to_floor"];
/// The most that it may exceed the record. A change that is worth more renews the record in its own commit, whose message says why.
const TOLERANCE: f64 = 1.01;

/// A kind of request.
struct Row {
    name: &'static str,
    binary: &'static str,
    method: &'static str,
    path: String,
    query: &'static str,
    /// The JSON body, which differs with the number of the request.
    body: Option<fn(usize) -> Value>,
    status: u64,
    /// How the sort keys begin of the items that the floor answers with.
    shown: &'static str,
    /// The most that a further response should take, as a multiple of the floor's.
    goal: f64,
}

/// A binary and its environment variables.
struct Program<'a> {
    binary: &'a Path,
    variables: BTreeMap<&'static str, String>,
}

/// The instructions that responses of a process take, in millions.
struct Counts {
    first: f64,
    warm: f64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    if !callgrind::is_installed().await {
        return Err("Valgrind is not installed: `apt-get install valgrind`".into());
    }
    // Cargo adds --bench.
    let profile = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let profile = profile.unwrap_or_else(|| "release".to_owned());
    let functions =
        ["auth", "candidates", "search", "floor"].into_iter().flat_map(|name| ["--package", name]);
    let binaries = tests::binaries::build(["--profile", &profile].into_iter().chain(functions));

    let app = TestApp::start().await;
    // The binaries use the real time.
    app.clock().advance(SystemClock.now() - app.clock().now());
    let owner = app.owner().await;
    let mut figures = Figures::of_profile(&profile).comparing(&COMPARED, TOLERANCE);
    let mut missed = Vec::new();
    let binary = |name| binaries.get(name).map(PathBuf::as_path).ok_or(format!("{name} was not built"));
    for row in rows(&owner).await {
        let ours = Program { binary: binary(row.binary)?, variables: app.environment().clone() };
        let counts = row.counts(&ours, owner.secret(), row.status).await?;
        let floor = row.floor(&ours, binary("floor")?, owner.secret()).await?;
        let floor = row.counts(&floor, owner.secret(), 200).await?;
        let ratio = counts.warm / floor.warm;
        figures.print(&json!({
            "figure": "instructions_millions", "request": row.name, "goal": row.goal,
            "first": round(counts.first), "warm": round(counts.warm), "floor": round(floor.warm),
            "ratio_to_floor": round_to(ratio, 3),
        }));
        if profile == "release" && round(ratio) > row.goal {
            missed.push(format!("{} takes {} of the floor instead of {}", row.name, round(ratio), row.goal));
        }
    }
    figures.finish()?;
    if missed.is_empty() { Ok(()) } else { Err(missed.join("; ").into()) }
}

/// The requests, in a project with candidates who have been invited.
async fn rows(owner: &Staff) -> Vec<Row> {
    let project = owner.running_project(json!({ "evaluators": [owner.uri] })).await;
    let mut candidate = String::new();
    for _ in 0..CANDIDATES {
        candidate = owner.invite(&project, json!({ "phone": PHONE })).await.uri;
    }
    let [project, candidate] = [project, candidate].map(|uri| path_of(&uri).to_owned());
    let candidates = format!("{project}candidates/");
    let get = |name, goal, binary, path: &str, query| {
        let path = path.to_owned();
        Row { name, binary, method: "GET", path, query, body: None, status: 200, shown: "CANDIDATE#", goal }
    };
    let same: fn(usize) -> Value = |_| json!({ "phone": PHONE });
    let phone: fn(usize) -> Value = |number| json!({ "phone": format!("+49 30 {number}") });
    let new: fn(usize) -> Value = |number| {
        let email = format!("grace.{number}@mail.example");
        json!({ "first_name": "Grace", "last_name": "Hopper", "email": email })
    };
    vec![
        Row { shown: "CUSTOMER#", ..get("GET whoami", 1.25, "auth", "/whoami/", "") },
        get("GET a candidate", 1.2, "candidates", &candidate, ""),
        get("GET 20 candidates", 1.07, "candidates", &candidates, ""),
        get("GET search, 25 hits", 1.33, "search", "/companies/acme/search/", "q=lovelace"),
        Row {
            method: "PATCH",
            body: Some(same),
            ..get("PATCH without a change", 1.25, "candidates", &candidate, "")
        },
        Row {
            method: "PATCH",
            body: Some(phone),
            ..get("PATCH a candidate", 1.33, "candidates", &candidate, "")
        },
        Row {
            method: "POST",
            body: Some(new),
            status: 201,
            ..get("POST a candidate", 1.3, "candidates", &candidates, "")
        },
    ]
}

impl Row {
    /// The floor, with the DynamoDB calls of as many requests as a process answers.
    async fn floor<'a>(&self, ours: &Program<'_>, binary: &'a Path, token: &str) -> Result<Program<'a>> {
        let events: Vec<Value> = (0..=FURTHER).map(|number| self.event(token, number)).collect();
        let requests = floor::record_calls(ours.binary, &ours.variables, &events).await?;
        let mut variables = floor::variables(&ours.variables, &self.file("calls"), &requests, self.shown)?;
        // Not the table, where the writes have been made already.
        variables.insert(floor::DYNAMODB, ReplayServer::start(&requests).await?.url());
        Ok(Program { binary, variables })
    }

    /// The instructions that responses with this status take: the least of several counts.
    async fn counts(&self, program: &Program<'_>, token: &str, status: u64) -> Result<Counts> {
        let mut least = [(0, f64::MAX), (1, f64::MAX), (1 + FURTHER, f64::MAX)];
        for _ in 0..callgrind::RUNS {
            for (count, least) in &mut least {
                *least = least.min(self.instructions(program, token, status, *count).await?);
            }
        }
        let [none, one, all] = least.map(|(_, least)| least);
        Ok(Counts { first: one - none, warm: (all - one) / FURTHER as f64 })
    }

    /// Millions of instructions of a process that answers this request `count` times.
    async fn instructions(
        &self,
        program: &Program<'_>,
        token: &str,
        status: u64,
        count: usize,
    ) -> Result<f64> {
        let Program { binary, variables } = program;
        let program_name = binary.file_name().unwrap_or_default().display();
        let profile = self.file(&format!("callgrind.{program_name}.{count}"));
        callgrind::instructions(binary, variables, &profile, async |function: &mut Function| {
            for number in 0..count {
                // Differs from all requests of earlier processes, so that each PATCH makes a change.
                let answer = function.invoke(&self.event(token, count * 100 + number)).await?;
                if answer["statusCode"] != status {
                    return Err(format!("{}: {answer}", self.name).into());
                }
            }
            Ok(())
        })
        .await
    }

    /// The path of a file of this row.
    fn file(&self, kind: &str) -> PathBuf {
        let row = self.name.replace([' ', ','], "-");
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{kind}.{row}"))
    }

    fn event(&self, token: &str, number: usize) -> Value {
        let headers =
            json!({ "authorization": format!("Token {token}"), "content-type": "application/json" });
        let mut event = http_event(self.method, &format!("/api/v3{}", self.path), headers);
        event["rawQueryString"] = self.query.into();
        if let Some(body) = self.body {
            event["body"] = body(number).to_string().into();
        }
        event
    }
}

/// The part of a URL after the version.
fn path_of(uri: &str) -> &str {
    uri.split_once("/api/v3").map_or(uri, |(_, path)| path)
}
