//! What is known of a request while it is handled.

use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::extract::Request;
use axum::http::request::Parts;
use tokio::task::JoinSet;

use super::condition::Condition;
use super::intent::Intent;
use crate::app::App;
use crate::domain::account::Principal;
use crate::domain::id::CompanyId;
use crate::error::{Error, Result};
use crate::store::{Held, KeyedRequest, Store, Usage};

/// What is known of a request while it is handled.
#[derive(Clone, Default)]
pub(crate) struct RequestState {
    whole: Arc<Whole>,
    attempt: Arc<Attempt>,
}

/// What is known of all attempts at a request together.
#[derive(Default)]
struct Whole {
    usage: Arc<Usage>,
    /// The network that the request came from.
    source: OnceLock<String>,
    caller: OnceLock<(CompanyId, Principal)>,
    tasks: Mutex<JoinSet<Result<()>>>,
}

/// What is known of one attempt at a request.
#[derive(Default)]
struct Attempt {
    /// What names the request, if its sender does.
    intent: OnceLock<Intent>,
    /// The same, once the guard has let its sender in.
    keyed: OnceLock<KeyedRequest>,
    /// Where its transaction waits for its answer.
    held: OnceLock<Held>,
    /// What it makes a change depend on.
    condition: OnceLock<Condition>,
    /// An earlier attempt met the condition and has done a part of the work.
    is_under_way: bool,
    /// The revision of the item that the request is about.
    subject: OnceLock<u64>,
    /// The session that sees the answer, which may hold addresses of files for it alone.
    viewer: OnceLock<String>,
}

impl RequestState {
    /// The state of the request with these parts.
    pub(crate) fn of(parts: &Parts) -> Self {
        parts.extensions.get::<Self>().cloned().unwrap_or_default()
    }

    /// The state of this request.
    pub(super) fn in_request(request: &Request) -> Self {
        request.extensions().get::<Self>().cloned().unwrap_or_default()
    }

    /// The state of another attempt at the same request; `is_under_way` when the last one has done a part of the work.
    pub(super) fn again(&self, is_under_way: bool) -> Self {
        let attempt = Attempt { is_under_way, ..Attempt::default() };
        Self { whole: self.whole.clone(), attempt: Arc::new(attempt) }
    }

    /// Access to the table that counts towards this request.
    pub(crate) fn store(&self, app: &App) -> Store {
        Store::new(app.clone(), self.whole.usage.clone()).holding(self.attempt.held.get().cloned())
    }

    /// Lets the request's transaction wait for its answer, and tells where.
    pub(super) fn hold(&self) -> Held {
        self.attempt.held.get_or_init(Held::default).clone()
    }

    /// Notes what names the request.
    pub(super) fn set_intent(&self, intent: Intent) {
        self.attempt.intent.get_or_init(|| intent);
    }

    /// The request as one of `sender`, if that names it.
    pub(crate) fn keyed_by(&self, sender: &str) -> Option<KeyedRequest> {
        self.attempt.intent.get().map(|intent| intent.of(sender))
    }

    /// Notes that the sender of a named request has been let in.
    pub(crate) fn set_keyed(&self, keyed: KeyedRequest) {
        self.attempt.keyed.get_or_init(|| keyed);
    }

    /// What names the request, if its sender does and has been let in.
    pub(super) fn keyed(&self) -> Option<&KeyedRequest> {
        self.attempt.keyed.get()
    }

    /// Notes what the request makes a change depend on.
    pub(super) fn set_condition(&self, condition: Option<Condition>) {
        if let Some(condition) = condition {
            self.attempt.condition.get_or_init(|| condition);
        }
    }

    /// Notes the revision of the item that the request is about.
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`] when the request is for another one.
    pub(crate) fn set_subject(&self, revision: u64) -> Result<()> {
        self.attempt.subject.get_or_init(|| revision);
        match self.attempt.condition.get() {
            Some(condition) if !self.attempt.is_under_way && !condition.is_of(revision) => {
                Err(Error::PreconditionFailed)
            }
            _ => Ok(()),
        }
    }

    /// The revision of the item that the request is about, before it changes anything.
    pub(super) fn subject(&self) -> Option<u64> {
        self.attempt.subject.get().copied()
    }

    /// Notes which session sees the answer.
    pub(crate) fn set_viewer(&self, viewer: String) {
        self.attempt.viewer.get_or_init(|| viewer);
    }

    /// Which session sees the answer; empty when the answer is the same for everybody.
    pub(super) fn viewer(&self) -> &str {
        self.attempt.viewer.get().map_or("", String::as_str)
    }

    /// What the request has used of the table so far.
    pub(super) fn usage(&self) -> &Usage {
        &self.whole.usage
    }

    /// Notes the network that the request came from.
    pub(super) fn set_source(&self, source: String) {
        self.whole.source.get_or_init(|| source);
    }

    /// The network that the request came from, to count its failed logins by; empty when the gateway does not tell.
    pub(crate) fn source(&self) -> &str {
        self.whole.source.get().map_or("", String::as_str)
    }

    /// Who is calling, if a guard has found that out.
    pub(super) fn caller(&self) -> Option<&(CompanyId, Principal)> {
        self.whole.caller.get()
    }

    /// Notes who is calling, for the log.
    pub(crate) fn set_caller(&self, company: &CompanyId, principal: Principal) {
        self.whole.caller.get_or_init(|| (company.clone(), principal));
    }

    /// Does `work` beside the request; the response waits for it, since nothing runs after a Lambda has answered.
    pub(crate) fn beside(&self, work: impl Future<Output = Result<()>> + Send + 'static) {
        self.whole.tasks.lock().unwrap_or_else(PoisonError::into_inner).spawn(work);
    }

    /// Waits for all that was to be done beside the request.
    pub(super) async fn finish(&self) {
        let tasks = std::mem::take(&mut *self.whole.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for outcome in tasks.join_all().await {
            if let Err(error) = outcome {
                tracing::warn!(target: "request", %error, "work beside the request failed");
            }
        }
    }
}
