//! What surrounds every request: its path made canonical, its cost and outcome logged in one line.

use std::future::Future;
use std::str::FromStr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use lambda_http::request::RequestContext;
use tokio::task::JoinSet;

use super::idempotency::Intent;
use super::mounts;
use super::tag::Condition;
use crate::app::App;
use crate::domain::account::Principal;
use crate::domain::id::CompanyId;
use crate::error::{Cause, Error, Result};
use crate::store::{Held, KeyedRequest, Store, Usage};

/// The header that carries the request's identifier, which is also in its log line.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What is known of a request while it is handled.
#[derive(Clone, Default)]
pub(crate) struct RequestState(Arc<Inner>);

#[derive(Default)]
struct Inner {
    usage: Arc<Usage>,
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

    /// Notes who is calling, for the log.
    pub(crate) fn set_caller(&self, company: &CompanyId, principal: Principal) {
        self.0.caller.get_or_init(|| (company.clone(), principal));
    }

    /// Does `work` beside the request; the response waits for it, since nothing runs after a Lambda has answered.
    pub(crate) fn beside(&self, work: impl Future<Output = Result<()>> + Send + 'static) {
        self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner).spawn(work);
    }

    async fn finish(&self) {
        let tasks = std::mem::take(&mut *self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for outcome in tasks.join_all().await {
            if let Err(error) = outcome {
                tracing::warn!(target: "request", %error, "work beside the request failed");
            }
        }
    }
}

/// The URI as the client sent it, before its path was made canonical.
#[derive(Clone)]
struct SentUri(Uri);

/// Serves `/x` as `/x/`.
pub(super) fn with_final_slash(mut request: Request) -> Request {
    let uri = request.uri().clone();
    request.extensions_mut().insert(SentUri(uri.clone()));
    if !uri.path().ends_with('/') {
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        let path = PathAndQuery::from_str(&format!("{}/{query}", uri.path()));
        let mut parts = uri.into_parts();
        parts.path_and_query = path.ok().or(parts.path_and_query);
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
        }
    }
    request
}

/// Answers what no route of this group matches.
///
/// Behind the gateway's `$default` route that may be the root of another group, written with a final slash that the
/// gateway could not match: then the form without it is the way there.
pub(super) async fn unknown_route(State(app): State<App>, request: Request) -> Response {
    let base = &app.config().base_url;
    let sent = request.extensions().get::<SentUri>().map_or_else(|| request.uri(), |sent| &sent.0);
    let root = sent.path().strip_suffix('/').and_then(|path| path.strip_prefix(base.path()));
    let Some(root) = root.filter(|root| mounts::is_mounted(root)) else {
        return Error::NotFound.into_response();
    };
    let query = sent.query().map(|query| format!("?{query}")).unwrap_or_default();
    match HeaderValue::from_str(&format!("{base}{root}{query}")) {
        Ok(location) => (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, location)]).into_response(),
        Err(_) => Error::NotFound.into_response(),
    }
}

/// Gives the request its state, and its response the headers and the log line that all have.
pub(super) async fn observe(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let state = RequestState::default();
    request.extensions_mut().insert(state.clone());
    let request_id =
        gateway_request_id(&request).unwrap_or_else(|| app.ids().next::<Body>(app.now()).to_string());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next.run(request).await;
    state.finish().await;
    let headers = response.headers_mut();
    headers.extend(HeaderValue::from_str(&request_id).ok().map(|id| (REQUEST_ID, id)));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !app.config().allowed_origins.is_empty() {
        // The gateway lets the page read the answer, or does not.
        headers.append(header::VARY, HeaderValue::from_static("origin"));
    }
    // Answers depend on who asks, and much of them is personal.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("private, no-store"));
    let usage = &state.0.usage;
    let (company, caller) =
        state.0.caller.get().map(|(c, who)| (c.as_str(), who.to_string())).unwrap_or_default();
    tracing::info!(
        target: "request",
        request_id,
        %method,
        route = route.as_ref().map_or("unknown", |route| route.as_str()),
        status = response.status().as_u16(),
        milliseconds = usage.elapsed().as_secs_f64() * 1000.0,
        dynamodb_calls = usage.calls(),
        read_units = usage.read_units(),
        write_units = usage.write_units(),
        cold_start = u8::from(app.is_cold()),
        company,
        caller,
        cause = response.extensions().get::<Cause>().map(|cause| &*cause.0),
    );
    response
}

/// The identifier that API Gateway gave the request, which is in the gateway's own log as well.
fn gateway_request_id(request: &Request) -> Option<String> {
    match request.extensions().get::<RequestContext>()? {
        RequestContext::ApiGatewayV2(context) => context.request_id.clone(),
        _ => None,
    }
}
