//! The operator, whom no credential of the service admits: only IAM lets anybody invoke the admin function.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::app::App;
use crate::auth::credential::new_one_time_key;
use crate::auth::password::Password;
use crate::config::Config;
use crate::domain::account::Claim;
use crate::domain::company::Company;
use crate::domain::erasure::Erasure;
use crate::domain::id::{CompanyId, ProjectId};
use crate::domain::secret::{OneTimeKey, PasswordHash};
use crate::error::Result;
use crate::http::reference::References;
use crate::media::Objects;
use crate::store::{Recount, Reindexed, Store, Transaction, Usage, Versioned};

/// How long the storage may be busy before a command is given up; the function has fifteen minutes.
const PATIENCE: Duration = Duration::from_secs(14 * 60);

/// Whoever operates the service.
pub struct Operator {
    /// The moment of the command.
    pub now: DateTime<Utc>,
    /// The table.
    pub store: Store,
    app: App,
}

impl Operator {
    /// Acts as the operator, on the word of who may invoke this function.
    pub fn of(app: &App) -> Self {
        let store = Store::new(app.clone(), Arc::new(Usage::default())).with_patience(PATIENCE);
        Self { now: app.now(), store, app: app.clone() }
    }

    /// Makes the addresses of resources.
    pub fn references(&self) -> References<'_> {
        References::new(self.app.config())
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        self.app.config()
    }

    /// The hash of a password, to store.
    ///
    /// # Errors
    /// [`crate::Error::Internal`].
    pub async fn hash(&self, password: Password) -> Result<PasswordHash> {
        password.hash(None, &self.app).await
    }

    /// Commits a transaction.
    ///
    /// # Errors
    /// Those that the transaction's conditions mean.
    pub async fn commit(&self, transaction: Transaction) -> Result<()> {
        self.store.commit(transaction).await
    }

    /// A new key for an account to choose a password with: the key itself, for its owner alone, and what is stored of it.
    pub fn new_one_time_key(&self, claim: &Claim, lifetime: TimeDelta) -> (String, OneTimeKey) {
        new_one_time_key(claim, (self.now, lifetime), self.app.entropy())
    }

    /// Every company.
    ///
    /// # Errors
    /// [`crate::Error::Busy`] or [`crate::Error::Internal`].
    pub async fn every_company(&self) -> Result<Vec<Versioned<Company>>> {
        self.store.every_company().await
    }

    /// Counts again what a company's tallies count, those of all projects or of one, and mends what does not agree.
    ///
    /// # Errors
    /// Messages on `company` and `project` when there is none; [`crate::Error::Changed`] when somebody keeps changing
    /// what is counted.
    pub async fn recount(&self, company: &CompanyId, only: Option<ProjectId>) -> Result<Recount> {
        self.store.recount(company, only).await
    }

    /// The bucket.
    ///
    /// # Errors
    /// [`crate::Error::Internal`] when no setting names it.
    pub fn objects(&self) -> Result<Objects<'_>> {
        Objects::of(&self.app)
    }

    /// Those of `erasures` whose subject stands in the table all the same.
    ///
    /// # Errors
    /// [`crate::Error::Busy`] or [`crate::Error::Internal`].
    pub async fn undone(&self, erasures: Vec<Erasure>) -> Result<Vec<Erasure>> {
        self.store.undone(erasures).await
    }

    /// Deletes what was erased before, with everything that follows from it; whether it was there.
    ///
    /// # Errors
    /// [`crate::Error::Changed`] when somebody keeps changing it; [`LAST_OWNER`] when no owner would be left.
    ///
    /// [`LAST_OWNER`]: crate::domain::customer::LAST_OWNER
    pub async fn erase_again(&self, erasure: &Erasure) -> Result<bool> {
        self.store.erase_again(erasure, self.now).await
    }

    /// Makes the search entries of a company what follows from its candidates.
    ///
    /// # Errors
    /// A message on `company` when there is none; [`crate::Error::Changed`] when somebody keeps changing one of the
    /// candidates.
    pub async fn reindex(&self, company: &CompanyId) -> Result<Reindexed> {
        self.store.reindex(company).await
    }
}
