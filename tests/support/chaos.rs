//! A proxy between the service and DynamoDB, S3 or SES that fails on demand.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderValue, Request, Response, header, request, response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

pub use crate::fault::{Fault, Pause};
use crate::heat::Heat;
use crate::refusals::{conflict, error, refusal};
use crate::traffic::{Traffic, items_of};

/// A proxy in front of DynamoDB, S3 or SES. It ends with the test.
pub struct Chaos {
    url: String,
    shared: Arc<Shared>,
    _server: JoinSet<()>,
}

struct Shared {
    upstream: SocketAddr,
    operations: Mutex<HashMap<String, Operation>>,
    /// How many more requests the proxy forwards; `None` for all.
    left: Mutex<Option<usize>>,
    /// Whether only writes count towards `left`.
    counts_writes: AtomicBool,
    delay_micros: AtomicU64,
    traffic: Mutex<Traffic>,
    /// The bodies of transactions so far; `None` unless they are recorded.
    recording: Mutex<Option<Vec<Bytes>>>,
    heat: Mutex<Option<Heat>>,
    /// Called after each forwarded request, before its response is returned.
    observer: Mutex<Option<Arc<dyn Fn() + Send + Sync>>>,
}

#[derive(Default)]
struct Operation {
    /// The faults of the next requests, each for the first one whose body contains the text.
    faults: VecDeque<(String, Fault)>,
    always: Option<Fault>,
    first_attempts: Vec<Fault>,
    tokens: HashSet<String>,
    requests: usize,
}

impl Operation {
    /// The fault for a request that has arrived.
    fn fault(&mut self, body: &[u8]) -> Option<Fault> {
        self.requests += 1;
        if !self.first_attempts.is_empty() {
            let request: Value = serde_json::from_slice(body).ok()?;
            let token = request["ClientRequestToken"].as_str()?.to_owned();
            let number = self.tokens.len() % self.first_attempts.len();
            return self.tokens.insert(token).then(|| self.first_attempts[number].clone());
        }
        let body = String::from_utf8_lossy(body);
        let place = self.faults.iter().position(|(text, _)| body.contains(text.as_str()));
        let fault = place.and_then(|place| self.faults.remove(place));
        fault.map(|(_, fault)| fault).or_else(|| self.always.clone())
    }
}

