//! Requests a second, response times and CPU time of the program that `localstack/run` starts: a mixed story at 1, 16 and
//! 64 connections, compared with an unknown path, which the same gateway and function answer without DynamoDB.
//!
//! `tests/bench throughput dev` measures the build of `localstack/run`, without `dev` that of `localstack/run --release`.
//! Client and server share this computer's processors.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use shared::clock::Stopwatch;
use tempfile::TempDir;
use tests::figures::{print, round};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const CONNECTIONS: [usize; 3] = [1, 16, 64];
/// How long each figure is measured.
const DURATION: Duration = Duration::from_secs(8);
/// A clock tick of `/proc`, in milliseconds.
const TICK: f64 = 10.0;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let profile = if std::env::args().any(|argument| argument == "dev") { "dev" } else { "local" };
    let binaries = tests::binaries::build(["--profile", profile, "--package", "embedded"]);
    let service = Service::start(binaries.get("embedded").ok_or("embedded was not built")?).await?;
    for connections in CONNECTIONS {
        let mut clients = Vec::new();
        for _ in 0..connections {
            clients.push(service.client().await?);
        }
        // Caches and connections of the server fill during the first stories.
        let (clients, _) = measure(&service, clients, Kind::Story, Duration::ZERO).await?;
        let (clients, story) = measure(&service, clients, Kind::Story, DURATION).await?;
        let (_, constant) = measure(&service, clients, Kind::Constant, DURATION).await?;
        for (name, figures) in [("story", &story), ("constant", &constant)] {
            print(&json!({
                "figure": name, "profile": profile, "connections": connections,
                "requests_per_second": round(figures.per_second()),
                "p50_ms": round(figures.percentile(50)), "p99_ms": round(figures.percentile(99)),
                "cpu_ms_per_request": round(figures.cpu_milliseconds / figures.milliseconds.len() as f64),
            }));
        }
        let ratio = story.per_second() / constant.per_second();
        print(&json!({
            "figure": "story_to_constant", "profile": profile, "connections": connections, "ratio": round(ratio),
        }));
    }
    Ok(())
}

/// The requests that a client repeats.
#[derive(Clone, Copy)]
enum Kind {
    Story,
    Constant,
}

/// The running program, with its data in a folder. Dropping it ends the process and deletes the data.
struct Service {
    base_url: String,
    login: Value,
    process: Child,
    _folder: TempDir,
}

impl Service {
    async fn start(program: &PathBuf) -> Result<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let mut command = Command::new(program);
        command.args(["--port", "0", "--ready-json", "--data"]).arg(folder.path()).kill_on_drop(true);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let output = process.stdout.take().ok_or("no output")?;
        let ready = BufReader::new(output).lines().next_line().await?.ok_or("the service did not start")?;
        let ready: Value = serde_json::from_str(&ready)?;
        let login = json!({
            "company": ready["company"], "username": ready["username"], "password": ready["password"],
        });
        Ok(Self { base_url: text(&ready, "base_url")?, login, process, _folder: folder })
    }

    /// A connection, logged in, with a running project of its own.
    async fn client(&self) -> Result<Client> {
        let (host, path) =
            self.base_url.strip_prefix("http://").and_then(|url| url.split_once('/')).ok_or("no host")?;
        let stream = TcpStream::connect(host).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let origin = format!("http://{host}");
        let mut client =
            Client { sender, host: host.to_owned(), origin, token: String::new(), project: String::new() };
        let login = client.send(Method::POST, &format!("/{path}/api-token-auth/"), &self.login).await?;
        client.token = text(&login, "token")?;
        let projects = format!("/{path}/companies/demo/projects/");
        let project = json!({ "name": "Tester", "default_interview_period": 7 });
        client.project = text(&client.send(Method::POST, &projects, &project).await?, "resource_uri")?;
        let status = format!("{}status/", client.project);
        client.send(Method::PATCH, &status, &json!({ "status": "40-running" })).await?;
        Ok(client)
    }

    /// The CPU time of the process so far, in milliseconds.
    fn cpu_milliseconds(&self) -> Result<f64> {
        let id = self.process.id().ok_or("the service has ended")?;
        let stat = std::fs::read_to_string(Path::new("/proc").join(id.to_string()).join("stat"))?;
        // The name may contain spaces; user and system time are the 12th and 13th fields after it.
        let (_, fields) = stat.rsplit_once(") ").ok_or("no process statistics")?;
        let ticks: Vec<f64> =
            fields.split(' ').skip(11).take(2).map(str::parse).collect::<std::result::Result<_, _>>()?;
        Ok(ticks.iter().sum::<f64>() * TICK)
    }
}

struct Client {
    sender: SendRequest<Body>,
    host: String,
    origin: String,
    token: String,
    project: String,
}

impl Client {
    /// Sends a request and returns its response, which must be a success.
    async fn send(&mut self, method: Method, target: &str, body: &Value) -> Result<Value> {
        let (status, response) = self.exchange(&method, target, body).await?;
        if !(200..300).contains(&status) {
            return Err(format!("{method} {target}: {status} {response}").into());
        }
        Ok(response)
    }

