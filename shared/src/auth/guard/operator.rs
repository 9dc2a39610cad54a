//! The operator, whom no credential of the service admits: only IAM lets anybody invoke the admin function.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::app::App;
use crate::auth::password::Password;
use crate::domain::company::Company;
use crate::domain::customer::Customer;
use crate::domain::id::{CompanyId, Id};
use crate::domain::secret::PasswordHash;
use crate::domain::sender::Sender;
use crate::error::{Error, Result};
use crate::http::reference::References;
use crate::store::{Store, Usage};

/// Whoever operates the service.
pub struct Operator {
    /// The moment of the command.
    pub now: DateTime<Utc>,
    store: Store,
    app: App,
}

impl Operator {
    /// Acts as the operator, on the word of who may invoke this function.
    pub fn of(app: &App) -> Self {
        let store = Store::new(app.clone(), Arc::new(Usage::default()));
        Self { now: app.now(), store, app: app.clone() }
    }

    /// Makes the addresses of resources.
    pub fn references(&self) -> References<'_> {
        References::new(self.app.config())
    }

    /// A new identifier.
    pub fn next_id<T>(&self) -> Id<T> {
        self.store.next_id(self.now)
    }

    /// The hash of a password, to store.
    ///
    /// # Errors
    /// [`crate::Error::Internal`].
    pub async fn hash(&self, password: Password) -> Result<PasswordHash> {
        password.hash(self.app.entropy()).await
    }

    /// Creates a company and its first owner.
    ///
    /// # Errors
    /// Messages by field for what is taken.
    pub async fn create_company(&self, company: &Company, owner: &Customer) -> Result<()> {
        self.store.create_company(company, owner).await
    }

    /// Creates a customer of an existing company.
    ///
    /// # Errors
    /// Messages by field for what is taken or missing.
    pub async fn create_customer(&self, customer: &Customer) -> Result<()> {
        self.store.create_customer(customer, self.now).await
    }

    /// Makes `senders` all that mails in the name of an existing company may come from.
    ///
    /// # Errors
    /// A message on `company` when there is none; [`Error::Changed`] when somebody changes the company at this moment.
    pub async fn verify_senders(&self, company: &CompanyId, senders: Vec<Sender>) -> Result<()> {
        let missing = || Error::field("company", "There is no such company.");
        let before = self.store.company(company).await?.ok_or_else(missing)?;
        if before.verified_senders == senders {
            return Ok(());
        }
        let after = Company { verified_senders: senders, ..Company::clone(&before) };
        self.store.update_company(&before, &after).await
    }
}
