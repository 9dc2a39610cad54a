//! Sign-in of staff by their company's provider (OpenID Connect): the settings of the company, and who is admitted.

mod failure;
mod identity;
mod problem;
mod provider;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::history::{EventType, FieldValue, HasHistory, ResourceRef, facts, private};
use crate::id::CompanyId;
use crate::staff::customer::Customer;
use crate::staff::sign_in_link::SignInLink;

pub use failure::SignInFailure;
pub use identity::ProviderIdentity;
pub use problem::{NotedSignInProblem, SignInProblem};
pub use provider::{ClientSecret, MAX_BREAK_GLASS, MAX_DOMAINS, MailDomain, SignInProvider};

/// The maximum lifetime of a session that a sign-in begins.
// If the provider closes the account of a person who leaves, the service learns it only at the next sign-in.
pub const MAX_SESSION: TimeDelta = TimeDelta::hours(12);
/// The maximum age of a session that may change how staff sign in.
pub const MAX_LOGIN_AGE: TimeDelta = TimeDelta::hours(1);

/// The session is too old to change how staff sign in: a session that was left open must not suffice.
pub const LOGIN_TOO_OLD: Refusal = Refusal {
    code: "login_too_old",
    detail: "To change how staff sign in, log in again, and send the request within an hour.",
};
/// Nobody is known to be able to log in once the provider is required.
pub const SIGN_IN_UNTRIED: Refusal = Refusal {
    code: "sign_in_untried",
    detail: "Before you require it, sign in by this provider yourself, or name owners in `break_glass` who may go on with their passwords.",
};
/// The company has no provider.
pub const NO_PROVIDER: Refusal = Refusal {
    code: "sign_in_unavailable",
    detail: "This company has no provider by which staff sign in. Set one with PUT …/sign-in/ first.",
};
/// Another customer is linked to the identity.
pub const SUBJECT_TAKEN: Refusal = Refusal {
    code: "subject_taken",
    detail: "Another customer signs in as this subject. Delete their link first.",
};

/// A company's settings for the sign-in of staff.
// An item of its own: requests of candidates read the company, and need none of these settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInSettings {
    pub company: CompanyId,
    /// `None` if staff log in only with passwords.
    pub provider: Option<SignInProvider>,
    /// When the current client of the current issuer was set; `None` before the first provider. Links that were made before are
    /// void, and sessions that were signed in under another value are revoked.
    // One write voids all of them, however many there are.
    pub links_since: Option<DateTime<Utc>>,
    /// Why nobody could sign in with the current settings of the provider; `None` if no sign-in has met such a problem.
    #[serde(default)]
    pub last_problem: Option<NotedSignInProblem>,
}

impl SignInSettings {
    /// The settings of a company that has never had a provider.
    pub fn none(company: CompanyId) -> Self {
        Self { company, provider: None, links_since: None, last_problem: None }
    }

    /// The provider; `None` if staff cannot sign in by it.
    pub fn working_provider(&self) -> Option<&SignInProvider> {
        self.provider.as_ref().filter(|provider| provider.is_working())
    }

    /// The provider; `None` if staff need not sign in by it.
    pub fn required_provider(&self) -> Option<&SignInProvider> {
        self.working_provider().filter(|provider| provider.required)
    }

    /// Sets the provider at `now`. All links become void, unless issuer and client stay the same.
    pub fn with_provider(&self, provider: SignInProvider, now: DateTime<Utc>) -> Self {
        let is_same = self.provider.as_ref().is_some_and(|before| before.is_same_client(&provider));
        let links_since = self.links_since.filter(|_| is_same).or(Some(now));
        let is_unchanged = self.provider.as_ref() == Some(&provider);
        let last_problem = self.last_problem.filter(|_| is_unchanged);
        Self { company: self.company.clone(), provider: Some(provider), links_since, last_problem }
    }