    async fn exchange(&mut self, method: &Method, target: &str, body: &Value) -> Result<(u16, Value)> {
        let path = target.strip_prefix(&self.origin).unwrap_or(target);
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, &self.host);
        if !self.token.is_empty() {
            request = request.header(header::AUTHORIZATION, format!("Token {}", self.token));
        }
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = request.header(header::CONTENT_TYPE, "application/json").body(Body::from(body))?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let status = response.status().as_u16();
        let bytes = to_bytes(Body::new(response.into_body()), usize::MAX).await?;
        Ok((status, serde_json::from_slice(&bytes)?))
    }

    /// Repeats requests of a kind, at least once, until `duration` has passed, and returns the milliseconds of each.
    async fn repeat(&mut self, kind: Kind, duration: Duration) -> Result<Vec<f64>> {
        let (start, mut milliseconds) = (Stopwatch::start(), Vec::new());
        loop {
            match kind {
                Kind::Story => self.story(&mut milliseconds).await?,
                Kind::Constant => self.constant(&mut milliseconds).await?,
            }
            if start.elapsed() >= duration {
                return Ok(milliseconds);
            }
        }
    }

    /// Creates, reads, lists, changes, finds and invites a candidate, and reads the user.
    async fn story(&mut self, milliseconds: &mut Vec<f64>) -> Result<()> {
        let list = format!("{}candidates/", self.project);
        let api = self.project.split("/companies/").next().unwrap_or_default().to_owned();
        let email = format!("ada.{}@mail.example", milliseconds.len());
        let new = json!({ "first_name": "Ada", "last_name": "Lovelace", "email": email });
        let candidate = self.timed(milliseconds, Method::POST, &list, &new).await?;
        let candidate = text(&candidate, "resource_uri")?;
        let search = format!("{api}/companies/demo/search/?q=lovel");
        for (method, target, body) in [
            (Method::GET, candidate.clone(), Value::Null),
            (Method::GET, list, Value::Null),
            (Method::PATCH, candidate.clone(), json!({ "phone": "+49 30 123456" })),
            (Method::GET, search, Value::Null),
            (Method::PATCH, format!("{candidate}status/advance/"), Value::Null),
            (Method::GET, format!("{api}/whoami/"), Value::Null),
        ] {
            self.timed(milliseconds, method, &target, &body).await?;
        }
        Ok(())
    }

    async fn constant(&mut self, milliseconds: &mut Vec<f64>) -> Result<()> {
        let stopwatch = Stopwatch::start();
        let (status, response) = self.exchange(&Method::GET, "/api/v3/unknown/", &Value::Null).await?;
        milliseconds.push(stopwatch.elapsed().as_secs_f64() * 1e3);
        if status == 404 { Ok(()) } else { Err(format!("an unknown path: {status} {response}").into()) }
    }

    async fn timed(
        &mut self,
        milliseconds: &mut Vec<f64>,
        method: Method,
        target: &str,
        body: &Value,
    ) -> Result<Value> {
        let stopwatch = Stopwatch::start();
        let response = self.send(method, target, body).await?;
        milliseconds.push(stopwatch.elapsed().as_secs_f64() * 1e3);
        Ok(response)
    }
}

/// The times of all requests of one measurement.
struct Figures {
    /// The times of all requests, sorted.
    milliseconds: Vec<f64>,
    seconds: f64,
    /// The processor time of the server, for all requests.
    cpu_milliseconds: f64,
}

impl Figures {
    fn per_second(&self) -> f64 {
        self.milliseconds.len() as f64 / self.seconds
    }

    fn percentile(&self, percent: usize) -> f64 {
        self.milliseconds[(self.milliseconds.len() - 1) * percent / 100]
    }
}

/// Lets all clients repeat requests of a kind at once.
async fn measure(
    service: &Service,
    clients: Vec<Client>,
    kind: Kind,
    duration: Duration,
) -> Result<(Vec<Client>, Figures)> {
    let (stopwatch, cpu) = (Stopwatch::start(), service.cpu_milliseconds()?);
    let mut tasks = JoinSet::new();
    for mut client in clients {
        tasks.spawn(async move {
            let milliseconds = client.repeat(kind, duration).await?;
            Ok::<_, Box<dyn Error + Send + Sync>>((client, milliseconds))
        });
    }
    let (mut clients, mut milliseconds) = (Vec::new(), Vec::new());
    while let Some(finished) = tasks.join_next().await {
        let (client, times) = finished??;
        clients.push(client);
        milliseconds.extend(times);
    }
    let seconds = stopwatch.elapsed().as_secs_f64();
    milliseconds.sort_unstable_by(f64::total_cmp);
    Ok((clients, Figures { milliseconds, seconds, cpu_milliseconds: service.cpu_milliseconds()? - cpu }))
}

fn text(json: &Value, name: &str) -> Result<String> {
    Ok(json[name].as_str().ok_or_else(|| format!("no {name} in {json}"))?.to_owned())
}
