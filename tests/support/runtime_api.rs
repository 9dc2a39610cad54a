//! A small Lambda Runtime API: sends events to a function's process and receives its responses.
//!
//! It implements version 2018-06-01 as far as the Rust runtime uses it, for one process at a time.

use std::collections::HashMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use shared::clock::{Clock, SystemClock};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// The default timeout of an invocation.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A function's failure: it reported an error, took too long or ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionError {
    /// The runtime's name for the error, such as `Runtime.ExitError`.
    pub kind: String,
    pub message: String,
}

impl FunctionError {
    pub(crate) fn new(kind: &str, message: impl fmt::Display) -> Self {
        Self { kind: kind.to_owned(), message: message.to_string() }
    }

    fn reported(body: &[u8]) -> Self {
        let report: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |name: &str| report[name].as_str().unwrap_or("unknown").to_owned();
        Self { kind: text("errorType"), message: text("errorMessage") }
    }
}

impl fmt::Display for FunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

impl std::error::Error for FunctionError {}

type Outcome = Result<Value, FunctionError>;

/// A Runtime API on a free port of the loopback interface. Dropping it stops the server.
pub struct RuntimeApi {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

struct Shared {
    waiting: mpsc::UnboundedSender<Invocation>,
    /// Locked while the function waits for an event.
    next: tokio::sync::Mutex<mpsc::UnboundedReceiver<Invocation>>,
    running: Mutex<HashMap<String, oneshot::Sender<Outcome>>>,
    count: AtomicU64,
    /// How often the function has requested an event.
    polls: watch::Sender<u64>,
    init_error: watch::Sender<Option<FunctionError>>,
}

struct Invocation {
    id: String,
    event: Vec<u8>,
    answer: oneshot::Sender<Outcome>,
}

impl Shared {
    fn running(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<Outcome>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, id: &str, outcome: Outcome) -> Response {
        match self.running().remove(id) {
            Some(answer) => {
                // Sending fails if the caller has given up.
                let _ = answer.send(outcome);
                (StatusCode::ACCEPTED, Json(json!({ "status": "OK" }))).into_response()
            }
            None => {
                let unknown =
                    json!({ "errorType": "InvalidRequestID", "errorMessage": "no such invocation" });
                (StatusCode::BAD_REQUEST, Json(unknown)).into_response()
            }
        }
    }
}

impl RuntimeApi {
    /// Starts to listen.
    ///
    /// # Errors
    /// If no port is free.
    pub async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (waiting, next) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            waiting,
            next: tokio::sync::Mutex::new(next),
            running: Mutex::default(),
            count: AtomicU64::new(0),
            polls: watch::Sender::new(0),
            init_error: watch::Sender::new(None),
        });
        let routes = Router::new()
            .route("/runtime/invocation/next", get(next_event))
            .route("/runtime/invocation/{id}/response", post(response))
            .route("/runtime/invocation/{id}/error", post(error))
            .route("/runtime/init/error", post(init_error))
            .with_state(shared.clone());
        let routes = Router::new().nest("/2018-06-01", routes);
        let server = tokio::spawn(async move {
            // Never returns: it continues after errors of single connections.
            let _ = axum::serve(listener, routes).await;
        });
        Ok(Self { address, shared, server })
    }

    /// Host and port, for the function's variable `AWS_LAMBDA_RUNTIME_API`.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns once the function has requested its first event, which ends its initialisation.
    ///
    /// # Errors
    /// If the function reports that its initialisation failed.
    pub async fn first_poll(&self) -> Result<(), FunctionError> {
        let mut polls = self.shared.polls.subscribe();
        let mut failed = self.shared.init_error.subscribe();
        tokio::select! {
            _ = polls.wait_for(|polls| *polls > 0) => Ok(()),
            Ok(error) = failed.wait_for(Option::is_some) => match error.clone() {
                Some(error) => Err(error),
                None => Ok(()),
            },
        }
    }

    /// Returns once the function has requested another event after all events so far.
    pub async fn next_poll(&self) {
        let handed = self.shared.count.load(Ordering::Relaxed);
        // Cannot fail: the sender lives as long as `self`.
        let _ = self.shared.polls.subscribe().wait_for(|polls| *polls > handed).await;
    }

    /// Sends an event to the function and returns its response. Concurrent events are processed in the order of the
    /// calls.
    ///
    /// # Errors
    /// If the function reports an error for this event, or does not respond within 30 seconds.
    pub async fn invoke(&self, event: &Value) -> Result<Value, FunctionError> {
        self.invoke_within(event, TIMEOUT).await
    }

    /// Like [`invoke`](Self::invoke), with another time limit.
    ///
    /// # Errors
    /// If the function reports an error for this event, or does not respond within `limit`.
    pub async fn invoke_within(&self, event: &Value, limit: Duration) -> Result<Value, FunctionError> {
        let number = self.shared.count.fetch_add(1, Ordering::Relaxed);
        let id = format!("00000000-0000-4000-8000-{number:012x}");
        let (answer, outcome) = oneshot::channel();
        let invocation = Invocation { id: id.clone(), event: event.to_string().into_bytes(), answer };
        let stopped = || FunctionError::new("Sandbox.Failure", "the Runtime API has stopped");
        self.shared.waiting.send(invocation).map_err(|_| stopped())?;
        match tokio::time::timeout(limit, outcome).await {
            Ok(outcome) => outcome.map_err(|_| stopped())?,
            Err(_) => {
                self.shared.running().remove(&id);
                Err(FunctionError::new("Sandbox.Timedout", format!("no answer in {} s", limit.as_secs())))
            }
        }
    }
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn next_event(State(shared): State<Arc<Shared>>) -> Response {
    shared.polls.send_modify(|polls| *polls += 1);
    let Some(Invocation { id, event, answer }) = shared.next.lock().await.recv().await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    shared.running().insert(id.clone(), answer);
    let deadline = SystemClock.now() + TIMEOUT;
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("lambda-runtime-aws-request-id", id),
        ("lambda-runtime-deadline-ms", deadline.timestamp_millis().to_string()),
        (
            "lambda-runtime-invoked-function-arn",
            "arn:aws:lambda:eu-central-1:000000000000:function:local".to_owned(),
        ),
        ("lambda-runtime-trace-id", "Root=1-00000000-000000000000000000000000;Sampled=0".to_owned()),
    ];
    (headers, event).into_response()
}

async fn response(State(shared): State<Arc<Shared>>, Path(id): Path<String>, body: Bytes) -> Response {
    let outcome = serde_json::from_slice(&body);
    shared.finish(&id, outcome.map_err(|error| FunctionError::new("Runtime.InvalidResponse", error)))
}

async fn error(State(shared): State<Arc<Shared>>, Path(id): Path<String>, body: Bytes) -> Response {
    shared.finish(&id, Err(FunctionError::reported(&body)))
}

async fn init_error(State(shared): State<Arc<Shared>>, body: Bytes) -> StatusCode {
    shared.init_error.send_replace(Some(FunctionError::reported(&body)));
    StatusCode::ACCEPTED
}
