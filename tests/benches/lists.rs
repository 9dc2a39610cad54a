//! What lists and searches take of DynamoDB, and how long, as projects and the company grow: one line an operation with
//! 1,000, 10,000 and 100,000 candidates in the project; the last with 1,000,000 search entries in the company.
//!
//! Fails when an operation costs more calls with more candidates, or more than a twentieth more capacity. `tests/bench
//! lists [SIZE…]` measures other sizes.
#![recursion_limit = "256"]
use std::collections::BTreeMap;
use std::error::Error;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use shared::clock::{Clock, Stopwatch};
use shared::domain::candidate::Profile;
use shared::domain::search::words_of;
use shared::domain::text::{Email, Name};
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::http::{Request, Response};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How many search entries the company has in the end.
const ENTRIES: usize = 1_000_000;
/// How often each operation is measured.
const TIMES: usize = 21;
/// How much dearer an operation may get: the last of several items read together fills a unit of capacity or does not.
const TOLERANCE: f64 = 1.05;
/// Operations that cost more up to a bound: of several terms, 1,600 entries are looked at if there are so many.
const BOUNDED: [&str; 2] = ["search of first and last name", "search of two beginnings"];
/// How many links are followed.
const LINKS: usize = 50;
const FIRST_NAMES: [&str; 8] = ["Ada", "Adam", "Grace", "Zoe", "Anna", "Lukas", "Maria", "Alexandra"];
const LAST_NAMES: [&str; 7] = ["Byron", "Hopper", "Mueller", "Schwarzenberg", "Rossi", "Nielsen", "Abel"];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // Cargo adds --bench.
    let mut sizes: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let entries = if sizes.is_empty() { ENTRIES } else { 0 };
    if sizes.is_empty() {
        sizes = vec![1_000, 10_000, 100_000];
    }
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let evaluator = app.staff("hiring-manager").await;
    let own = owner.running_project(json!({ "evaluators": [evaluator.uri] })).await;
    let deadline = app.clock().now() + TimeDelta::days(30);
    let mut filled = Filled::default();
    filled.fill(&app, &own, deadline, sizes[0]).await;
    let mut growth = Growth::default();
    for (index, size) in sizes.iter().copied().enumerate() {
        let project = owner.running_project(json!({})).await;
        let stopwatch = Stopwatch::start();
        filled.fill(&app, &project, deadline, size).await;
        if index + 1 == sizes.len() && entries > filled.entries {
            let other = owner.running_project(json!({})).await;
            filled.fill_up(&app, &other, deadline, entries).await;
        }
        let seconds = stopwatch.elapsed().as_secs_f64();
        print(json!({ "filled": size, "entries": filled.entries, "seconds": round(seconds) }));
        let place = Place { owner: &owner, evaluator: &evaluator, project: &project };
        for figures in place.measure().await? {
            figures.print(size, filled.entries);
            growth.add(size, figures);
        }
    }
    growth.check()
}

/// What has been filled in so far.
#[derive(Default)]
struct Filled {
    candidates: usize,
    entries: usize,
}

impl Filled {
    async fn fill(&mut self, app: &TestApp, project: &str, deadline: DateTime<Utc>, count: usize) {
        let profiles: Vec<Profile> = (self.candidates..self.candidates + count).map(profile).collect();
        self.candidates += count;
        self.entries += profiles.iter().map(|profile| words_of(profile).len()).sum::<usize>();
        app.fill_with(project, deadline, profiles.into_iter()).await;
    }

    async fn fill_up(&mut self, app: &TestApp, project: &str, deadline: DateTime<Utc>, entries: usize) {
        while self.entries < entries {
            let missing = (entries - self.entries).div_ceil(words_of(&profile(0)).len());
            self.fill(app, project, deadline, missing).await;
        }
    }
}

/// Somebody whose item is as large as everybody's.
fn profile(number: usize) -> Profile {
    let name = |text: &str| Name::parse(text).expect("a name");
    let first = FIRST_NAMES[number % FIRST_NAMES.len()];
    let last = LAST_NAMES[number / FIRST_NAMES.len() % LAST_NAMES.len()];
    let mut profile = Profile::new(name(first), name(last));
    profile.email = Email::parse(&format!("candidate.{number:06}@mail.example")).ok();
    profile
}

/// A project that is measured, and who looks at it.
struct Place<'a> {
    owner: &'a Staff,
    evaluator: &'a Staff,
    project: &'a str,
}

