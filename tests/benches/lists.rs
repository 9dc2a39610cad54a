//! Time and DynamoDB usage of lists and searches as companies grow: 1,000, 10,000 and 100,000 candidates in a project,
//! the last with 1,000,000 search entries. Each request goes to one company after the other, so that other load on the
//! computer affects all alike.
//!
//! Fails if an operation takes more calls with more candidates, or over 5 % more capacity. `tests/bench lists [SIZE…]`
//! measures other sizes.
//!
//! Also tells which partition key each request reads most, and how many such requests a second fill its partition.
#![recursion_limit = "256"]
use std::error::Error;

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::clock::{Clock, Stopwatch};
use shared::domain::candidate::CandidateProfile;
use shared::domain::text::{Email, ShortName};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::heat::{MOST_READS, MOST_WRITES, Peak};
use tests::http::{Request, Response};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The minimum number of search entries of the largest company.
const ENTRIES: usize = 1_000_000;
/// Repetitions per operation.
const TIMES: usize = 21;
/// Tolerated growth: several items that are read together may or may not fill a unit of capacity.
const TOLERANCE: f64 = 1.05;
/// Operations with growing but bounded cost: of several terms, up to 1,600 entries are read.
const BOUNDED: [&str; 2] = ["search of first and last name", "search of two beginnings"];
/// The number of links to follow.
const LINKS: usize = 50;
const FIRST_NAMES: [&str; 8] = ["Ada", "Adam", "Grace", "Zoe", "Anna", "Lukas", "Maria", "Alexandra"];
const LAST_NAMES: [&str; 7] = ["Byron", "Hopper", "Mueller", "Schwarzenberg", "Rossi", "Nielsen", "Abel"];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // Cargo adds --bench.
    let mut sizes: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let mut entries = 0;
    if sizes.is_empty() {
        sizes = vec![1_000, 10_000, 100_000];
        entries = ENTRIES;
    }
    let mut companies = Vec::new();
    for size in &sizes {
        let is_last = companies.len() + 1 == sizes.len();
        let app = TestApp::start().await;
        companies.push(Company::fill(app, *size, if is_last { entries } else { 0 }).await?);
    }
    let mut costs_more = Vec::new();
    for (operation, target) in OPERATIONS {
        costs_more.extend(compare(operation, &companies, measure(target, &companies).await?));
    }
    heat().await?;
    if costs_more.is_empty() { Ok(()) } else { Err(format!("not flat: {}", costs_more.join(", ")).into()) }
}

