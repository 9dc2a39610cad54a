//! Passwords that callers choose, and the present ones that they are asked for.

use super::Scope;
use crate::auth::password::Password;
use crate::domain::candidate::Candidate;
use crate::domain::customer::Customer;
use crate::domain::secret::PasswordHash;
use crate::error::Result;
use crate::store::LoginPartition;

impl Scope {
    /// The hash of a customer's password, to store.
    ///
    /// # Errors
    /// [`crate::Error::Internal`].
    pub async fn hash(&self, password: Password) -> Result<PasswordHash> {
        password.hash(None, &self.app).await
    }

    /// The hash of a candidate's password, to store.
    ///
    /// # Errors
    /// [`crate::Error::Busy`] or [`crate::Error::Internal`].
    pub async fn hash_for(&self, candidate: &Candidate, password: Password) -> Result<PasswordHash> {
        let shared = self.store.password_to_share_salt_with(candidate).await?;
        password.hash(shared.as_ref(), &self.app).await
    }

    /// Whether `password` is the present one of a customer. A wrong one counts as a failed login by their user name.
    ///
    /// # Errors
    /// [`crate::Error::Throttled`] after too many failures; [`crate::Error::Busy`] or [`crate::Error::Internal`].
    pub async fn is_password_of(&self, customer: &Customer, password: Password) -> Result<bool> {
        let name = LoginPartition::of(customer.company.as_str(), customer.username.as_str());
        let (_, counted) = self.store.begin_login(&name, self.state.source(), self.now).await?;
        let fits =
            password.find(customer.password_hash.iter().cloned().collect(), &self.app).await?.is_some();
        if fits {
            self.store.end_login(&counted, false).await?;
        }
        Ok(fits)
    }
}
