//! The guard of routes that anybody may call.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use chrono::{DateTime, Utc};

use crate::app::App;
use crate::auth::credential::Credential;
use crate::auth::csrf;
use crate::auth::password::Password;
use crate::clock::Entropy;
use crate::config::Config;
use crate::domain::customer::Customer;
use crate::domain::id::CompanyId;
use crate::error::Result;
use crate::http::reference::References;
use crate::http::request::RequestState;
use crate::store::{Session, SessionKind, Store, Versioned};

/// Anybody. Gives no access to the table but through what logging in needs.
pub struct Public {
    /// The moment of the request.
    pub now: DateTime<Utc>,
    store: Store,
    app: App,
    headers: HeaderMap,
}

/// A user who has just proved who they are, and their new session.
pub struct LoggedIn {
    /// The user.
    pub customer: Versioned<Customer>,
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

    /// Begins a session for the active staff user of `company` whose user name or email is `name` and whose password
    /// is `password`; none when there is no such user, and nothing tells which of the three was wrong.
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
        let mut customers = self.store.customers_by_login(company, name).await?;
        customers.retain(|customer| customer.is_active);
        let hashes = customers.iter().map(|customer| customer.password_hash.clone()).collect();
        let Some(index) = password.find(hashes).await? else { return Ok(None) };
        let customer = customers.swap_remove(index);
        let entropy: &dyn Entropy = self.app.entropy();
        let secret = Credential::generate(kind, &customer.company, customer.id, entropy).secret;
        let session = Session::begin(kind, &customer, days, self.now);
        self.store.create_session(&secret, &session).await?;
        Ok(Some(LoggedIn { customer, session, secret }))
    }
}
