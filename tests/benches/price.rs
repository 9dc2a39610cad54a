//! Prices typical requests and events of each function on Lambda, at five sizes of memory: a CPU quota takes the place of the
//! memory, and DynamoDB is about as slow as on AWS. Release binaries, DynamoDB over TLS.
//!
//! `tests/bench price NAME…` measures only the functions with these names.
#![recursion_limit = "256"]

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use embedded::Template;
use image::ImageFormat::Jpeg;
use serde_json::{Value, json};
use shared::clock::{Clock, SystemClock};
use tests::app::{FULL_COST, TestApp};
use tests::billing::{self, SIZES, billed, billed_start, gigabyte_milliseconds, mean};
use tests::caller::{Caller, PASSWORD, Staff, last_segment};
use tests::figures::{Figures, round};
use tests::files::{photo, put};
use tests::function::{Function, http_event};
use tests::quota::CpuQuota;
use tests::tls::TlsDynamoDb;
use tokio::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Starts of each function at each size, and further requests to the last one that was started.
const STARTS: usize = 3;
const WARM: usize = 16;
/// How often each request is sent.
const EVENTS: usize = SIZES.len() * (STARTS + WARM);

/// A request or an event, and the function that answers it.
struct Row {
    binary: &'static str,
    request: &'static str,
    /// The event with this number, below [`EVENTS`].
    event: Box<dyn Fn(usize) -> Value>,
}

/// The bill at one size of memory.
#[derive(Clone, Copy)]
struct Bill {
    megabytes: u32,
    start: f64,
    warm: f64,
    /// Milliseconds of a processor that a request takes.
    processor: f64,
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    // Cargo adds --bench.
    let names: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let quotas: Vec<(u32, CpuQuota)> =
        SIZES.into_iter().map(|size| Ok((size, CpuQuota::of_memory(size)?))).collect::<Result<_>>()?;
    let template = Template::of_workspace()?;
    let app = TestApp::start_with(&FULL_COST).await;
    // The binaries use the real time.
    app.clock().advance(SystemClock.now() - app.clock().now());
    let owner = app.owner().await;
    let mut rows = of_requests(&owner).await;
    rows.extend(of_events(&owner).await?);
    rows.retain(|row| names.is_empty() || names.iter().any(|name| name == row.binary));
    let packages = rows.iter().flat_map(|row| ["--package", row.binary]);
    let binaries = tests::binaries::build(["--bins", "--profile", "release"].into_iter().chain(packages));

    let tls = TlsDynamoDb::start(app.environment(), Path::new(env!("CARGO_TARGET_TMPDIR"))).await?;
    billing::slow_down(&tls);
    let mut variables = app.environment().clone();
    variables.extend(tls.variables());
    let mut figures = Figures::of_profile("release");
    for row in &rows {
        let bills = row.bills(&binaries, &variables, &quotas).await?;
        let granted = template.memory_size(&logical_id(row.binary)).ok_or("a function without memory")?;
        row.print(&mut figures, &bills, granted);
    }
    // The functions have written other items than the tests' clock and functions would have.
    app.leave_unsound("binaries have handled some of the events");
    figures.finish()
}

