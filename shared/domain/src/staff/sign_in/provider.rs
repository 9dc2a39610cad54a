//! The provider by which the staff of a company sign in.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::CustomerId;
use crate::issuer::IssuerUrl;
use crate::secret::Sealed;
use crate::staff::sign_in_link::SignInLink;
use crate::staff::trust::ClaimText;

/// The maximum number of domains that a company lists.
pub const MAX_DOMAINS: usize = 20;
/// The maximum number of owners who may keep using their passwords.
pub const MAX_BREAK_GLASS: usize = 2;
/// The maximum length of a domain name, in bytes.
const MAX_DOMAIN: usize = 253;
/// The maximum length of a label of a domain, in bytes.
const MAX_LABEL: usize = 63;
/// The maximum length of a client secret, in characters.
const MAX_SECRET: usize = 1000;

/// The domain of email addresses, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("maxLength" = MAX_DOMAIN, "examples" = ["acme.example"]))]
#[serde(try_from = "String")]
pub struct MailDomain(String);

impl MailDomain {
    /// Parses a domain, such as `acme.example`. The error is a message for the client.
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

    /// Whether an address is in this domain itself, not in a subdomain.
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

/// The secret with which the service authenticates at the provider.
#[derive(Clone, PartialEq, Eq, JsonSchema)]
#[schemars(inline, extend("minLength" = 1, "maxLength" = MAX_SECRET))]
pub struct ClientSecret(String);

impl ClientSecret {
    /// Parses a secret. The error is a message for the client.
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
    /// The identifier of the service at the provider.
    pub client_id: ClaimText,
    /// `None` after an import: nobody can sign in until an owner sets the secret again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<Sealed>,
    /// The domains whose addresses link an account at the first sign-in.
    pub domains: BTreeSet<MailDomain>,
    /// Whether the first sign-in may use an address that the provider does not call verified.
    pub trusts_addresses: bool,
    /// Whether staff may sign in only by the provider.
    pub required: bool,
    /// Owners who may keep using their passwords, as long as they are owners.
    // Customers instead of addresses, which would outlive the customers here.
    pub break_glass: BTreeSet<CustomerId>,
}

impl SignInProvider {
    /// Whether staff can sign in by the provider.
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
