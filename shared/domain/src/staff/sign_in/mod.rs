//! Sign-in of staff by their company's provider (OpenID Connect): the settings of the company, the link of a customer to an identity at
//! the provider, and who gets in.

mod admission;
mod problem;
mod required;

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::history::{EventType, FieldValue, HasHistory, ResourceRef, facts, private};
use crate::id::{CompanyId, CustomerId};
use crate::issuer::IssuerUrl;
use crate::secret::Sealed;
use crate::staff::customer::Customer;
use crate::staff::sign_in_link::SignInLink;
use crate::staff::trust::ClaimText;

pub use admission::ProviderIdentity;
pub use problem::{NotedSignInProblem, SignInProblem};

/// The most domains of addresses that a company lists.
pub const MAX_DOMAINS: usize = 20;
/// The most owners who may go on with their passwords.
pub const MAX_BREAK_GLASS: usize = 2;
/// The longest life of a session that a sign-in begins.
// The service learns only at the next sign-in that the provider has closed the account of a leaver.
pub const MAX_SESSION: TimeDelta = TimeDelta::hours(12);
/// The greatest age of a session that changes how staff sign in.
pub const MAX_LOGIN_AGE: TimeDelta = TimeDelta::hours(1);
/// The most bytes of the name of a domain.
const MAX_DOMAIN: usize = 253;
/// The most bytes of a label of a domain.
const MAX_LABEL: usize = 63;
/// The most characters of a client secret.
const MAX_SECRET: usize = 1000;

/// The session that changes how staff sign in is too old: one that was left open must not be enough.
pub const LOGIN_TOO_OLD: Refusal = Refusal {
    code: "login_too_old",
    detail: "To change how staff sign in, log in again, and send the request within an hour.",
};
/// Nobody has proved yet that the provider lets them in.
pub const SIGN_IN_UNTRIED: Refusal = Refusal {
    code: "sign_in_untried",
    detail: "Before you require it, sign in by this provider yourself, or name owners in `break_glass` who may go on with their passwords.",
};
/// The company has no provider.
pub const NO_PROVIDER: Refusal = Refusal {
    code: "sign_in_unavailable",
    detail: "This company has no provider by which staff sign in. Set one with PUT …/sign-in/ first.",
};
/// Another customer is linked with the identity.
pub const SUBJECT_TAKEN: Refusal = Refusal {
    code: "subject_taken",
    detail: "Another customer signs in as this subject. Delete their link first.",
};

/// The domain of email addresses, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("maxLength" = MAX_DOMAIN, "examples" = ["acme.example"]))]
#[serde(try_from = "String")]
pub struct MailDomain(String);

impl MailDomain {
    /// Parses a domain, such as `acme.example`. Fails with what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let name = text.to_ascii_lowercase();
        let is_label = |label: &str| {
            (1..=MAX_LABEL).contains(&label.len())
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        let is_name = name.len() <= MAX_DOMAIN && name.contains('.') && name.split('.').all(is_label);
        if is_name { Ok(Self(name)) } else { Err("Enter a domain such as acme.example.".to_owned()) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether an address is of this domain itself, not of one below it.
    pub fn has(&self, address: &str) -> bool {
        address.rsplit_once('@').is_some_and(|(_, domain)| domain.eq_ignore_ascii_case(&self.0))
    }
}

impl TryFrom<String> for MailDomain {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

/// The secret by which the service authenticates at the provider.
#[derive(Clone, PartialEq, Eq, JsonSchema)]
#[schemars(inline, extend("minLength" = 1, "maxLength" = MAX_SECRET))]
pub struct ClientSecret(String);

impl ClientSecret {
    /// Parses a secret. Fails with what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_secret =
            (1..=MAX_SECRET).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        match is_secret {
            true => Ok(Self(text.to_owned())),
            false => Err(format!("Enter 1 to {MAX_SECRET} visible ASCII characters.")),
        }
    }

    /// The secret, to be sealed or sent to the provider.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// The provider that staff of a company sign in by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInProvider {
    pub issuer: IssuerUrl,
    /// The name of the service at the provider.
    pub client_id: ClaimText,
    /// `None` if the settings came with an archive: nobody signs in until an owner sets the secret again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<Sealed>,
    /// The domains whose addresses link an account at the first sign-in.
    pub domains: BTreeSet<MailDomain>,
    /// Whether addresses count that the provider does not call verified.
    pub trusts_addresses: bool,
    /// Whether staff may sign in by the provider alone.
    pub required: bool,
    /// Owners who may go on with their passwords while they are owners.
    // Customers and not their addresses, which would outlive them here.
    pub break_glass: BTreeSet<CustomerId>,
}

impl SignInProvider {
    /// Whether staff can sign in by it.
    pub fn is_working(&self) -> bool {
        self.client_secret.is_some()
    }

    /// Whether both have the same issuer and client, so that a subject is the same person at both.
    pub fn is_same_client(&self, other: &Self) -> bool {
        self.issuer == other.issuer && self.client_id == other.client_id
    }

    /// A link to a subject at the provider, made at `now`.
    pub fn link_to(&self, subject: ClaimText, now: DateTime<Utc>) -> SignInLink {
        let Self { issuer, client_id, .. } = self.clone();
        SignInLink { issuer, client_id, subject, linked_at: now }
    }

    /// Whether an address is in a listed domain.
    pub fn lists(&self, address: &str) -> bool {
        self.domains.iter().any(|domain| domain.has(address))
    }
}

/// The settings of the sign-in of a company's staff.
// An item of its own: requests of candidates read the company, and need none of this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInSettings {
    pub company: CompanyId,
    /// `None` if staff log in with passwords alone.
    pub provider: Option<SignInProvider>,
    /// Links from before have ended; `None` before the first provider.
    // One write ends them all, however many there are.
    pub links_since: Option<DateTime<Utc>>,
    /// Why nobody could sign in by the provider as it is set; `None` if no such problem was met.
    #[serde(default)]
    pub last_problem: Option<NotedSignInProblem>,
}

impl SignInSettings {
    /// The settings of a company that has never had a provider.
    pub fn none(company: CompanyId) -> Self {
        Self { company, provider: None, links_since: None, last_problem: None }
    }