/// A request that clients send often, for each function that answers HTTP requests; several for the busiest.
async fn of_requests(owner: &Staff) -> Vec<Row> {
    let project = owner.running_project(json!({ "evaluators": [owner.uri] })).await;
    let candidate = owner.invite(&project, json!({ "phone": "+49 30 1234567" })).await.uri;
    for number in 1..100 {
        // The search finds the first 25.
        let name = if number < 25 { "Lovelace" } else { "Hopper" };
        owner.invite(&project, json!({ "last_name": name })).await;
    }
    let question = owner.post(&format!("{project}questions/"), json!({ "text": "Why?" })).await.expect(201);
    let video = json!({ "name": "Hi", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 9 });
    let video = owner.post("/companies/acme/videos/", video).await.expect(201).uri("resource_uri");
    let candidates = format!("{project}candidates/");
    let login: fn(usize) -> Value =
        |_| json!({ "company": "acme", "username": "owner", "password": PASSWORD });
    let new: fn(usize) -> Value = |number| {
        let email = format!("grace.{number}@mail.example");
        json!({ "first_name": "Grace", "last_name": "Hopper", "email": email })
    };
    let phone: fn(usize) -> Value = |number| json!({ "phone": format!("+49 30 {number}") });
    let get: fn(usize) -> Value = |_| Value::Null;
    let of =
        |binary, request: &'static str, (path, query): (&str, &'static str), body: fn(usize) -> Value| {
            let method = request.split(' ').next().unwrap_or_default();
            let (path, token) = (path_of(path).to_owned(), owner.secret().to_owned());
            let event = Box::new(move |number| request_event(method, &path, query, &token, &body(number)));
            Row { binary, request, event }
        };
    vec![
        of("auth", "POST a login", ("/api-token-auth/", ""), login),
        of("auth", "GET whoami", ("/whoami/", ""), get),
        of("companies", "GET the company", ("/companies/acme/", ""), get),
        of("customers", "GET a customer", (&owner.uri, ""), get),
        of("projects", "GET a project", (&project, ""), get),
        of("candidates", "GET a candidate", (&candidate, ""), get),
        of("candidates", "GET 20 candidates", (&candidates, ""), get),
        of("candidates", "GET 100 candidates", (&candidates, "page_size=100"), get),
        of("candidates", "PATCH a candidate", (&candidate, ""), phone),
        of("candidates", "POST a candidate", (&candidates, ""), new),
        of("videos", "GET a video", (&video, ""), get),
        of("evaluations", "GET a question", (&question.uri("resource_uri"), ""), get),
        of("interviews", "GET an interview", (&format!("{candidate}interview/"), ""), get),
        of("events", "GET events", ("/companies/acme/events/", ""), get),
        of("search", "GET search, 25 hits", ("/companies/acme/search/", "q=lovelace"), get),
        of("docs", "GET the reference", ("/docs/", ""), get),
    ]
}

/// An event for each function that the table, the bucket or a schedule starts often.
async fn of_events(owner: &Staff) -> Result<Vec<Row>> {
    let project = owner.running_project(json!({})).await;
    let (mut created, mut uploaded) = (Vec::with_capacity(EVENTS), Vec::with_capacity(EVENTS));
    let picture = photo(Jpeg, 1_600, 1_200);
    for number in 0..EVENTS {
        let candidate = owner.candidate(&project, json!({})).await;
        let key = json!({
            "pk": { "S": format!("HISTORY#acme#{}", last_segment(&candidate)) }, "sk": { "S": format!("{:010}", 1) },
        });
        created.push(
            json!({ "Records": [{ "dynamodb": { "Keys": key, "SequenceNumber": number.to_string() } }] }),
        );
        let announced = json!({ "field": "photo", "content_type": "image/jpeg", "size": picture.len() });
        let announced = owner.post(&format!("{candidate}uploads/"), announced).await.expect(201).json();
        put(&announced, picture.clone()).await;
        let upload = announced["resource_uri"].as_str().map(last_segment).ok_or("no upload")?;
        let object = json!({ "key": format!("uploads/files/{upload}") });
        uploaded.push(json!({ "id": upload, "detail": { "object": object } }));
    }
    let scheduled = |_| json!({ "detail-type": "Scheduled Event" });
    let of = |binary, request, event: Box<dyn Fn(usize) -> Value>| Row { binary, request, event };
    Ok(vec![
        of("outbox", "the event of a new candidate", Box::new(move |number| created[number].clone())),
        of("outbox", "a scheduled run with nothing to do", Box::new(scheduled)),
        of("webhook-sender", "a scheduled run with nothing to do", Box::new(scheduled)),
        of("deadline-expiry", "a scheduled run with nothing to do", Box::new(scheduled)),
        of("uploads", "a photo of two megapixels", Box::new(move |number| uploaded[number].clone())),
    ])
}

