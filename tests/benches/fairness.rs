//! One company that sends 400 requests a second on one route, beside another one that sends five: how long the second one waits and
//! what it is refused, by the limit that both meet.
//!
//! The limits of AWS stand before the service as they are documented, with the defaults of the templates: the web ACL's rate by
//! credential, the stage's rate by route, the executions of functions, and the units of partitions. What both take of a
//! new table is computed: partitions that hold many keys are not played.
//!
//! Fails if the second company is refused anything where it shares no limit with the first one.

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use shared::clock::Stopwatch;
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::figures::{print, round};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Requests a second.
const FIRST: u32 = 400;
const SECOND: u32 = 5;
/// How long each case takes, in seconds.
const SECONDS: u32 = 20;
/// The pieces of it whose refusals are told, in seconds.
const PIECE: u32 = 10;
/// Additional latency per response of DynamoDB, about that of a read on AWS.
const LATENCY: Duration = Duration::from_millis(5);
/// How often WAF looks at the rate of a credential, and how far back.
const LOOK: Duration = Duration::from_secs(10);
const WINDOW: Duration = Duration::from_secs(60);
/// The concurrent executions of an account that is new, and of one with Lambda's usual quota.
const NEW_ACCOUNT: usize = 10;
const ACCOUNT: usize = 1_000;
/// The units a second that a new table takes.
const TABLE_READS: f64 = 12_000.0;
const TABLE_WRITES: f64 = 4_000.0;
/// Requests of each kind whose units are counted.
const COUNTED: u32 = 20;

const TEMPLATE: &str = include_str!("../../template.yaml");
const WEB_ACL: &str = include_str!("../../.ci/deploy/web-acl.yaml");

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let usual = Settings {
        has_web_acl: false,
        executions: ACCOUNT,
        reserved: default_of("CandidatesConcurrency")? as usize,
    };
    // A new account has nothing to reserve.
    let new = Settings { executions: NEW_ACCOUNT, reserved: NEW_ACCOUNT, ..usual };
    let cases = [
        Case { name: "alone", floods: false, meets: Meeting::SameRoute, settings: usual },
        Case { name: "stage, another route", floods: true, meets: Meeting::OtherFunction, settings: usual },
        Case { name: "stage, the same route", floods: true, meets: Meeting::SameRoute, settings: usual },
        Case {
            name: "web ACL, the same route",
            floods: true,
            meets: Meeting::SameRoute,
            settings: Settings { has_web_acl: true, ..usual },
        },
        Case {
            name: "executions of a new account",
            floods: true,
            meets: Meeting::OtherFunction,
            settings: new,
        },
    ];
    for case in cases {
        case.play().await?;
    }
    compute().await
}

/// The default of a parameter of a template.
fn default_in(template: &str, parameter: &str) -> Result<f64> {
    let missing = || format!("the template has no parameter {parameter} with a default");
    let (_, rest) = template.split_once(&format!("\n  {parameter}:\n")).ok_or_else(missing)?;
    let line = rest.lines().find_map(|line| line.strip_prefix("    Default: ")).ok_or_else(missing)?;
    Ok(line.trim().parse()?)
}

fn default_of(parameter: &str) -> Result<f64> {
    default_in(TEMPLATE, parameter)
}

/// How an account is set up.
#[derive(Clone, Copy)]
struct Settings {
    has_web_acl: bool,
    /// Concurrent executions of all functions.
    executions: usize,
    /// The limits of the function `candidates`, at most.
    reserved: usize,
}

/// The point at which the second company meets the first one.
#[derive(Clone, Copy, PartialEq)]
enum Meeting {
    /// Both read a candidate.
    SameRoute,
    /// The second one reads its projects.
    OtherFunction,
}

struct Case {
    name: &'static str,
    floods: bool,
    meets: Meeting,
    settings: Settings,
}

/// A company that repeats requests.
#[derive(Clone)]
struct Sender {
    staff: Staff,
    target: String,
    /// The function, which has a route of its own.
    function: &'static str,
    rate: u32,
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Done,
    /// 429 of the web ACL.
    WebAcl,
    /// 429 of the gateway.
    Stage,
    /// 503 of the gateway: no execution is free.
    Executions,
    /// 503 of the service: DynamoDB had no units left.
    Partition,
}

/// An answer, when its request was due, and how long after that it came.
struct Sent {
    due: Duration,
    answer: Answer,
    waited: Duration,
}

