//! The identity that a provider asserts, and the customer whom it admits.

use chrono::{DateTime, Utc};

use super::SignInSettings;
use crate::id::CustomerId;
use crate::issuer::VerifiedJwt;
use crate::staff::customer::{Customer, CustomerStatus};
use crate::staff::sign_in_link::SignInLink;
use crate::staff::trust::ClaimText;

/// Google's issuer. Its accounts may have addresses of any domain.
const GOOGLE: &str = "https://accounts.google.com";

/// The identity that a provider asserts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderIdentity {
    /// The claim `sub`.
    pub subject: ClaimText,
    email: Option<String>,
    is_email_verified: bool,
    /// The domain of the Google organisation that the account belongs to (`hd`).
    hosted_domain: Option<String>,
}

impl ProviderIdentity {
    /// The identity in the claims of an ID token; `None` without a subject.
    pub fn of(jwt: &VerifiedJwt) -> Option<Self> {
        let text = |name| jwt.text(name).map(str::to_owned);
        Some(Self {
            subject: ClaimText::try_from(text("sub")?).ok()?,
            email: text("email"),
            // The standard requires a boolean, so the string "true" does not count.
            is_email_verified: jwt.is_true("email_verified"),
            hosted_domain: text("hd"),
        })
    }
}

impl SignInSettings {
    /// Finds the customer whom an identity admits; `None` if it admits none of `customers`. Never creates an account.
    ///
    /// If a customer is linked to the subject, only the link counts, whatever the address. Without a link, a verified address in
    /// a listed domain counts, if exactly one account has confirmed it or was invited there.
    pub fn find_customer<'a>(
        &self,
        identity: &ProviderIdentity,
        customers: impl Iterator<Item = &'a Customer> + Clone,
    ) -> Option<CustomerId> {
        let is_linked = |customer: &&Customer| {
            self.link_of(customer).is_some_and(|link| link.subject == identity.subject)
        };
        let mut linked = customers.clone().filter(is_linked);
        if let Some(customer) = linked.next() {
            // If two accounts have the same subject, admit neither.
            let may_enter = linked.next().is_none() && customer.is_active;
            return may_enter.then_some(customer.id);
        }
        let address = self.address_of(identity)?;
        let mut found = customers.filter(|customer| customer.email.as_str().eq_ignore_ascii_case(address));
        let customer = found.next()?;
        // Another subject with the address of a linked account may be the successor of its holder, so it is refused.
        let may_enter = found.next().is_none() && customer.is_active && self.link_of(customer).is_none();
        may_enter.then_some(customer.id)
    }

    /// The address that finds the account at the first sign-in; `None` if the identity's address is not acceptable.
    fn address_of<'a>(&self, identity: &'a ProviderIdentity) -> Option<&'a str> {
        let provider = self.provider.as_ref()?;
        let address = identity.email.as_deref().filter(|address| provider.lists(address))?;
        let is_believed = identity.is_email_verified || provider.trusts_addresses;
        // Google verifies addresses of any domain, and people may keep an address after they have left the organisation.
        let is_of_organisation = provider.issuer.as_str() != GOOGLE
            || identity.hosted_domain.as_ref().is_some_and(|hosted| {
                provider.domains.iter().any(|domain| domain.as_str().eq_ignore_ascii_case(hosted))
            });
        (is_believed && is_of_organisation).then_some(address)
    }
}

impl Customer {
    /// Links the customer to the identity that they sign in as at `now`, and accepts a pending invitation.
    pub fn sign_in_as(mut self, link: SignInLink, now: DateTime<Utc>) -> Self {
        self.sign_in_link = Some(link);
        if self.status == CustomerStatus::Invited {
            self.status = CustomerStatus::Confirmed;
            self.confirmed_at = Some(now);
            self.one_time_key = None;
        }
        self
    }

    /// Links the customer to an identity. Revokes their sessions, unless they are already linked to it.
    pub fn set_sign_in_link(self, link: SignInLink) -> Self {
        if self.sign_in_link.as_ref() == Some(&link) {
            return self;
        }
        Self { sign_in_link: Some(link), ..self.remove_sign_in_link() }
    }

    /// Unlinks the customer and revokes their sessions.
    pub fn remove_sign_in_link(mut self) -> Self {
        self.sign_in_link = None;
        self.with_sessions_ended()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issuer::IssuerUrl;
    use crate::outgoing::AllowedTargets;
    use crate::samples;
    use crate::staff::sign_in::{MailDomain, SignInProvider};

    fn address_by(issuer: &str, hosted_domain: Option<&str>) -> bool {
        let provider = SignInProvider {
            issuer: IssuerUrl::parse(issuer, AllowedTargets::Public).unwrap(),
            client_id: ClaimText::parse("interviews").unwrap(),
            client_secret: None,
            domains: [MailDomain::parse("acme.example").unwrap()].into(),
            trusts_addresses: false,
            required: false,
            break_glass: [].into(),
        };
        let none = SignInSettings::none(samples::company().id);
        let settings = none.with_provider(provider, DateTime::UNIX_EPOCH);
        let identity = ProviderIdentity {
            subject: ClaimText::parse("1").unwrap(),
            email: Some("ada@acme.example".to_owned()),
            is_email_verified: true,
            hosted_domain: hosted_domain.map(str::to_owned),
        };
        settings.address_of(&identity).is_some()
    }

    #[test]
    fn google_vouches_for_its_organisations_alone() {
        assert!(address_by(GOOGLE, Some("acme.example")));
        assert!(address_by(GOOGLE, Some("ACME.example")));
        assert!(!address_by(GOOGLE, Some("elsewhere.example")));
        assert!(!address_by(GOOGLE, None));
        assert!(address_by("https://login.acme.example", None));
    }
}