    /// The provider by which staff can sign in.
    pub fn working_provider(&self) -> Option<&SignInProvider> {
        self.provider.as_ref().filter(|provider| provider.is_working())
    }

    /// The provider by which staff have to sign in.
    pub fn required_provider(&self) -> Option<&SignInProvider> {
        self.working_provider().filter(|provider| provider.required)
    }

    /// The settings with this provider, from `now` on. Links end unless it is the same client of the same issuer.
    pub fn with_provider(&self, provider: SignInProvider, now: DateTime<Utc>) -> Self {
        let is_same = self.provider.as_ref().is_some_and(|before| before.is_same_client(&provider));
        let links_since = self.links_since.filter(|_| is_same).or(Some(now));
        let is_unchanged = self.provider.as_ref() == Some(&provider);
        let last_problem = self.last_problem.filter(|_| is_unchanged);
        Self { company: self.company.clone(), provider: Some(provider), links_since, last_problem }
    }

    /// The settings without a provider. All links end.
    pub fn without_provider(&self) -> Self {
        Self { provider: None, last_problem: None, ..self.clone() }
    }

    /// The link of a customer, unless it has ended.
    pub fn link_of<'a>(&self, customer: &'a Customer) -> Option<&'a SignInLink> {
        let provider = self.provider.as_ref()?;
        let since = self.links_since?;
        let is_of_provider =
            |link: &&SignInLink| link.issuer == provider.issuer && link.client_id == provider.client_id;
        customer.sign_in_link.as_ref().filter(is_of_provider).filter(|link| since <= link.linked_at)
    }

    /// Refuses to require the provider unless somebody is known to get in: the caller, who has signed in by it as it is set, or owners with
    /// their passwords.
    pub fn check_required(&self, has_signed_in: bool) -> Result<(), Refusal> {
        let Some(provider) = self.required_provider() else { return Ok(()) };
        if has_signed_in || !provider.break_glass.is_empty() { Ok(()) } else { Err(SIGN_IN_UNTRIED) }
    }

    /// Whether a customer may go on with their password although the provider is required.
    pub fn may_break_glass(&self, customer: &Customer) -> bool {
        let is_named = |provider: &SignInProvider| provider.break_glass.contains(&customer.id);
        customer.is_owner_at_work() && self.provider.as_ref().is_some_and(is_named)
    }
}

/// The reason why a sign-in by a company's provider began no session. There are few reasons, so that strangers learn nothing about the
/// company and its staff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInFailure {
    /// The company has no provider, or does not exist.
    Unavailable,
    /// The provider does not answer, or not as a provider does.
    Unreachable,
    /// The sign-in began more than ten minutes ago, in another browser, or has ended already.
    Expired,
    /// The provider has refused, or has named nobody whom the company lets in.
    Refused,
    /// The browser is logged in as a candidate, or to another company.
    Occupied,
    /// Too many sign-ins to the company have failed within 15 minutes.
    Limited,
}

impl SignInFailure {
    /// Every reason.
    pub const ALL: [Self; 6] =
        [Self::Unavailable, Self::Unreachable, Self::Expired, Self::Refused, Self::Occupied, Self::Limited];

    /// The code, which the page for people has in its address.
    pub fn as_str(self) -> &'static str {
        self.refusal().code
    }

    /// The refusal for clients that accept JSON alone.
    pub fn refusal(self) -> Refusal {
        match self {
            Self::Unavailable => Refusal {
                code: "sign_in_unavailable",
                detail: "This company has no provider by which staff sign in. Log in with your password.",
            },
            Self::Unreachable => Refusal {
                code: "sign_in_unreachable",
                detail: "The provider of your company's accounts does not answer as it should. Try again in a few minutes.",
            },
            Self::Expired => Refusal {
                code: "sign_in_expired",
                detail: "This sign-in has expired, has ended, or began in another browser. Begin again.",
            },
            Self::Refused => Refusal {
                code: "sign_in_refused",
                detail: "Your company's account does not let you in here. Try again, or ask whoever manages the staff of your company.",
            },
            Self::Occupied => Refusal {
                code: "sign_in_occupied",
                detail: "Another account is logged in in this browser. Log out, and begin again.",
            },
            Self::Limited => Refusal {
                code: "sign_in_limited",
                detail: "Too many sign-ins have failed. Try again in 15 minutes.",
            },
        }
    }
}

facts! {
    /// The facts of the settings of sign-in.
    pub struct SignInFacts {
        /// Whether staff can sign in by a provider.
        is_on: bool,
        /// The issuer; null without a provider.
        issuer: Option<String>,
        /// Whether addresses count that the provider does not call verified.
        trusts_addresses: bool,
        /// Whether staff may sign in by the provider alone.
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
