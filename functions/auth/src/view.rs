//! What logging in takes and shows.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::Serialize;
use shared::auth::credential::COOKIE;
use shared::auth::password::Password;
use shared::auth::policy::Action;
use shared::config::Config;
use shared::domain::customer::Customer;
use shared::http::Fields;
use shared::http::reference::References;
use shared::http::respond::timestamp;
use shared::http::view::CustomerView;
use shared::store::{Session, SessionKind};
use shared::{Error, Result};

/// The most characters of a user name or company in a login; longer ones lead nowhere.
const MAX_NAME: usize = 254;

/// The body of a login.
pub(crate) struct Login {
    /// A user name or an email address.
    pub(crate) username: String,
    pub(crate) password: Password,
    pub(crate) company: String,
    /// Days that the token is to live, instead of by being used.
    pub(crate) days: Option<u8>,
}

impl Login {
    /// Reads a login that begins a session by cookie.
    pub(crate) fn read(body: Fields) -> Result<Self> {
        Self::read_with(body, |_| None)
    }

    /// Reads a login that begins a session by token, whose life may be extended.
    pub(crate) fn read_for_token(body: Fields) -> Result<Self> {
        Self::read_with(body, |body| {
            let days = body.clearable_integer("extended_expiration_period", 1, 30)?;
            days.and_then(|days| u8::try_from(days).ok())
        })
    }

    fn read_with(mut body: Fields, days: impl FnOnce(&mut Fields) -> Option<u8>) -> Result<Self> {
        let username = body.required("username", name);
        let password = body.required("password", Password::attempt);
        let company = body.required("company", name);
        let days = days(&mut body);
        body.finish()?;
        match (username, password, company) {
            (Some(username), Some(password), Some(company)) => Ok(Self { username, password, company, days }),
            _ => Err(Error::internal("a required field was neither read nor refused")),
        }
    }
}

fn name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("This field may not be blank.".to_owned()),
        name if name.chars().count() > MAX_NAME => {
            Err(format!("Ensure this field has no more than {MAX_NAME} characters."))
        }
        name => Ok(name.to_owned()),
    }
}

/// A new token.
#[derive(Serialize)]
pub(crate) struct TokenView {
    pub(crate) token: String,
}

/// Who is calling, by what right, for how long.
#[derive(Serialize)]
pub(crate) struct WhoAmIView {
    company: String,
    kind: &'static str,
    resource: CustomerView,
    permissions: Vec<&'static str>,
    token: SessionView,
    on_behalf_by: Option<String>,
}

#[derive(Serialize)]
struct SessionView {
    kind: SessionKind,
    expires_at: String,
}

impl WhoAmIView {
    /// The view of a staff user's session that ends at `ends` unless it is used.
    pub(crate) fn new(
        customer: &Customer,
        session: &Session,
        ends: DateTime<Utc>,
        references: References<'_>,
    ) -> Self {
        let everywhere = BTreeSet::new();
        let allowed =
            Action::ALL.iter().filter(|action| action.is_allowed(customer.account_type, &everywhere));
        Self {
            company: references.company(&customer.company),
            kind: "customer",
            resource: CustomerView::new(customer, references),
            permissions: allowed.map(|action| action.as_str()).collect(),
            token: SessionView { kind: session.kind, expires_at: timestamp(ends) },
            on_behalf_by: None,
        }
    }
}

/// The Set-Cookie value that hands a session's secret to the browser.
pub(crate) fn cookie(secret: &str, config: &Config) -> String {
    format!("{COOKIE}={secret}; {}", attributes(config))
}

/// The Set-Cookie value that makes the browser forget the session.
pub(crate) fn expired_cookie(config: &Config) -> String {
    format!("{COOKIE}=; Max-Age=0; {}", attributes(config))
}

fn attributes(config: &Config) -> String {
    let url = &config.base_url;
    // Only a server on the same machine may be spoken to in the clear.
    let is_loopback = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    let secure = if url.scheme() == "http" && is_loopback { "" } else { "Secure; " };
    format!("HttpOnly; {secure}SameSite=Lax; Path={}", url.path())
}