impl Row {
    /// The bill at each size.
    async fn bills(
        &self,
        binaries: &BTreeMap<String, PathBuf>,
        variables: &BTreeMap<&'static str, String>,
        quotas: &[(u32, CpuQuota)],
    ) -> Result<Vec<Bill>> {
        let binary = binaries.get(self.binary).ok_or("the function was not built")?;
        let mut numbers = 0..EVENTS;
        let mut next = || numbers.next().map(|number| (number, (self.event)(number))).ok_or("too few events");
        let mut bills = Vec::with_capacity(quotas.len());
        for (megabytes, quota) in quotas {
            let (mut starts, mut warm, mut processor) = (Vec::new(), Vec::new(), 0.0);
            for start in 1..=STARTS {
                let mut function = Function::start(Command::new(binary), variables).await?;
                starts.push(billed_start(&mut function, quota, &next()?.1).await?);
                let before = function.processor_time();
                if start == STARTS {
                    for _ in 0..WARM {
                        let (number, event) = next()?;
                        warm.push(billed(&mut function, number, &event).await?);
                    }
                }
                processor = (function.processor_time() - before).as_secs_f64() * 1e3 / WARM as f64;
                function.terminate().await?;
            }
            let (start, warm) = (mean(&starts), mean(&warm));
            bills.push(Bill { megabytes: *megabytes, start, warm, processor });
        }
        Ok(bills)
    }

    fn print(&self, figures: &mut Figures, bills: &[Bill], granted: u64) {
        let paced: Vec<Bill> = bills.iter().filter_map(|bill| Some(bill.paced(bills.last()?))).collect();
        for (bill, paced) in bills.iter().zip(&paced) {
            figures.print(&json!({
                "figure": "billed", "function": self.binary, "request": self.request, "megabytes": bill.megabytes,
                "milliseconds": round(bill.warm), "gigabyte_milliseconds": round(bill.cost()),
                "milliseconds_of_a_start": round(bill.start), "milliseconds_without_bursts": round(paced.warm),
            }));
        }
        let chosen = |bills: &[Bill]| choose(bills).map(|bill| bill.megabytes);
        let processor = bills.last().map(|bill| round(bill.processor));
        figures.print(&json!({
            "figure": "memory", "function": self.binary, "request": self.request, "granted": granted,
            "by_rule": chosen(bills), "by_rule_without_bursts": chosen(&paced), "milliseconds_of_a_processor": processor,
        }));
    }
}

impl Bill {
    fn cost(&self) -> f64 {
        gigabyte_milliseconds(self.warm, self.megabytes)
    }

    /// The bill of a processor of this share that is as much slower all the time, computed from the bill of a `whole` processor.
    /// With a quota, a request's work within its first share takes no longer than there.
    fn paced(&self, whole: &Self) -> Self {
        let share = f64::from(self.megabytes) / f64::from(whole.megabytes);
        Self { warm: whole.warm + whole.processor * (1.0 / share - 1.0), ..*self }
    }
}

/// The place of the size that makes a request cheapest.
fn cheapest(bills: &[Bill]) -> Option<usize> {
    (0..bills.len()).min_by(|one, other| bills[*one].cost().total_cmp(&bills[*other].cost()))
}

/// The cheapest size, unless the next one makes the request at least a third faster and at most a tenth more expensive.
fn choose(bills: &[Bill]) -> Option<Bill> {
    let cheapest = cheapest(bills)?;
    let mut chosen = bills[cheapest];
    for next in &bills[cheapest + 1..] {
        if next.warm > chosen.warm * 2.0 / 3.0 || next.cost() > chosen.cost() * 1.1 {
            break;
        }
        chosen = *next;
    }
    Some(chosen)
}

fn request_event(method: &str, path: &str, query: &str, token: &str, body: &Value) -> Value {
    let headers = json!({ "authorization": format!("Token {token}"), "content-type": "application/json" });
    let mut event = http_event(method, &format!("/api/v3{path}"), headers);
    event["rawQueryString"] = query.into();
    if !body.is_null() {
        event["body"] = body.to_string().into();
    }
    event
}

/// The template's name of a function: `WebhookSenderFunction` of `webhook-sender`.
fn logical_id(binary: &str) -> String {
    let words = binary.split('-').filter_map(|word| Some((word.get(..1)?.to_uppercase(), word.get(1..)?)));
    words.map(|(first, rest)| first + rest).collect::<String>() + "Function"
}

/// The part of a URL after the version.
fn path_of(uri: &str) -> &str {
    uri.split_once("/api/v3").map_or(uri, |(_, path)| path)
}