#[derive(Clone, Copy)]
enum Target {
    Candidate,
    /// Candidates, with this query.
    List(&'static str),
    /// The pages from the first one on, by their links.
    Next,
    /// A query of the owner.
    Search(&'static str),
    /// A query of a user with a role in a project of 1,000 candidates.
    OwnSearch(&'static str),
    Advance,
}

const OPERATIONS: [(&str, Target); 14] = [
    ("get", Target::Candidate),
    ("list page 1", Target::List("")),
    ("list, next page", Target::Next),
    ("list page=5", Target::List("page=5")),
    ("list page=500", Target::List("page=500")),
    ("list with status", Target::List("status=invited")),
    ("list with email", Target::List("email=one.of.them@mail.example")),
    ("search of 1 letter", Target::Search("a")),
    ("search of 3 letters", Target::Search("ada")),
    ("search of 10 letters", Target::Search("schwarzenb")),
    ("search of 3 letters, with a role", Target::OwnSearch("ada")),
    ("search of first and last name", Target::Search("ada%20mueller")),
    ("search of two beginnings", Target::Search("mu%20ad")),
    ("advance", Target::Advance),
];

/// A company, its users, and the measured project.
struct Company {
    owner: Staff,
    evaluator: Staff,
    project: String,
    candidate: String,
    size: usize,
    entries: usize,
}

impl Company {
    /// A company with `size` candidates in a project and at least `entries` search entries.
    async fn fill(app: TestApp, size: usize, entries: usize) -> Result<Self> {
        let stopwatch = Stopwatch::start();
        app.leave_unsound("the candidates that fill it have no logins");
        let owner = app.owner().await;
        let evaluator = app.staff("hiring-manager").await;
        let own = owner.running_project(json!({ "evaluators": [evaluator.uri] })).await;
        let [project, other] =
            [owner.running_project(json!({})).await, owner.running_project(json!({})).await];
        let per_candidate = profile(0)?.words().len();
        let others = entries.saturating_sub(size * per_candidate).div_ceil(per_candidate);
        let deadline = app.clock().now() + TimeDelta::days(30);
        let (mut filled, mut in_all) = (0, 0);
        for (project, count) in [(&own, 1_000), (&other, others), (&project, size)] {
            let profiles: Vec<CandidateProfile> =
                (filled..filled + count).map(profile).collect::<std::result::Result<_, _>>()?;
            in_all += profiles.iter().map(|profile| profile.words().len()).sum::<usize>();
            app.fill_with(project, deadline, &[], profiles.into_iter()).await;
            filled += count;
        }
        let ready = json!({ "email": "one.of.them@mail.example" });
        let candidate = owner.candidate(&project, ready).await;
        let seconds = round(stopwatch.elapsed().as_secs_f64());
        print(json!({ "candidates": size, "entries": in_all, "filled_in_seconds": seconds }));
        Ok(Self { owner, evaluator, project, candidate, size, entries: in_all })
    }

    /// The request for a target; `last` is the response before.
    async fn request(&self, target: Target, last: Option<&Response>) -> (&Staff, Option<Request>) {
        let list = format!("{}candidates/", self.project);
        let search = |text: &str| Request::get(&format!("/companies/acme/search/?q={text}"));
        match target {
            Target::Candidate => (&self.owner, Some(Request::get(&self.candidate))),
            Target::List(query) => (&self.owner, Some(Request::get(&format!("{list}?{query}")))),
            Target::Next => {
                let next = last.map(|page| page.json()["meta"]["next"].as_str().map(str::to_owned));
                (&self.owner, next.unwrap_or(Some(list)).map(|next| Request::get(&next)))
            }
            Target::Search(text) => (&self.owner, Some(search(text))),
            Target::OwnSearch(text) => (&self.evaluator, Some(search(text))),
            Target::Advance => {
                let ready = json!({ "email": "ada@mail.example", "deadline": "2026-12-01T00:00:00Z" });
                let new = self.owner.candidate(&self.project, ready).await;
                (&self.owner, Some(Request::patch(&format!("{new}status/advance/"))))
            }
        }
    }
}

/// The usage of an operation in each company; none if there is no such page.
async fn measure(target: Target, companies: &[Company]) -> Result<Vec<Figures>> {
    let mut all: Vec<Figures> = companies.iter().map(|_| Figures::default()).collect();
    let mut last: Vec<Option<Response>> = companies.iter().map(|_| None).collect();
    let times = if matches!(target, Target::Next) { LINKS } else { TIMES };
    for _ in 0..times {
        for ((company, figures), last) in companies.iter().zip(&mut all).zip(&mut last) {
            let (caller, request) = company.request(target, last.as_ref()).await;
            let Some(request) = request else { return Err("the list has too few pages".into()) };
            *last = Some(figures.measure(caller, request).await);
        }
    }
    Ok(all)
}

/// Prints the partition key of which each operation consumes most, among 1,000 candidates.
async fn heat() -> Result<()> {
    let (app, chaos) = TestApp::start_with_patient_chaos().await;
    let company = Company::fill(app.clone(), 1_000, 0).await?;
    for (operation, target) in OPERATIONS {
        chaos.measure(&app.items(), false);
        let (caller, request) = company.request(target, None).await;
        let Some(request) = request else { continue };
        let response = caller.send(request).await;
        let heat = chaos.measured().ok_or("nothing is measured")?;
        if response.status == 400 {
            continue;
        }
        let share = |peak: &Peak| peak.reads / MOST_READS + peak.writes / MOST_WRITES;
        let peaks = heat.peaks();
        let hottest = peaks.iter().max_by(|one, other| share(one).total_cmp(&share(other)));
        if let Some(hottest) = hottest {
            print(json!({
                "operation": operation, "hottest_key": hottest.place.pattern(), "read_units": hottest.reads,
                "write_units": hottest.writes, "requests_a_second_fill_it": (1.0 / share(hottest)).floor(),
            }));
        }
    }
    Ok(())
}

/// Prints the usage of an operation in each company, and returns its name if the usage grows.
fn compare(operation: &str, companies: &[Company], figures: Vec<Figures>) -> Option<String> {
    let there: Vec<(&Company, Figures)> =
        companies.iter().zip(figures).filter(|(_, figures)| figures.calls > 0).collect();
    let (_, first) = there.first()?;
    let mut is_flat = true;
    for (company, figures) in &there {
        print(json!({
            "operation": operation, "candidates": company.size, "entries": company.entries,
            "dynamodb_calls": figures.calls, "read_units": figures.read_units,
            "write_units": figures.write_units, "median_ms": round(figures.median()),
            "times_the_time": round(figures.median() / first.median()),
        }));
        let units = |figures: &Figures| figures.read_units + figures.write_units;
        is_flat &= figures.calls == first.calls && units(figures) <= units(first) * TOLERANCE;
    }
    (!is_flat && !BOUNDED.contains(&operation)).then(|| operation.to_owned())
}

/// A profile of constant size.
fn profile(number: usize) -> std::result::Result<CandidateProfile, String> {
    let first = FIRST_NAMES[number % FIRST_NAMES.len()];
    let last = LAST_NAMES[number / FIRST_NAMES.len() % LAST_NAMES.len()];
    let mut profile = CandidateProfile::new(ShortName::parse(first)?, ShortName::parse(last)?);
    profile.email = Some(Email::parse(&format!("candidate.{number:06}@mail.example"))?);
    Ok(profile)
}

/// The usage of one operation, per repetition.
#[derive(Default)]
struct Figures {
    milliseconds: Vec<f64>,
    calls: u32,
    read_units: f64,
    write_units: f64,
}

impl Figures {
    /// Sends a request; records the highest number of calls and capacity. A missing page records nothing.
    async fn measure(&mut self, caller: &Staff, request: Request) -> Response {
        let stopwatch = Stopwatch::start();
        let response = caller.send(request).await;
        self.milliseconds.push(stopwatch.elapsed().as_secs_f64() * 1e3);
        if response.status == 400 {
            return response;
        }
        let response = response.expect(200);
        let log = response.log();
        self.calls = self.calls.max(log.dynamodb_calls);
        self.read_units = self.read_units.max(log.read_units);
        self.write_units = self.write_units.max(log.write_units);
        response
    }

    fn median(&self) -> f64 {
        let mut sorted = self.milliseconds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }
}

fn round(value: f64) -> Value {
    json!((value * 100.0).round() / 100.0)
}

#[expect(clippy::print_stdout, reason = "standard output is what a benchmark is for")]
fn print(figure: Value) {
    println!("{figure}");
}