impl Case {
    async fn play(&self) -> Result<()> {
        let (app, chaos) = TestApp::start_with_patient_chaos().await;
        let first = sender(&app, "acme", Meeting::SameRoute, FIRST).await;
        let second = sender(&app, "other", self.meets, SECOND).await;
        chaos.delay(LATENCY);
        chaos.measure(&app.items(), true);
        let limits = Arc::new(Limits::new(self.settings)?);
        let (whole, cpu) = (Stopwatch::start(), cpu_seconds()?);
        let flood = self.floods.then(|| tokio::spawn(send(first, limits.clone(), whole)));
        let read = send(second, limits.clone(), whole).await?;
        let flood = match flood {
            Some(flood) => flood.await??,
            None => Vec::new(),
        };
        let processors = (cpu_seconds()? - cpu) / whole.elapsed().as_secs_f64();
        for (company, sent) in [("first", &flood), ("second", &read)] {
            self.print(company, sent);
        }
        print(&json!({
            "figure": "case", "case": self.name, "most_executions": limits.state().most,
            "partition_refusals": chaos.measured().map(|heat| heat.refused()), "processors": round(processors),
        }));
        let is_refused = read.iter().any(|sent| sent.answer != Answer::Done);
        let shares_none =
            !self.floods || (self.meets == Meeting::OtherFunction && self.settings.executions == ACCOUNT);
        if shares_none && is_refused {
            Err(format!("{}: the second company is refused", self.name).into())
        } else {
            Ok(())
        }
    }

    fn print(&self, company: &str, sent: &[Sent]) {
        if sent.is_empty() {
            return;
        }
        let count = |answer| sent.iter().filter(|sent| sent.answer == answer).count();
        let pieces = (0..SECONDS / PIECE).map(|piece| {
            let in_piece = sent.iter().filter(|sent| sent.due.as_secs() as u32 / PIECE == piece);
            let (all, refused) = in_piece.fold((0, 0), |(all, refused), sent| {
                (all + 1, refused + u32::from(sent.answer != Answer::Done))
            });
            round(f64::from(refused) / f64::from(all.max(1)))
        });
        let done = sent.iter().filter(|sent| sent.answer == Answer::Done);
        let mut waited: Vec<f64> = done.map(|sent| sent.waited.as_secs_f64() * 1e3).collect();
        waited.sort_by(f64::total_cmp);
        let percentile =
            |percent: usize| waited.get((waited.len().max(1) - 1) * percent / 100).copied().map(round);
        print(&json!({
            "figure": "company", "case": self.name, "company": company, "requests": sent.len(),
            "done": waited.len(), "p50_ms": percentile(50), "p95_ms": percentile(95),
            "web_acl_429": count(Answer::WebAcl), "stage_429": count(Answer::Stage),
            "executions_503": count(Answer::Executions), "partition_503": count(Answer::Partition),
            "refused_by_ten_seconds": pieces.collect::<Vec<_>>(),
        }));
    }
}

/// An owner of a company, and what the company reads.
async fn sender(app: &TestApp, company: &str, meets: Meeting, rate: u32) -> Sender {
    let staff = app.owner_of(company).await;
    let project = staff.running_project(json!({})).await;
    let candidate = staff.candidate(&project, json!({})).await;
    let (target, function) = match meets {
        Meeting::SameRoute => (candidate, "candidates"),
        Meeting::OtherFunction => (format!("/companies/{company}/projects/"), "projects"),
    };
    Sender { staff, target, function, rate }
}

/// Sends requests when they are due, however long those before them take.
async fn send(sender: Sender, limits: Arc<Limits>, whole: Stopwatch) -> Result<Vec<Sent>> {
    let service = Handle::current();
    // On a thread of its own, because a busy service must not hold up those who send.
    let paced = tokio::task::spawn_blocking(move || {
        let (mut sent, mut running) = (Vec::new(), JoinSet::new());
        for number in 0..sender.rate * SECONDS {
            let due = Duration::from_secs(1) / sender.rate * number;
            #[expect(clippy::disallowed_methods, reason = "the requests come in real time")]
            std::thread::sleep(due.saturating_sub(whole.elapsed()));
            match limits.admit(&sender, due) {
                Err(answer) => sent.push(Sent { due, answer, waited: Duration::ZERO }),
                Ok(execution) => {
                    let Sender { staff, target, .. } = sender.clone();
                    running.spawn_on(answered(staff, target, due, execution, whole), &service);
                }
            }
        }
        (sent, running)
    });
    let (mut sent, running) = paced.await?;
    sent.extend(running.join_all().await);
    Ok(sent)
}

async fn answered(
    staff: Staff,
    target: String,
    due: Duration,
    execution: Execution,
    whole: Stopwatch,
) -> Sent {
    let status = staff.get(&target).await.status.as_u16();
    drop(execution);
    assert!(matches!(status, 200 | 503), "{status}");
    let answer = if status == 200 { Answer::Done } else { Answer::Partition };
    Sent { due, answer, waited: whole.elapsed().saturating_sub(due) }
}

