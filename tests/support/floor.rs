//! Records a function's DynamoDB calls, which `tests/floor` repeats, and answers the repeated calls.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::function::Function;

type HttpClient = Client<HttpConnector, Body>;

/// The environment variable with DynamoDB's URL.
pub const DYNAMODB: &str = "AWS_ENDPOINT_URL_DYNAMODB";

/// A call and its response.
#[derive(Debug, Clone)]
pub struct RecordedCall {
    /// The call, with operation and request, in the form that `tests/floor` reads.
    call: Value,
    headers: HeaderMap,
    body: Bytes,
}

/// The calls for a request, in steps. The calls of a step are concurrent.
pub type RecordedSteps = Vec<Vec<RecordedCall>>;

/// Writes the calls for each request to a file. Returns `variables` with those for `tests/floor`: the file's path, and
/// the prefix of the sort keys of items that it returns.
///
/// # Errors
/// If the file cannot be written.
pub fn variables(
    variables: &BTreeMap<&'static str, String>,
    file: &Path,
    requests: &[RecordedSteps],
    shown: &str,
) -> io::Result<BTreeMap<&'static str, String>> {
    let call = |recorded: &RecordedCall| recorded.call.clone();
    let step = |calls: &Vec<RecordedCall>| Value::from_iter(calls.iter().map(call));
    let requests = Value::from_iter(requests.iter().map(|steps| Value::from_iter(steps.iter().map(step))));
    std::fs::write(file, requests.to_string())?;
    let mut variables = variables.clone();
    variables.insert("RECORDED_CALLS", file.display().to_string());
    variables.insert("SHOWN_ITEMS", shown.to_owned());
    Ok(variables)
}

/// Starts a function with these `variables`. Returns the DynamoDB calls for each event, without those at its start.
///
/// # Errors
/// If the function does not respond, or fails.
pub async fn record_calls(
    binary: &Path,
    variables: &BTreeMap<&'static str, String>,
    events: &[Value],
) -> Result<Vec<RecordedSteps>, Box<dyn Error>> {
    let mut variables = variables.clone();
    let dynamodb = variables.get_mut(DYNAMODB).ok_or("the back end has no DynamoDB")?;
    let recorder = CallRecorder::start(dynamodb).await?;
    *dynamodb = format!("http://{}", recorder.address);
    let mut function = Function::start(Command::new(binary), &variables).await?;
    function.ready().await?;
    recorder.take();
    let mut requests = Vec::new();
    for event in events {
        let answer = function.invoke(event).await?;
        if answer["statusCode"].as_u64().is_none_or(|status| status >= 300) {
            return Err(format!("cannot record the calls of an error: {answer}").into());
        }
        requests.push(recorder.take());
    }
    Ok(requests)
}

/// A proxy in front of DynamoDB that records calls.
#[derive(Clone)]
struct CallRecorder {
    address: SocketAddr,
    upstream: String,
    client: HttpClient,
    recording: Arc<Mutex<Recording>>,
}

#[derive(Default)]
struct Recording {
    steps: RecordedSteps,
    /// The number of calls without a response yet. The next call is concurrent with them.
    running: usize,
}

impl CallRecorder {
    /// Starts to listen. `upstream` is DynamoDB's URL.
    async fn start(upstream: &str) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let recorder = Self {
            address: listener.local_addr()?,
            upstream: upstream.to_owned(),
            client: Client::builder(TokioExecutor::new()).build_http(),
            recording: Arc::default(),
        };
        serve(listener, Router::new().fallback(record).with_state(recorder.clone()));
        Ok(recorder)
    }

    /// The calls since the last time.
    fn take(&self) -> RecordedSteps {
        std::mem::take(&mut self.recording().steps)
    }

    fn recording(&self) -> MutexGuard<'_, Recording> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the start of a call. Returns the position for its response.
    fn start_call(&self, call: Value) -> (usize, usize) {
        let mut recording = self.recording();
        if recording.running == 0 {
            recording.steps.push(Vec::new());
        }
        recording.running += 1;
        let step = recording.steps.len() - 1;
        recording.steps[step].push(RecordedCall { call, headers: HeaderMap::new(), body: Bytes::new() });
        (step, recording.steps[step].len() - 1)
    }

    fn end_call(&self, (step, place): (usize, usize), headers: HeaderMap, body: Bytes) {
        let mut recording = self.recording();
        recording.running -= 1;
        let call = &mut recording.steps[step][place];
        (call.headers, call.body) = (headers, body);
    }
}

async fn record(State(recorder): State<CallRecorder>, request: Request) -> Result<Response, StatusCode> {
    let (mut head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.map_err(|_| StatusCode::BAD_REQUEST)?;
    let place = recorder.start_call(call(&head.headers, &body));
    head.uri = recorder.upstream.parse().map_err(|_| StatusCode::BAD_GATEWAY)?;
    let response = recorder.client.request(Request::from_parts(head, Body::from(body))).await;
    let (head, body) = response.map_err(|_| StatusCode::BAD_GATEWAY)?.into_parts();
    let body = to_bytes(Body::new(body), usize::MAX).await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    recorder.end_call(place, head.headers.clone(), body.clone());
    Ok(Response::from_parts(head, Body::from(body)))
}

/// A server that answers recorded calls.
pub struct ReplayServer(SocketAddr);

impl ReplayServer {
    /// Starts to listen. Equal calls get the same response each time.
    ///
    /// # Errors
    /// If no port is free.
    pub async fn start(requests: &[RecordedSteps]) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let calls: Arc<[RecordedCall]> = requests.iter().flatten().flatten().cloned().collect();
        serve(listener, Router::new().fallback(replay).with_state(calls));
        Ok(Self(address))
    }

    /// The server's URL, to be used instead of DynamoDB's.
    pub fn url(&self) -> String {
        format!("http://{}", self.0)
    }
}

async fn replay(State(calls): State<Arc<[RecordedCall]>>, headers: HeaderMap, body: Bytes) -> Response {
    let call = call(&headers, &body);
    match calls.iter().find(|recorded| recorded.call == call) {
        Some(recorded) => (recorded.headers.clone(), recorded.body.clone()).into_response(),
        // `tests/floor` would not make the same calls.
        None => (StatusCode::BAD_REQUEST, format!("this call was not recorded: {call}")).into_response(),
    }
}

fn call(headers: &HeaderMap, body: &Bytes) -> Value {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok());
    let operation = target.and_then(|target| target.rsplit('.').next());
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    json!({ "operation": operation, "request": request })
}

fn serve(listener: TcpListener, routes: Router) {
    tokio::spawn(async move {
        // Never returns: it continues after errors of single connections.
        let _ = axum::serve(listener, routes).await;
    });
}
