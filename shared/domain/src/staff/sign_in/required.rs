//! Companies whose staff sign in by their provider alone.

use chrono::{DateTime, Utc};

use super::{SignInProvider, SignInSettings};
use crate::staff::customer::Customer;

impl SignInSettings {
    /// Whether a customer may log in with a password, and choose one.
    pub fn allows_password_of(&self, customer: &Customer) -> bool {
        self.required_provider().is_none() || self.may_break_glass(customer)
    }

    /// Whether the company still has the provider by which somebody signed in when links counted `since` this moment.
    pub fn has_links_since(&self, since: DateTime<Utc>) -> bool {
        self.provider.is_some() && self.links_since == Some(since)
    }

    /// Whether a login name is an address in a domain of the required provider, whether or not such an account exists.
    pub fn requires_provider_of(&self, name: &str) -> bool {
        self.required_provider().is_some_and(|provider| provider.lists(name.trim()))
    }

    /// The settings with passwords allowed: the provider stays, and is no longer required.
    pub fn with_passwords_allowed(&self) -> Self {
        let provider = self.provider.clone();
        Self {
            provider: provider.map(|provider| SignInProvider { required: false, ..provider }),
            ..self.clone()
        }
    }
}
