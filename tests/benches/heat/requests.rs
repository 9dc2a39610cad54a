//! Measures the units that real requests consume of each partition key, the outbox's work after them included.

use std::error::Error;
use std::time::Duration;

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::clock::{Clock, Stopwatch};
use shared::domain::candidate::{CandidateProfile, CandidateStatus};
use shared::domain::text::{Email, ShortName};
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD, Staff, last_segment};
use tests::chaos::Chaos;
use tests::heat::Heat;
use tests::http::Request;
use tests::meter::Load;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Requests of each kind, with different names.
const SAMPLES: usize = 32;
/// Candidates that are there already.
const FILLED: usize = 1_000;
/// Additional latency per response of DynamoDB, about that on AWS.
const LATENCY: Duration = Duration::from_millis(5);
const FIRST_NAMES: [&str; 16] = [
    "Ada",
    "Adam",
    "Grace",
    "Zoe",
    "Anna",
    "Lukas",
    "Maria",
    "Alexandra",
    "Ben",
    "Chen",
    "Dilek",
    "Emil",
    "Fatima",
    "Jonas",
    "Sofia",
    "Tom",
];
const LAST_NAMES: [&str; 15] = [
    "Byron",
    "Hopper",
    "Mueller",
    "Schwarzenberg",
    "Rossi",
    "Nielsen",
    "Abel",
    "Kaya",
    "Novak",
    "Olsen",
    "Petrov",
    "Schmidt",
    "Tanaka",
    "Weber",
    "Garcia",
];

/// A kind of request, and how many of 1,000 requests are such.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Whoami,
    Candidate,
    List,
    ListByStatus,
    Search,
    OwnSearch,
    Project,
    Projects,
    Results,
    Feed,
    Evaluations,
    Change,
    Create,
    Invite,
    Evaluate,
    Share,
    LogIn,
}

/// The assumed mix: interviewers read, one request in eight writes.
pub(crate) const MIX: [(Operation, f64); 17] = [
    (Operation::Whoami, 60.0),
    (Operation::Candidate, 150.0),
    (Operation::List, 150.0),
    (Operation::ListByStatus, 50.0),
    (Operation::Search, 80.0),
    (Operation::OwnSearch, 40.0),
    (Operation::Project, 80.0),
    (Operation::Projects, 60.0),
    (Operation::Results, 40.0),
    (Operation::Feed, 120.0),
    (Operation::Evaluations, 45.0),
    (Operation::Change, 40.0),
    (Operation::Create, 25.0),
    (Operation::Invite, 25.0),
    (Operation::Evaluate, 15.0),
    (Operation::Share, 5.0),
    (Operation::LogIn, 15.0),
];

/// The units of one request and of the outbox's work after it.
pub(crate) struct Sample {
    pub(crate) loads: Vec<Load>,
    /// How long the client waited.
    pub(crate) seconds: f64,
    /// How long the outbox worked afterwards, one record after the other.
    pub(crate) outbox_seconds: f64,
}

/// The company whose requests are measured.
pub(crate) struct World {
    app: TestApp,
    chaos: Chaos,
    owner: Staff,
    evaluator: Staff,
    colleague: Staff,
    /// The project that requests are about.
    pub(crate) project: String,
}

impl World {
    pub(crate) async fn new() -> Result<Self> {
        let (app, chaos) = TestApp::start_with_patient_chaos().await;
        app.leave_unsound("the candidates that fill it have no logins");
        let owner = app.owner().await;
        let evaluator = app.staff("hiring-manager").await;
        let colleague = app.staff("recruiter").await;
        let fields = json!({ "allow_hash_login": true, "evaluators": [evaluator.uri] });
        let project = owner.running_project(fields).await;
        let deadline = app.clock().now() + TimeDelta::days(30);
        let profiles: Vec<CandidateProfile> =
            (0..FILLED).map(profile).collect::<std::result::Result<_, _>>()?;
        app.fill_with(&project, deadline, profiles.into_iter()).await;
        app.settle().await;
        Ok(Self { app, chaos, owner, evaluator, colleague, project })
    }

