//! What is known of a request while it is handled, for its log line and for the answer to its repeats.

use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::http::Extensions;
use tokio::task::JoinSet;

use super::idempotency::RequestIntent;
use crate::app::App;
use crate::domain::account::ResponseRecipient;
use crate::domain::id::CompanyId;
use crate::error::Result;
use crate::store::{KeyedRequest, RequestUsage, Store};

#[derive(Clone, Default)]
pub(crate) struct RequestState(Arc<RequestData>);

#[derive(Default)]
struct RequestData {
    usage: Arc<RequestUsage>,
    source: OnceLock<String>,
    id: OnceLock<String>,
    caller: OnceLock<(CompanyId, ResponseRecipient)>,
    intent: OnceLock<RequestIntent>,
    /// The request by its Idempotency-Key, once a guard has admitted its sender.
    keyed: OnceLock<KeyedRequest>,
    tasks: Mutex<JoinSet<Result<()>>>,
}

impl RequestState {
    pub(crate) fn of(extensions: &Extensions) -> Self {
        extensions.get::<Self>().cloned().unwrap_or_default()
    }

    /// Access to the table that counts towards this request.
    pub(crate) fn store(&self, app: &App) -> Store {
        Store::new(app.clone(), self.0.usage.clone())
    }

    pub(super) fn set_intent(&self, intent: RequestIntent) {
        self.0.intent.get_or_init(|| intent);
    }

    /// The request as one of `sender`, if it has an Idempotency-Key.
    pub(crate) fn keyed_by(&self, sender: &str) -> Option<KeyedRequest> {
        self.0.intent.get().map(|intent| intent.of(sender))
    }

    pub(crate) fn set_keyed(&self, keyed: KeyedRequest) {
        self.0.keyed.get_or_init(|| keyed);
    }

    pub(super) fn keyed(&self) -> Option<&KeyedRequest> {
        self.0.keyed.get()
    }

    pub(crate) fn usage(&self) -> &RequestUsage {
        &self.0.usage
    }

    pub(super) fn set_id(&self, id: String) {
        self.0.id.get_or_init(|| id);
    }

    /// The request's identifier, which its response and its log line have too.
    pub(crate) fn id(&self) -> Option<&String> {
        self.0.id.get()
    }

    pub(super) fn set_source(&self, source: String) {
        self.0.source.get_or_init(|| source);
    }

    /// The network that the request came from, to count its failed logins by; empty when the gateway does not tell.
    pub(crate) fn source(&self) -> &str {
        self.0.source.get().map_or("", String::as_str)
    }

    pub(super) fn caller(&self) -> Option<&(CompanyId, ResponseRecipient)> {
        self.0.caller.get()
    }

    pub(crate) fn set_caller(&self, company: &CompanyId, principal: ResponseRecipient) {
        self.0.caller.get_or_init(|| (company.clone(), principal));
    }

    /// Runs `work` beside the request. The response waits for it.
    pub(crate) fn spawn_after_response(&self, work: impl Future<Output = Result<()>> + Send + 'static) {
        // A Lambda function is frozen once it has answered.
        self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner).spawn(work);
    }

    pub(super) async fn finish(&self) {
        let tasks = std::mem::take(&mut *self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for outcome in tasks.join_all().await {
            if let Err(error) = outcome {
                tracing::warn!(target: "request", %error, "work beside the request failed");
            }
        }
    }
}
