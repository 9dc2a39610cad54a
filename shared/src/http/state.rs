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
pub(crate) struct RequestState(Arc<Inner>);

#[derive(Default)]
struct Inner {
    usage: Arc<Usage>,
    /// The network that the request came from.
    source: OnceLock<String>,
    caller: OnceLock<(CompanyId, Principal)>,
    tasks: Mutex<JoinSet<Result<()>>>,
    /// What names the request, if its sender does.
    intent: OnceLock<Intent>,
    /// The same, once the guard has let its sender in.
    keyed: OnceLock<KeyedRequest>,
    /// Where its transaction waits for its answer.
    held: OnceLock<Held>,
    /// What it makes a change depend on.
    condition: OnceLock<Condition>,
    /// The version of the item that it is about.
    subject: OnceLock<u64>,
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

    /// Access to the table that counts towards this request.
    pub(crate) fn store(&self, app: &App) -> Store {
        Store::new(app.clone(), self.0.usage.clone()).holding(self.0.held.get().cloned())
    }

    /// Lets the request's transaction wait for its answer, and tells where.
    pub(super) fn hold(&self) -> Held {
        self.0.held.get_or_init(Held::default).clone()
    }

    /// Notes what names the request.
    pub(super) fn set_intent(&self, intent: Intent) {
        self.0.intent.get_or_init(|| intent);
    }

    /// The request as one of `sender`, if that names it.
    pub(crate) fn keyed_by(&self, sender: &str) -> Option<KeyedRequest> {
        self.0.intent.get().map(|intent| intent.of(sender))
    }

    /// Notes that the sender of a named request has been let in.
    pub(crate) fn set_keyed(&self, keyed: KeyedRequest) {
        self.0.keyed.get_or_init(|| keyed);
    }

    /// What names the request, if its sender does and has been let in.
    pub(super) fn keyed(&self) -> Option<&KeyedRequest> {
        self.0.keyed.get()
    }

    /// Notes what the request makes a change depend on.
    pub(super) fn set_condition(&self, condition: Option<Condition>) {
        if let Some(condition) = condition {
            self.0.condition.get_or_init(|| condition);
        }
    }

    /// Notes the version of the item that the request is about.
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`] when the request is for another one.
    pub(crate) fn set_subject(&self, version: u64) -> Result<()> {
        self.0.subject.get_or_init(|| version);
        match self.0.condition.get() {
            Some(condition) if !condition.is_of(version) => Err(Error::PreconditionFailed),
            _ => Ok(()),
        }
    }

    /// The version of the item that the request is about, before it changes anything.
    pub(super) fn subject(&self) -> Option<u64> {
        self.0.subject.get().copied()
    }

    /// Whether the request has changed anything.
    pub(super) fn has_committed(&self) -> bool {
        self.0.usage.commits() > 0
    }

    /// What the request has used of the table so far.
    pub(super) fn usage(&self) -> &Usage {
        &self.0.usage
    }

    /// Notes the network that the request came from.
    pub(super) fn set_source(&self, source: String) {
        self.0.source.get_or_init(|| source);
    }

    /// The network that the request came from, to count its failed logins by; empty when the gateway does not tell.
    pub(crate) fn source(&self) -> &str {
        self.0.source.get().map_or("", String::as_str)
    }

    /// Who is calling, if a guard has found that out.
    pub(super) fn caller(&self) -> Option<&(CompanyId, Principal)> {
        self.0.caller.get()
    }

    /// Notes who is calling, for the log.
    pub(crate) fn set_caller(&self, company: &CompanyId, principal: Principal) {
        self.0.caller.get_or_init(|| (company.clone(), principal));
    }

    /// Does `work` beside the request; the response waits for it, since nothing runs after a Lambda has answered.
    pub(crate) fn beside(&self, work: impl Future<Output = Result<()>> + Send + 'static) {
        self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner).spawn(work);
    }

    /// Waits for all that was to be done beside the request.
    pub(super) async fn finish(&self) {
        let tasks = std::mem::take(&mut *self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for outcome in tasks.join_all().await {
            if let Err(error) = outcome {
                tracing::warn!(target: "request", %error, "work beside the request failed");
            }
        }
    }
}
