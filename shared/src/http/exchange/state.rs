//! The state of a request while it is handled, for its log line and for the response to retries.

use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::http::Extensions;
use chrono::{DateTime, Utc};
use tokio::task::JoinSet;

use crate::app::App;
use crate::clock::Stopwatch;
use crate::domain::id::{CompanyId, CustomerId};
use crate::error::Result;
use crate::store::{KeyedRequest, RequestIntent, RequestUsage, Store};

/// The caller, as the log line shows them.
pub(crate) struct LoggedCaller {
    pub(crate) company: CompanyId,
    pub(crate) caller: String,
    /// The staff user who acts on behalf of the caller.
    pub(crate) on_behalf_by: Option<CustomerId>,
}

/// The state of one request. All attempts at it share the state.
#[derive(Default)]
pub(crate) struct RequestState {
    pub(crate) usage: Arc<RequestUsage>,
    /// The client's network, by which failed logins are counted; empty if the gateway does not say.
    pub(crate) source: String,
    /// The identifier that the response and the log line show.
    pub(crate) id: Option<String>,
    pub(crate) caller: OnceLock<LoggedCaller>,
    /// The person whose data the request is about, if the path does not name them.
    pub(crate) person: OnceLock<String>,
    pub(crate) intent: OnceLock<RequestIntent>,
    /// The request's Idempotency-Key with its caller; set by admission.
    pub(crate) keyed: OnceLock<KeyedRequest>,
    /// When the request arrived: the time of the first attempt.
    pub(crate) received_at: OnceLock<DateTime<Utc>>,
    tasks: Mutex<JoinSet<Result<()>>>,
}

impl RequestState {
    pub(in crate::http) fn new(id: String, source: String, stopwatch: Stopwatch) -> Self {
        let usage = Arc::new(RequestUsage::new(stopwatch));
        Self { usage, id: Some(id), source, ..Self::default() }
    }

    pub(crate) fn of(extensions: &Extensions) -> Arc<Self> {
        extensions.get::<Arc<Self>>().cloned().unwrap_or_default()
    }

    /// Access to the table. Its calls count towards this request's usage.
    pub(crate) fn store(&self, app: &App) -> Store {
        Store::new(app.clone(), self.usage.clone())
    }

    /// Runs `work` concurrently with the handler. The response waits for it.
    // The response must wait, because a Lambda function is frozen once it has responded.
    pub(crate) fn run_alongside(&self, work: impl Future<Output = Result<()>> + Send + 'static) {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).spawn(work);
    }

    pub(in crate::http) async fn finish(&self) {
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for outcome in tasks.join_all().await {
            if let Err(error) = outcome {
                tracing::warn!(target: "request", %error, "background task failed");
            }
        }
    }
}