    /// Removes the provider. All links become void.
    pub fn without_provider(&self) -> Self {
        Self { provider: None, last_problem: None, ..self.clone() }
    }

    /// The link of a customer; `None` if there is none or it is void.
    pub fn link_of<'a>(&self, customer: &'a Customer) -> Option<&'a SignInLink> {
        let provider = self.provider.as_ref()?;
        let since = self.links_since?;
        let is_of_provider =
            |link: &&SignInLink| link.issuer == provider.issuer && link.client_id == provider.client_id;
        customer.sign_in_link.as_ref().filter(is_of_provider).filter(|link| since <= link.linked_at)
    }

    /// Checks that somebody can still log in if the provider is required: the caller, who has signed in with these settings, or
    /// owners with their passwords. Fails with [`SIGN_IN_UNTRIED`].
    pub fn check_required(&self, has_signed_in: bool) -> Result<(), Refusal> {
        let Some(provider) = self.required_provider() else { return Ok(()) };
        if has_signed_in || !provider.break_glass.is_empty() { Ok(()) } else { Err(SIGN_IN_UNTRIED) }
    }

    /// Whether a customer may keep using their password although the provider is required.
    pub fn may_break_glass(&self, customer: &Customer) -> bool {
        let is_named = |provider: &SignInProvider| provider.break_glass.contains(&customer.id);
        customer.is_owner_at_work() && self.provider.as_ref().is_some_and(is_named)
    }

    /// Whether a customer may choose a password and log in with it.
    pub fn allows_password_of(&self, customer: &Customer) -> bool {
        self.required_provider().is_none() || self.may_break_glass(customer)
    }

    /// Whether the company still has the provider by which a session was signed in. `since` is the value of `links_since` at that time.
    pub fn has_links_since(&self, since: DateTime<Utc>) -> bool {
        self.provider.is_some() && self.links_since == Some(since)
    }

    /// Whether a login name is an address in a domain of the required provider, even if no such account exists.
    pub fn requires_provider_of(&self, name: &str) -> bool {
        self.required_provider().is_some_and(|provider| provider.lists(name.trim()))
    }

    /// Allows passwords: the provider stays, but is no longer required.
    pub fn with_passwords_allowed(&self) -> Self {
        let provider = self.provider.clone();
        Self {
            provider: provider.map(|provider| SignInProvider { required: false, ..provider }),
            ..self.clone()
        }
    }
}

facts! {
    /// The facts of the settings of sign-in: values that events about them contain.
    pub struct SignInFacts {
        /// Whether staff can sign in by a provider.
        is_on: bool,
        /// The URL of the provider; null without one.
        issuer: Option<String>,
        /// Whether the first sign-in may use an address that the provider does not call verified.
        trusts_addresses: bool,
        /// Whether staff may sign in only by the provider.
        required: bool,
    }
}

impl HasHistory for SignInSettings {
    const CREATED: EventType = EventType::CompanySignInChanged;
    const UPDATED: Option<EventType> = Some(EventType::CompanySignInChanged);
    const DELETED: Option<EventType> = None;

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::SignIn)
    }

    fn history_fields(&self) -> Vec<(&'static str, FieldValue)> {
        let Self { provider, company: _, links_since: _, last_problem: _ } = self;
        let provider = provider.as_ref();
        let facts = SignInFacts {
            is_on: self.working_provider().is_some(),
            issuer: provider.map(|provider| provider.issuer.as_str().to_owned()),
            trusts_addresses: provider.is_some_and(|provider| provider.trusts_addresses),
            required: provider.is_some_and(|provider| provider.required),
        };
        let others = [
            ("client_id", private(&provider.map(|provider| &provider.client_id))),
            ("client_secret", private(&provider.map(|provider| &provider.client_secret))),
            ("domains", private(&provider.map(|provider| &provider.domains))),
            ("break_glass", private(&provider.map(|provider| &provider.break_glass))),
        ];
        facts.into_fields().into_iter().chain(others).collect()
    }
}
