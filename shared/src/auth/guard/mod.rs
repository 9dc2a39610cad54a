//! Guards: a handler's argument that has authenticated the caller, authorised the action and loaded what it is about.
//!
//! A guard makes one round trip: the credential itself tells the keys of session and user, the path those of the rest.

mod beside;
mod candidate;
mod company;
mod operator;
mod project;
mod public;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use chrono::{DateTime, Utc};

pub use beside::{Beside, CandidatePage};
pub use candidate::OnCandidate;
pub use company::{InCompany, WhoAmI};
pub use operator::Operator;
pub use project::{InProject, OnProject};
pub use public::{LoggedIn, Public};

use super::caller::Caller;
use super::credential::{Credential, REJECTED};
use super::{csrf, policy};
use crate::app::App;
use crate::config::Config;
use crate::domain::id::{CompanyId, InvalidId};
use crate::error::{Error, Result};
use crate::http::reference::References;
use crate::http::request::RequestState;
use crate::store::{Batch, Key, SessionKind, Store};

/// What every guard hands to its handler.
pub struct Scope {
    /// Who is calling.
    pub caller: Caller,
    /// The moment of the request.
    pub now: DateTime<Utc>,
    /// The table.
    pub store: Store,
    app: App,
}

impl Scope {
    /// The company of the caller, which is that of the path.
    pub fn company(&self) -> &CompanyId {
        self.caller.company()
    }

    /// Makes and reads the addresses of resources.
    pub fn references(&self) -> References<'_> {
        References::new(self.app.config())
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        self.app.config()
    }

    /// Ends the session that the request came with.
    ///
    /// # Errors
    /// [`Error::Busy`] or [`Error::Internal`].
    pub async fn end_session(&self) -> Result<()> {
        self.store.end_session(&self.caller.session_key).await
    }
}

/// A request before it is authenticated: what it claims, and what it names.
struct Request<'a> {
    parts: &'a Parts,
    app: &'a App,
    path: Vec<(String, String)>,
    store: Store,
}

impl<'a> Request<'a> {
    async fn new(parts: &'a mut Parts, app: &'a App) -> Result<Self> {
        let params = RawPathParams::from_request_parts(parts, app).await;
        let path = match &params {
            Ok(params) => params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            // Nothing has such a path; but only who is authenticated is told so.
            Err(RawPathParamsRejection::InvalidUtf8InPathParam(_)) => Vec::new(),
            Err(_) => return Err(Error::internal("a guard on a route without path parameters")),
        };
        let store = RequestState::of(parts).store(app);
        Ok(Self { parts, app, path, store })
    }

    /// The identifier in a segment of the path.
    fn id<T: std::str::FromStr<Err = InvalidId>>(&self, name: &str) -> Result<T, InvalidId> {
        let found = self.path.iter().find(|(key, _)| key == name);
        found.ok_or(InvalidId)?.1.parse()
    }

    /// Authenticates the caller and reads, in the same round trip, what stands under `more` keys.
    ///
    /// The path must be of the caller's own company if it names one; what it cannot name does not exist.
    async fn admit(&self, more: Result<Vec<Key>, InvalidId>) -> Result<(Scope, Batch)> {
        let credential = Credential::from_headers(&self.parts.headers)?;
        if credential.kind == SessionKind::Cookie && !self.parts.method.is_safe() {
            csrf::check(&self.parts.headers, self.app.config())?;
        }
        let caller_keys =
            crate::store::caller_keys(&credential.secret, &credential.company, credential.customer);
        let keys = caller_keys.clone().into_iter().chain(more.clone().unwrap_or_default());
        let mut batch = self.store.get(keys).await?;
        let now = self.app.now();
        let caller = self.authenticate(&credential, &mut batch, &caller_keys, now)?;
        let names_other_company =
            self.path.iter().any(|(name, value)| name == "companyId" && value != caller.company().as_str());
        if names_other_company || more.is_err() {
            return Err(Error::NotFound);
        }
        Ok((Scope { caller, now, store: self.store.clone(), app: self.app.clone() }, batch))
    }

    fn authenticate(
        &self,
        credential: &Credential,
        batch: &mut Batch,
        [session_key, customer_key]: &[Key; 2],
        now: DateTime<Utc>,
    ) -> Result<Caller> {
        let rejected = || Error::Unauthenticated(REJECTED);
        let session = batch.take_session(session_key)?.ok_or_else(rejected)?;
        let customer = batch.take::<crate::domain::customer::Customer>(customer_key)?.ok_or_else(rejected)?;
        let idle_minutes = self.app.config().session_idle_minutes;
        let is_alive = session.kind == credential.kind
            && session.company == credential.company
            && session.customer == customer.id
            && session.epoch == customer.session_epoch
            && customer.is_active
            && now < session.expires_at(idle_minutes);
        if !is_alive {
            return Err(rejected());
        }
        RequestState::of(self.parts).set_caller(&session.company, customer.id);
        let mut caller = Caller {
            session_ends: session.expires_at(idle_minutes),
            session_key: session_key.clone(),
            customer,
            session,
        };
        if caller.session.is_due_to_slide(idle_minutes, now) {
            caller.session.used_at = now;
            caller.session_ends = caller.session.expires_at(idle_minutes);
            let (store, key) = (self.store.clone(), session_key.clone());
            RequestState::of(self.parts).beside(async move { store.slide_session(&key, now).await });
        }
        Ok(caller)
    }
}

/// Refuses a caller who may not take `action`, though they may know of what it is about.
fn require(allowed: bool) -> Result<()> {
    if allowed { Ok(()) } else { Err(Error::Forbidden(policy::NOT_ALLOWED)) }
}
