//! The guard of routes that anybody may call.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use chrono::{DateTime, Utc};

use crate::app::App;
use crate::auth::caller::Identity;
use crate::auth::credential::{Credential, Means};
use crate::auth::csrf;
use crate::auth::password::Password;
use crate::clock::Entropy;
use crate::config::Config;
use crate::domain::id::CompanyId;
use crate::domain::project::Project;
use crate::error::Result;
use crate::http::reference::References;
use crate::http::request::RequestState;
use crate::store::{Session, SessionKind, Store, Versioned, keys};

/// Anybody. Gives no access to the table but through what logging in needs.
pub struct Public {
    /// The moment of the request.
    pub now: DateTime<Utc>,
    store: Store,
    app: App,
    headers: HeaderMap,
}

/// Somebody who has just proved who they are, and their new session.
pub struct LoggedIn {
    /// Who it is.
    pub identity: Identity,
    /// The session.
    pub session: Session,
    /// The secret that its holder presents from now on.
    pub secret: String,
}

impl FromRequestParts<App> for Public {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let store = RequestState::of(parts).store(app);
        Ok(Self { now: app.now(), store, app: app.clone(), headers: parts.headers.clone() })
    }
}

impl Public {
    /// Makes and reads the addresses of resources.
    pub fn references(&self) -> References<'_> {
        References::new(self.app.config())
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        self.app.config()
    }

    /// Refuses a request that another web site makes a browser send.
    ///
    /// # Errors
    /// [`crate::Error::Forbidden`].
    pub fn check_csrf(&self) -> Result<()> {
        csrf::check(&self.headers, self.app.config())
    }

    /// Begins a session for the active staff user, or the candidate, of `company` whose user name or email is `name` and
    /// whose password is `password`; none when there is nobody such, and nothing tells which of the three was wrong.
    ///
    /// # Errors
    /// [`crate::Error::Busy`] or [`crate::Error::Internal`].
    pub async fn log_in(
        &self,
        company: Option<&CompanyId>,
        name: &str,
        password: Password,
        kind: SessionKind,
        days: Option<u8>,
    ) -> Result<Option<LoggedIn>> {
        let found = self.store.accounts_by_login(company, name).await?;
        let customers = found.customers.into_iter().map(Identity::Customer);
        // Where one password fits several, staff come first, then the latest project.
        let mut identities: Vec<Identity> =
            customers.chain(found.candidates.into_iter().map(Identity::Candidate)).collect();
        identities
            .retain(|identity| identity.session_epoch().is_some() && identity.password_hash().is_some());
        let hashes = identities.iter().map(|identity| identity.password_hash().cloned()).collect();
        let Some(index) = password.find(hashes).await? else { return Ok(None) };
        let identity = identities.swap_remove(index);
        let (Some(company), Some(epoch)) = (company, identity.session_epoch()) else { return Ok(None) };
        let account = identity.account();
        let entropy: &dyn Entropy = self.app.entropy();
        let secret = Credential::generate(Means::Session(kind), company, account, entropy).secret;
        let session = Session::begin(kind, company.clone(), (account, epoch), days, self.now);
        self.store.create_session(&secret, &session).await?;
        Ok(Some(LoggedIn { identity, session, secret }))
    }

    /// The project that somebody who has logged in takes part in as a candidate.
    ///
    /// # Errors
    /// [`crate::Error::Busy`] or [`crate::Error::Internal`].
    pub async fn project_of(&self, logged_in: &LoggedIn) -> Result<Option<Versioned<Project>>> {
        match &logged_in.identity {
            Identity::Customer(_) => Ok(None),
            Identity::Candidate(candidate) => {
                let key = keys::project(&candidate.company, candidate.project);
                self.store.get([key.clone()]).await?.take(&key)
            }
        }
    }
}