impl Shared {
    /// Whether the request is forwarded. Decreases `left`.
    fn admits(&self, operation: &str) -> bool {
        let is_read =
            matches!(operation, "BatchGetItem" | "GetItem" | "Query" | "Scan" | "GET" | "HEAD" | "LIST");
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *left {
            None => true,
            Some(_) if is_read && self.counts_writes.load(Ordering::Relaxed) => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }

    fn traffic(&self) -> MutexGuard<'_, Traffic> {
        self.traffic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn recording(&self) -> MutexGuard<'_, Option<Vec<Bytes>>> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn heat(&self) -> MutexGuard<'_, Option<Heat>> {
        self.heat.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn operations(&self) -> MutexGuard<'_, HashMap<String, Operation>> {
        self.operations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Chaos {
    /// Starts a proxy to `upstream`, such as `http://127.0.0.1:8000`.
    pub(crate) async fn start(upstream: &str) -> Self {
        let address = upstream.strip_prefix("http://").and_then(|address| address.parse().ok());
        let shared = Arc::new(Shared {
            upstream: address.expect("an address"),
            operations: Mutex::default(),
            left: Mutex::default(),
            counts_writes: AtomicBool::default(),
            delay_micros: AtomicU64::default(),
            traffic: Mutex::default(),
            recording: Mutex::default(),
            heat: Mutex::default(),
            observer: Mutex::default(),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let mut server = JoinSet::new();
        server.spawn(listen(listener, shared.clone()));
        Self { url, shared, _server: server }
    }

    /// The URL at which the proxy listens.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Makes the next request of an operation, such as `TransactWriteItems`, fail. Several faults apply to successive
    /// requests.
    pub fn next(&self, operation: &str, fault: Fault) {
        self.next_about(operation, "", fault);
    }

    /// Makes the next request of an operation fail whose body contains `text`.
    pub fn next_about(&self, operation: &str, text: &str, fault: Fault) {
        let mut operations = self.shared.operations();
        operations.entry(operation.to_owned()).or_default().faults.push_back((text.to_owned(), fault));
    }

    /// Holds the next request of an operation.
    pub fn pause(&self, operation: &str) -> Pause {
        self.pause_about(operation, "")
    }

    /// Holds the next request of an operation whose body contains `text`.
    pub fn pause_about(&self, operation: &str, text: &str) -> Pause {
        let pause = Pause::default();
        self.next_about(operation, text, Fault::Paused(pause.clone()));
        pause
    }

    /// Makes every request of an operation fail until [`heal`](Self::heal).
    pub fn always(&self, operation: &str, fault: Fault) {
        self.shared.operations().entry(operation.to_owned()).or_default().always = Some(fault);
    }

    /// Makes the first attempt of every transaction fail with these faults in turn; the retry succeeds.
    pub fn fail_first_attempts(&self, faults: &[Fault]) {
        let mut operations = self.shared.operations();
        operations.entry("TransactWriteItems".to_owned()).or_default().first_attempts = faults.to_vec();
    }

    /// Forwards only this many more requests of all operations. For the table, it looks as if the process had died.
    pub fn cut_after(&self, requests: usize) {
        self.shared.counts_writes.store(false, Ordering::Relaxed);
        *self.shared.left.lock().unwrap_or_else(PoisonError::into_inner) = Some(requests);
    }

    /// Forwards all reads, but only this many more writes. This distinguishes all moments at which a process can die
    /// with a different effect: until its next write, the table stays the same.
    pub fn cut_after_writes(&self, writes: usize) {
        self.cut_after(writes);
        self.shared.counts_writes.store(true, Ordering::Relaxed);
    }

    /// Calls `observer` after each forwarded request, before its response is returned.
    pub fn observe(&self, observer: impl Fn() + Send + Sync + 'static) {
        *self.shared.observer.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(observer));
    }

    /// How many more requests the proxy forwards; `None` for all.
    pub fn left(&self) -> Option<usize> {
        *self.shared.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delays every request, as if the upstream were farther away.
    pub fn delay(&self, by: Duration) {
        let micros = u64::try_from(by.as_micros()).expect("a short time");
        self.shared.delay_micros.store(micros, Ordering::Relaxed);
    }

    /// Forwards all requests again, without faults.
    pub fn heal(&self) {
        *self.shared.left.lock().unwrap_or_else(PoisonError::into_inner) = None;
        for operation in self.shared.operations().values_mut() {
            operation.always = None;
            operation.faults.clear();
            operation.first_attempts.clear();
        }
    }

    /// The maximum number of concurrent transactions, and how often one had an item in common with another.
    pub fn traffic(&self) -> (usize, usize) {
        let traffic = self.shared.traffic();
        (traffic.most, traffic.meetings)
    }

    /// Starts recording the bodies of transactions.
    pub fn record(&self) {
        *self.shared.recording() = Some(Vec::new());
    }

    /// Stops recording and returns the bodies.
    pub fn recorded(&self) -> Vec<Bytes> {
        self.shared.recording().take().unwrap_or_default()
    }

    /// Starts measuring the units that requests consume per partition of a table with these items, in DynamoDB's JSON.
    /// If `is_limited`, refuses requests to partitions without units left.
    pub fn measure(&self, items: &[Value], is_limited: bool) {
        *self.shared.heat() = Some(Heat::new(items, is_limited));
    }

    /// Calls `look` with the units consumed so far; returns `None` if they are not measured.
    pub fn measuring<T>(&self, look: impl FnOnce(&mut Heat) -> T) -> Option<T> {
        self.shared.heat().as_mut().map(look)
    }

    /// Stops measuring and returns the consumed units.
    pub fn measured(&self) -> Option<Heat> {
        self.shared.heat().take()
    }

    /// The number of requests of an operation so far.
    pub fn requests(&self, operation: &str) -> usize {
        self.shared.operations().get(operation).map_or(0, |operation| operation.requests)
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let shared = shared.clone();
        connections.spawn(async move {
            let service = service_fn(move |request| answer(shared.clone(), request));
            let connection = hyper::server::conn::http1::Builder::new();
            // An error closes the connection without a response, which some faults intend.
            let _ = connection.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> io::Result<Response<Body>> {
    let (head, body) = request.into_parts();
    let body = to_bytes(Body::new(body), usize::MAX).await.map_err(io::Error::other)?;
    let operation = operation_of(&head, &body);
    let items = items_of(&operation, &body);
    let fault = {
        let mut operations = shared.operations();
        operations.entry(operation.clone()).or_default().fault(&body)
    };
    if !shared.admits(&operation) {
        return Err(io::ErrorKind::ConnectionReset.into());
    }
    if shared.heat().is_some() {
        return meet_measured(&shared, head, body, &operation).await;
    }
    if items.is_empty() {
        return meet(&shared, head, body, fault).await;
    }
    if let Some(bodies) = &mut *shared.recording() {
        bodies.push(body.clone());
    }
    shared.traffic().enter(&items);
    let answer = meet(&shared, head, body, fault).await;
    shared.traffic().leave(&items);
    answer
}

/// Forwards a request unless a partition has no units left, and records its consumption.
async fn meet_measured(
    shared: &Shared,
    head: request::Parts,
    body: Bytes,
    operation: &str,
) -> io::Result<Response<Body>> {
    let request: Value = serde_json::from_slice(&body)?;
    if shared.heat().as_mut().is_some_and(|heat| !heat.admits(operation, &request)) {
        return Ok(error("ThrottlingException", json!({ "message": "Throughput exceeds the partition's" })));
    }
    let (head, body) = meet(shared, head, body, None).await?.into_parts();
    let body = to_bytes(body, usize::MAX).await.map_err(io::Error::other)?;
    if head.status.is_success()
        && let Some(heat) = &mut *shared.heat()
    {
        heat.take(operation, &request, &serde_json::from_slice(&body)?);
    }
    Ok(Response::from_parts(head, Body::from(body)))
}

/// Forwards a request, or applies its fault.
async fn meet(
    shared: &Shared,
    head: request::Parts,
    body: Bytes,
    fault: Option<Fault>,
) -> io::Result<Response<Body>> {
    #[expect(clippy::disallowed_methods, reason = "the latency of a network")]
    tokio::time::sleep(Duration::from_micros(shared.delay_micros.load(Ordering::Relaxed))).await;
    match fault {
        None => forward(shared, head, body).await,
        Some(Fault::Conflict) => Ok(conflict(&body)),
        Some(Fault::Throttled) => Ok(error("ThrottlingException", json!({ "message": "Rate exceeded" }))),
        Some(Fault::Unreachable) => Err(io::ErrorKind::ConnectionReset.into()),
        Some(Fault::AnswerLost) => {
            forward(shared, head, body).await?;
            Err(io::ErrorKind::ConnectionReset.into())
        }
        Some(Fault::HalfProcessed) => half(shared, head, &body).await,
        Some(Fault::Refused(code)) => Ok(refusal(&head, code)),
        Some(Fault::Paused(pause)) => {
            pause.wait().await;
            forward(shared, head, body).await
        }
    }
}

/// The operation of a request to DynamoDB or SES; for S3 the HTTP method, or `LIST`.
fn operation_of(head: &request::Parts, body: &[u8]) -> String {
    let target = head.headers.get("x-amz-target").and_then(|target| target.to_str().ok());
    match target.and_then(|target| target.rsplit('.').next()) {
        Some(operation) => operation.to_owned(),
        None => {
            let mut form = url::form_urlencoded::parse(body);
            let action = form.find(|(name, _)| name == "Action").map(|(_, action)| action.into_owned());
            let is_list = head.uri.query().is_some_and(|query| query.contains("list-type="));
            action.unwrap_or_else(|| if is_list { "LIST".to_owned() } else { head.method.to_string() })
        }
    }
}

async fn forward(shared: &Shared, head: request::Parts, body: Bytes) -> io::Result<Response<Body>> {
    let (head, body) = call(shared, head, body).await?;
    Ok(Response::from_parts(head, Body::from(body)))
}

async fn call(shared: &Shared, head: request::Parts, body: Bytes) -> io::Result<(response::Parts, Bytes)> {
    let stream = TcpStream::connect(shared.upstream).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    let mut tasks = JoinSet::new();
    tasks.spawn(async {
        let _ = connection.await;
    });
    let mut request = Request::from_parts(head, Body::from(body.clone()));
    request.headers_mut().remove(header::TRANSFER_ENCODING);
    request.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    let (head, body) = sender.send_request(request).await.map_err(io::Error::other)?.into_parts();
    let body = to_bytes(Body::new(body), usize::MAX).await.map_err(io::Error::other)?;
    let observer = shared.observer.lock().unwrap_or_else(PoisonError::into_inner).clone();
    observer.iter().for_each(|observe| observe());
    Ok((head, body))
}

async fn half(shared: &Shared, head: request::Parts, body: &Bytes) -> io::Result<Response<Body>> {
    let mut request: Value = serde_json::from_slice(body)?;
    let mut unprocessed = request["RequestItems"].clone();
    for (table, wanted) in request["RequestItems"].as_object_mut().into_iter().flatten() {
        if let Some(writes) = wanted.as_array_mut() {
            unprocessed[table.as_str()] = writes.split_off(writes.len().div_ceil(2)).into();
        } else if let Some(keys) = wanted["Keys"].as_array_mut() {
            unprocessed[table.as_str()]["Keys"] = keys.split_off(keys.len().div_ceil(2)).into();
        }
    }
    let (mut head, body) = call(shared, head, request.to_string().into()).await?;
    let mut answer: Value = serde_json::from_slice(&body)?;
    let left = if answer.get("UnprocessedItems").is_some() { "UnprocessedItems" } else { "UnprocessedKeys" };
    answer[left] = unprocessed;
    for of_the_first_body in ["content-length", "x-amz-crc32"] {
        head.headers.remove(of_the_first_body);
    }
    Ok(Response::from_parts(head, Body::from(answer.to_string())))
}
