//! Guards: a handler's argument that has authenticated the caller, authorised the action and loaded what it is about.
//!
//! A guard makes one round trip: the credential itself tells the keys of session and user, the path those of the rest.

mod beside;
mod candidate;
mod company;
mod once;
mod operator;
mod project;
mod public;
mod system;
mod whoami;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use chrono::{DateTime, TimeDelta, Utc};

pub use beside::{Beside, CandidatePage};
pub use candidate::OnCandidate;
pub use company::InCompany;
pub use once::{Progress, Turn};
pub use operator::Operator;
pub use project::{InProject, OnProject};
pub use public::{LoggedIn, Public};
pub use system::System;
pub use whoami::{AsCandidate, WhoAmI};

use super::caller::{Caller, Identity, LiveSession, Proof};
use super::credential::{Credential, Means, REJECTED};
use super::password::Password;
use super::{csrf, policy};
use crate::app::App;
use crate::config::Config;
use crate::domain::Refusal;
use crate::domain::account::Account;
use crate::domain::id::{CandidateId, CompanyId, InvalidId, ProjectId};
use crate::domain::secret::{AccessKey, PasswordHash};
use crate::error::{Error, Result};
use crate::http::reference::References;
use crate::http::request::RequestState;
use crate::store::{Batch, Key, SessionKind, Store, keys};

/// The request came with a credential that is no session.
const NO_SESSION: Refusal =
    Refusal { code: "no_session", detail: "An activation key is no session and cannot be ended." };

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

    /// How long ago the request came.
    pub fn age(&self) -> TimeDelta {
        self.app.now() - self.now
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        self.app.config()
    }

    /// A new key for a candidate to act by without a password.
    pub fn new_access_key(&self, project: ProjectId, candidate: CandidateId) -> AccessKey {
        let account = Account::Candidate { project, candidate };
        let key = Credential::generate(Means::AccessKey, self.company(), account, self.app.entropy());
        AccessKey::new(key.secret)
    }

    /// The hash of a password, to store.
    ///
    /// # Errors
    /// [`Error::Internal`].
    pub async fn hash(&self, password: Password) -> Result<PasswordHash> {
        password.hash(self.app.entropy()).await
    }

    /// Ends the session that the request came with.
    ///
    /// # Errors
    /// [`Error::Refused`] when it came with no session; [`Error::Busy`] or [`Error::Internal`].
    pub async fn end_session(&self) -> Result<()> {
        match &self.caller.proof {
            Proof::Session(live) => self.store.end_session(&live.key).await,
            Proof::AccessKey => Err(NO_SESSION.into()),
        }
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
        if credential.means == Means::Session(SessionKind::Cookie) && !self.parts.method.is_safe() {
            csrf::check(&self.parts.headers, self.app.config())?;
        }
        let session =
            matches!(credential.means, Means::Session(_)).then(|| keys::session(&credential.secret));
        let account = keys::account(&credential.company, credential.account);
        let own = session.into_iter().chain([account]);
        let mut batch = self.store.get(own.chain(more.clone().unwrap_or_default())).await?;
        let now = self.app.now();
        let caller = self.authenticate(&credential, &mut batch, now)?;
        let names_other_company =
            self.path.iter().any(|(name, value)| name == "companyId" && value != caller.company().as_str());
        if names_other_company || more.is_err() {
            return Err(Error::NotFound);
        }
        Ok((Scope { caller, now, store: self.store.clone(), app: self.app.clone() }, batch))
    }

    fn authenticate(&self, credential: &Credential, batch: &mut Batch, now: DateTime<Utc>) -> Result<Caller> {
        let rejected = || Error::Unauthenticated(REJECTED);
        let key = keys::account(&credential.company, credential.account);
        let identity = match credential.account {
            Account::Customer { .. } => Identity::Customer(batch.take(&key)?.ok_or_else(rejected)?),
            Account::Candidate { .. } => Identity::Candidate(batch.take(&key)?.ok_or_else(rejected)?),
        };
        let proof = match credential.means {
            Means::Session(kind) => self.session(kind, credential, batch, &identity, now)?,
            Means::AccessKey => {
                let is_good = matches!(&identity, Identity::Candidate(candidate)
                    if candidate.may_use_key(now)
                        && candidate.access_key.as_ref().is_some_and(|key| key.is(&credential.secret)));
                is_good.then_some(Proof::AccessKey)
            }
        };
        let proof = proof.ok_or_else(rejected)?;
        RequestState::of(self.parts).set_caller(&credential.company, credential.account);
        Ok(Caller { identity, proof })
    }

    /// The session behind a credential, if it is alive; using it keeps it alive.
    fn session(
        &self,
        kind: SessionKind,
        credential: &Credential,
        batch: &mut Batch,
        identity: &Identity,
        now: DateTime<Utc>,
    ) -> Result<Option<Proof>> {
        let key = keys::session(&credential.secret);
        let Some(mut session) = batch.take_session(&key)? else { return Ok(None) };
        let idle_minutes = self.app.config().session_idle_minutes;
        let is_alive = session.kind == kind
            && session.company == credential.company
            && session.account == credential.account
            && identity.session_epoch() == Some(session.epoch)
            && now < session.expires_at(idle_minutes);
        if !is_alive {
            return Ok(None);
        }
        if session.is_due_to_slide(idle_minutes, now) {
            session.used_at = now;
            let (store, key) = (self.store.clone(), key.clone());
            RequestState::of(self.parts).beside(async move { store.slide_session(&key, now).await });
        }
        Ok(Some(Proof::Session(LiveSession { ends: session.expires_at(idle_minutes), session, key })))
    }
}

/// Refuses a caller who may not take `action`, though they may know of what it is about.
fn require(allowed: bool) -> Result<()> {
    if allowed { Ok(()) } else { Err(Error::Forbidden(policy::NOT_ALLOWED)) }
}
