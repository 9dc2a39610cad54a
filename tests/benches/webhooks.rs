//! The delay from a change to the delivery of its event to a webhook, and how many events a second one webhook gets, from
//! the service as `localstack/run` starts it: each mapping of the table's stream is read every 150 ms.
#![recursion_limit = "256"]
use std::collections::HashMap;
use std::error::Error;
use std::net::Ipv4Addr;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header};
use embedded::{Local, Options, Storage};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use shared::clock::Stopwatch;
use tests::figures::{print_value, round_to};
use tests::receiver::Receiver;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Changes whose deliveries are timed.
const TIMED: usize = 300;
/// The pause after each of them.
const PACE: Duration = Duration::from_millis(40);
/// Events that wait for the webhook when it is enabled.
const WAITING: usize = 1_000;
/// Candidates per import.
const IMPORTED: usize = 100;
/// The pause between two looks at the feed.
const LOOK: Duration = Duration::from_millis(50);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let local = Local::start(&Options {
        address: Ipv4Addr::LOCALHOST.into(),
        port: 0,
        storage: Storage::Memory,
        allowed_origins: vec![],
    })
    .await?;
    let (stopwatch, (sender, mut deliveries)) = (Stopwatch::start(), unbounded_channel());
    let receiver = Receiver::start(move |event| {
        // An error means that the benchmark has ended.
        let _ = sender.send((stopwatch.elapsed(), event));
    })
    .await;
    let mut client = Client::log_in(&local).await?;
    let company = format!("{}/companies/demo/", local.base_url());
    let project = client.create(&format!("{company}projects/"), json!({ "name": "Engineer" })).await?;
    let webhook = json!({ "url": receiver.url, "types": ["candidate.created", "candidate.updated"] });
    let webhook = client.create(&format!("{company}webhooks/"), webhook).await?;

    let mut committed = HashMap::new();
    for number in 0..TIMED {
        let candidate = client.create(&format!("{project}candidates/"), person(number)).await?;
        committed.insert(candidate, stopwatch.elapsed());
        #[expect(clippy::disallowed_methods, reason = "a pace in real time, which is measured")]
        tokio::time::sleep(PACE).await;
    }
    let mut delays = Vec::new();
    for _ in 0..TIMED {
        let (at, event) = deliveries.recv().await.ok_or("no delivery")?;
        let changed = committed.get(event["data"]["resource_uri"].as_str().ok_or("no resource")?);
        delays.push(at.saturating_sub(*changed.ok_or("an unknown event")?).as_secs_f64());
    }
    delays.sort_by(f64::total_cmp);
    print_value("median_seconds", round_to(delays[TIMED / 2], 3));
    print_value("p99_seconds", round_to(delays[TIMED * 99 / 100], 3));

    client.enable(&webhook, false).await?;
    // In parts that a busy computer imports within the time of one request.
    for _ in 0..WAITING / IMPORTED {
        let entries: Vec<_> = (0..IMPORTED).map(person).collect();
        client.send(Method::POST, &format!("{project}candidates/import/"), &entries.into()).await?;
    }
    client.numbered(&company, TIMED + WAITING).await?;
    client.enable(&webhook, true).await?;
    print_value(
        "deliveries_per_second_of_many_candidates",
        round_to(rate(&mut deliveries, WAITING).await?, 3),
    );

    client.enable(&webhook, false).await?;
    let candidate = committed.into_keys().next().ok_or("no candidate")?;
    for number in 0..TIMED {
        client.send(Method::PATCH, &candidate, &json!({ "phone": number.to_string() })).await?;
    }
    client.numbered(&company, TIMED + WAITING + TIMED).await?;
    client.enable(&webhook, true).await?;
    print_value("deliveries_per_second_of_one_candidate", round_to(rate(&mut deliveries, TIMED).await?, 3));
    local.stop().await;
    Ok(())
}

fn person(number: usize) -> Value {
    json!({ "first_name": "Ada", "last_name": format!("Lovelace-{number}") })
}

/// Deliveries a second, from the first one to the last of `count`.
async fn rate(deliveries: &mut UnboundedReceiver<(Duration, Value)>, count: usize) -> Result<f64> {
    let (first, _) = deliveries.recv().await.ok_or("no delivery")?;
    let mut last = first;
    for _ in 1..count {
        (last, _) = deliveries.recv().await.ok_or("no delivery")?;
    }
    Ok((count - 1) as f64 / (last - first).as_secs_f64())
}

/// A connection, logged in as the owner of the demo company.
struct Client {
    sender: SendRequest<Body>,
    host: String,
    token: String,
}

impl Client {
    async fn log_in(local: &Local) -> Result<Self> {
        let url = local.base_url();
        let host = url.split('/').nth(2).ok_or("no host")?.to_owned();
        let (sender, connection) = handshake(TokioIo::new(TcpStream::connect(&host).await?)).await?;
        tokio::spawn(connection);
        let mut client = Self { sender, host, token: String::new() };
        let demo = local.demo();
        let login = json!({ "company": demo.company, "username": demo.username, "password": demo.password });
        let token = client.send(Method::POST, &format!("{url}/api-token-auth/"), &login).await?;
        token["token"].as_str().ok_or("no token")?.clone_into(&mut client.token);
        Ok(client)
    }

    /// Creates a resource and returns its reference.
    async fn create(&mut self, collection: &str, body: Value) -> Result<String> {
        let created = self.send(Method::POST, collection, &body).await?;
        Ok(created["resource_uri"].as_str().ok_or("no reference")?.to_owned())
    }

    async fn enable(&mut self, webhook: &str, is_enabled: bool) -> Result<()> {
        self.send(Method::PATCH, webhook, &json!({ "is_enabled": is_enabled })).await.map(drop)
    }

    /// Returns once the company's feed has so many events of candidates.
    async fn numbered(&mut self, company: &str, count: usize) -> Result<()> {
        let mut numbered = 0;
        let mut next = format!("{company}events/?page_size=100&type=candidate.*");
        while numbered < count {
            let page = self.send(Method::GET, &next, &Value::Null).await?;
            numbered += page["objects"].as_array().map_or(0, Vec::len);
            page["meta"]["next"].as_str().ok_or("no link")?.clone_into(&mut next);
            if page["meta"]["more"] != true {
                #[expect(clippy::disallowed_methods, reason = "another process goes on in real time")]
                tokio::time::sleep(LOOK).await;
            }
        }
        Ok(())
    }

    /// Sends a request and returns the body of its response, which must be a success.
    async fn send(&mut self, method: Method, url: &str, body: &Value) -> Result<Value> {
        let request = Request::builder().method(&method).uri(url).header(header::HOST, &self.host);
        let request = request.header(header::AUTHORIZATION, format!("Token {}", self.token));
        let request = request.header(header::CONTENT_TYPE, "application/json");
        self.sender.ready().await?;
        let response = self.sender.send_request(request.body(Body::from(body.to_string()))?).await?;
        let status = response.status();
        let bytes = to_bytes(Body::new(response.into_body()), usize::MAX).await?;
        if !status.is_success() {
            return Err(format!("{method} {url}: {status} {}", String::from_utf8_lossy(&bytes)).into());
        }
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }
}