/// The limits between clients and functions.
struct Limits {
    settings: Settings,
    requests_per_token: f64,
    requests_per_second: f64,
    burst: f64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The tokens of each route's bucket, and when they were counted.
    buckets: BTreeMap<&'static str, (f64, Duration)>,
    /// The moments of each credential's requests.
    sent: BTreeMap<String, Vec<Duration>>,
    blocked: HashSet<String>,
    next_look: Duration,
    running: BTreeMap<&'static str, usize>,
    /// The most executions at a time.
    most: usize,
}

/// Counts as an execution until it is dropped.
struct Execution {
    limits: Arc<Limits>,
    function: &'static str,
}

impl Drop for Execution {
    fn drop(&mut self) {
        *self.limits.state().running.entry(self.function).or_default() -= 1;
    }
}

impl Limits {
    fn new(settings: Settings) -> Result<Self> {
        Ok(Self {
            settings,
            requests_per_token: default_in(WEB_ACL, "RequestsPerToken")?,
            requests_per_second: default_of("RequestsPerSecond")?,
            burst: default_of("RequestBurst")?,
            state: Mutex::new(State { next_look: LOOK, ..State::default() }),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The execution that answers a request which comes at `now`, or the refusal.
    fn admit(self: &Arc<Self>, sender: &Sender, now: Duration) -> std::result::Result<Execution, Answer> {
        let mut state = self.state();
        if self.settings.has_web_acl && state.is_blocked(sender.staff.secret(), now, self.requests_per_token)
        {
            return Err(Answer::WebAcl);
        }
        let (tokens, at) = state.buckets.entry(sender.function).or_insert((self.burst, now));
        *tokens = self.burst.min(*tokens + now.saturating_sub(*at).as_secs_f64() * self.requests_per_second);
        *at = now.max(*at);
        if *tokens < 1.0 {
            return Err(Answer::Stage);
        }
        *tokens -= 1.0;
        let all: usize = state.running.values().sum();
        let of_function = state.running.entry(sender.function).or_default();
        let most =
            if sender.function == "candidates" { self.settings.reserved } else { self.settings.executions };
        if all >= self.settings.executions || *of_function >= most {
            return Err(Answer::Executions);
        }
        *of_function += 1;
        state.most = state.most.max(all + 1);
        Ok(Execution { limits: self.clone(), function: sender.function })
    }
}

impl State {
    /// Counts a request with a credential. Returns whether WAF blocks it, which refused ones count for too.
    fn is_blocked(&mut self, credential: &str, now: Duration, most: f64) -> bool {
        self.sent.entry(credential.to_owned()).or_default().push(now);
        if now >= self.next_look {
            self.next_look = now + LOOK;
            let is_above =
                |sent: &Vec<Duration>| sent.iter().filter(|at| **at + WINDOW > now).count() as f64 > most;
            let above = self.sent.iter().filter(|(_, sent)| is_above(sent));
            self.blocked = above.map(|(credential, _)| credential.clone()).collect();
        }
        self.blocked.contains(credential)
    }
}

/// Computes what a route full of one company's requests takes of a new table.
async fn compute() -> Result<()> {
    let (app, chaos) = TestApp::start_with_patient_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let list = format!("{project}candidates/");
    chaos.measure(&app.items(), false);
    for number in 0..COUNTED {
        let body = json!({ "first_name": "Ada", "last_name": format!("Lovelace-{number}") });
        owner.post(&list, body).await.expect(201);
    }
    app.settle().await;
    let heat = chaos.measured().ok_or("nothing is measured")?;
    print_computed("creates a candidate", "write units", heat.written(), TABLE_WRITES)?;
    chaos.measure(&app.items(), false);
    for _ in 0..COUNTED {
        owner.get(&list).await.expect(200);
    }
    let heat = chaos.measured().ok_or("nothing is measured")?;
    print_computed("lists 20 candidates", "read units", heat.units().0 - heat.written(), TABLE_READS)
}

/// Prints the units of a request, of which [`COUNTED`] took so many, and what follows for a table that takes `most` a second.
fn print_computed(request: &str, kind: &str, units: f64, most: f64) -> Result<()> {
    let each = units / f64::from(COUNTED);
    print(&json!({
        "figure": "computed", "request": request, "kind": kind, "each": round(each),
        "a_second_of_a_full_route": round(each * default_of("RequestsPerSecond")?), "of_a_new_table": most,
        "requests_a_second_that_fill_it": round(most / each),
    }));
    Ok(())
}

/// The CPU time of this process so far, in seconds.
fn cpu_seconds() -> Result<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // The name may contain spaces; user and system time are the 12th and 13th fields after it, in hundredths.
    let (_, fields) = stat.rsplit_once(") ").ok_or("no process statistics")?;
    let ticks: Vec<f64> =
        fields.split(' ').skip(11).take(2).map(str::parse).collect::<std::result::Result<_, _>>()?;
    Ok(ticks.iter().sum::<f64>() / 100.0)
}