    /// The bytes that a candidate takes of the table and of each index from creation to evaluation, and the number of
    /// its items.
    pub(crate) async fn sizes(&self) -> Result<(Vec<(&'static str, f64)>, f64)> {
        let before = self.app.items();
        for number in 0..SAMPLES {
            let uri = self.owner.candidate_at(&self.project, CandidateStatus::Interviewed).await;
            self.owner.patch(&uri, person(number)).await.expect(200);
            self.evaluate(&uri).await;
        }
        self.app.settle().await;
        let after = self.app.items();
        let (old, new) = (tests::meter::sizes(&before), tests::meter::sizes(&after));
        let each = |(one, other): (&(&'static str, usize), &(&'static str, usize))| {
            (one.0, (one.1 - other.1) as f64 / SAMPLES as f64)
        };
        let sizes = new.iter().zip(&old).map(each).collect();
        Ok((sizes, (after.len() - before.len()) as f64 / SAMPLES as f64))
    }

    pub(crate) async fn samples(&self, operation: Operation) -> Result<Vec<Sample>> {
        let mut targets = Vec::new();
        for number in 0..SAMPLES {
            targets.push(self.target(operation, number).await);
        }
        self.app.settle().await;
        self.chaos.delay(LATENCY);
        self.chaos.measure(&self.app.items(), false);
        let mut samples = Vec::new();
        for (number, target) in targets.iter().enumerate() {
            let stopwatch = Stopwatch::start();
            self.send(operation, number, target).await;
            let seconds = stopwatch.elapsed().as_secs_f64();
            let stopwatch = Stopwatch::start();
            self.app.settle().await;
            let outbox_seconds = stopwatch.elapsed().as_secs_f64();
            let loads = self.chaos.measuring(Heat::drain).ok_or("nothing is measured")?;
            samples.push(Sample { loads, seconds, outbox_seconds });
        }
        self.chaos.measured();
        self.chaos.delay(Duration::ZERO);
        Ok(samples)
    }

    /// The candidate that a request is about, brought to where it can be made; empty for requests about none.
    async fn target(&self, operation: Operation, number: usize) -> String {
        match operation {
            Operation::Candidate | Operation::Change | Operation::Invite | Operation::Share => {
                let mut fields = person(number);
                fields["deadline"] = self.app.clock().in_days(7).into();
                self.owner.candidate(&self.project, fields).await
            }
            Operation::Evaluate | Operation::Evaluations => {
                self.owner.candidate_at(&self.project, CandidateStatus::Interviewed).await
            }
            _ => String::new(),
        }
    }

    async fn send(&self, operation: Operation, number: usize, target: &str) {
        let Self { owner, evaluator, project, .. } = self;
        let search = format!("/companies/acme/search/?q={}", &LAST_NAMES[number % LAST_NAMES.len()][..3]);
        let get = async |path: String| drop(owner.get(&path).await.expect(200));
        match operation {
            Operation::Whoami => get("/whoami/".to_owned()).await,
            Operation::Candidate => get(target.to_owned()).await,
            Operation::List => get(format!("{project}candidates/")).await,
            Operation::ListByStatus => get(format!("{project}candidates/?status=invited")).await,
            Operation::Search => get(search).await,
            Operation::OwnSearch => drop(evaluator.get(&search).await.expect(200)),
            Operation::Project => get(project.clone()).await,
            Operation::Projects => get("/companies/acme/projects/".to_owned()).await,
            Operation::Results => get(format!("{project}results/")).await,
            Operation::Feed => get("/companies/acme/events/?after=0".to_owned()).await,
            Operation::Evaluations => get(format!("{target}evaluations/")).await,
            Operation::Change => {
                let fields = json!({ "phone": format!("+49 {number}") });
                drop(owner.patch(target, fields).await.expect(200));
            }
            Operation::Create => {
                let mut fields = person(number);
                fields["deadline"] = self.app.clock().in_days(7).into();
                drop(owner.candidate(project, fields).await);
            }
            Operation::Invite => drop(owner.advance(target).await.expect(200)),
            Operation::Evaluate => self.evaluate(target).await,
            Operation::Share => {
                let fields = json!({ "customer": self.colleague.uri });
                drop(owner.post(&format!("{target}shares/"), fields).await.expect(201));
            }
            Operation::LogIn => {
                drop(self.app.anonymous().log_in("acme", &owner.username, PASSWORD).await.expect(200));
            }
        }
    }

    async fn evaluate(&self, candidate: &str) {
        let body = json!({ "comment": "Answers to the point.", "recommendation": "yes", "completed": true });
        let target = format!("{candidate}evaluations/{}/", last_segment(&self.evaluator.uri));
        self.evaluator.send(Request::put(&target).json(&body)).await.expect(201);
    }
}

/// The names and the email address of a person.
fn person(number: usize) -> Value {
    let (first, last) = names(number);
    let email = format!("{first}.{last}.{number}@mail.example").to_lowercase();
    json!({ "first_name": first, "last_name": last, "email": email })
}

fn names(number: usize) -> (&'static str, &'static str) {
    (FIRST_NAMES[number % FIRST_NAMES.len()], LAST_NAMES[number * 7 % LAST_NAMES.len()])
}

fn profile(number: usize) -> std::result::Result<CandidateProfile, String> {
    let (first, last) = names(number);
    let mut profile = CandidateProfile::new(ShortName::parse(first)?, ShortName::parse(last)?);
    let email = format!("{first}.{last}.filled.{number}@mail.example").to_lowercase();
    profile.email = Some(Email::parse(&email)?);
    Ok(profile)
}