impl Place<'_> {
    async fn measure(&self) -> Result<Vec<Figures>> {
        let list = format!("{}candidates/", self.project);
        let email = json!({ "email": "one.of.them@mail.example", "deadline": "2026-12-01T00:00:00Z" });
        let one = self.owner.candidate(self.project, email).await;
        let mut all = Vec::new();
        for (operation, target) in [
            ("get", one.clone()),
            ("list page 1", list.clone()),
            ("list page=5", format!("{list}?page=5")),
            ("list page=500", format!("{list}?page=500")),
            ("list with status", format!("{list}?status=invited")),
            ("list with email", format!("{list}?email=one.of.them@mail.example")),
        ] {
            // There are not so many rows.
            if operation == "list page=500" && self.owner.get(&target).await.status == 400 {
                continue;
            }
            all.push(self.repeat(self.owner, operation, &target).await);
        }
        all.push(self.follow(&list).await?);
        for (operation, text) in [
            ("search of 1 letter", "a"),
            ("search of 3 letters", "ada"),
            ("search of 10 letters", "schwarzenb"),
            ("search of first and last name", "ada mueller"),
            ("search of two beginnings", "mu ad"),
        ] {
            let target = format!("/companies/acme/search/?q={}", text.replace(' ', "%20"));
            all.push(self.repeat(self.owner, operation, &target).await);
        }
        // In a project that stays as it is while the company grows.
        let target = "/companies/acme/search/?q=ada";
        all.push(self.repeat(self.evaluator, "search of 3 letters, with a role", target).await);
        all.push(self.advance().await);
        Ok(all)
    }

    async fn repeat(&self, caller: &Staff, operation: &'static str, target: &str) -> Figures {
        let mut figures = Figures::new(operation);
        for _ in 0..TIMES {
            figures.measure(caller, Request::get(target)).await;
        }
        figures
    }

    /// Follows the links from the first page on.
    async fn follow(&self, list: &str) -> Result<Figures> {
        let mut figures = Figures::new("list, next page");
        let mut page = self.owner.get(list).await.expect(200);
        for _ in 0..LINKS - 1 {
            let next =
                page.json()["meta"]["next"].as_str().map(str::to_owned).ok_or("the list is too short")?;
            page = figures.measure(self.owner, Request::get(&next)).await;
        }
        Ok(figures)
    }

    async fn advance(&self) -> Figures {
        let mut figures = Figures::new("advance");
        let ready = json!({ "email": "ada@mail.example", "deadline": "2026-12-01T00:00:00Z" });
        for _ in 0..TIMES {
            let new = self.owner.candidate(self.project, ready.clone()).await;
            figures.measure(self.owner, Request::patch(&format!("{new}status/advance/"))).await;
        }
        figures
    }
}

/// What one operation took, each time.
struct Figures {
    operation: &'static str,
    milliseconds: Vec<f64>,
    calls: u32,
    read_units: f64,
    write_units: f64,
}

impl Figures {
    fn new(operation: &'static str) -> Self {
        Self { operation, milliseconds: Vec::new(), calls: 0, read_units: 0.0, write_units: 0.0 }
    }

    /// Sends a request; calls and capacity are those of the dearest.
    async fn measure(&mut self, caller: &Staff, request: Request) -> Response {
        let stopwatch = Stopwatch::start();
        let response = caller.send(request).await;
        self.milliseconds.push(stopwatch.elapsed().as_secs_f64() * 1e3);
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

    fn print(&self, candidates: usize, entries: usize) {
        print(json!({
            "operation": self.operation, "candidates": candidates, "entries": entries,
            "dynamodb_calls": self.calls, "read_units": self.read_units, "write_units": self.write_units,
            "median_ms": round(self.median()),
        }));
    }
}

/// The figures of each operation at each size.
#[derive(Default)]
struct Growth(BTreeMap<&'static str, Vec<(usize, Figures)>>);

impl Growth {
    fn add(&mut self, size: usize, figures: Figures) {
        self.0.entry(figures.operation).or_default().push((size, figures));
    }

    /// Prints how much longer the largest size takes than the smallest, and makes sure that it costs no more.
    fn check(&self) -> Result<()> {
        for (operation, sizes) in &self.0 {
            let (Some((small, first)), Some((large, last))) = (sizes.first(), sizes.last()) else { continue };
            let times = round(last.median() / first.median());
            print(json!({ "operation": operation, "from": small, "to": large, "times_the_time": times }));
            let calls = |figures: &Figures| figures.calls;
            let units = |figures: &Figures| figures.read_units + figures.write_units;
            let is_flat = |figures: &Figures| {
                calls(figures) == calls(first) && units(figures) <= units(first) * TOLERANCE
            };
            let is_bounded = BOUNDED.contains(operation);
            if !is_bounded && !sizes.iter().all(|(_, figures)| is_flat(figures)) {
                return Err(format!("{operation} does not cost the same whatever the size").into());
            }
        }
        Ok(())
    }
}

fn round(value: f64) -> Value {
    json!((value * 100.0).round() / 100.0)
}

#[expect(clippy::print_stdout, reason = "standard output is what a benchmark is for")]
fn print(figure: Value) {
    println!("{figure}");
}
