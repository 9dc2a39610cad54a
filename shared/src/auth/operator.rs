//! The operator, whom no credential of the service admits: only IAM lets anybody invoke the admin function.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use crate::app::App;
use crate::auth::credential::new_one_time_key;
use crate::auth::password::Password;
use crate::config::Config;
use crate::domain::account::CredentialOwner;
use crate::domain::company::Company;
use crate::domain::erasure::ErasureRecord;
use crate::domain::history::{ChangeAuthor, ChangeContext};
use crate::domain::id::{CompanyId, ProjectId};
use crate::domain::secret::{OneTimeKey, PasswordHash};
use crate::error::Result;
use crate::http::reference::ReferenceUris;
use crate::media::ObjectStore;
use crate::store::{
    COMMAND_PATIENCE, FoundErasures, RecountResult, ReindexResult, RequestUsage, Store, Transaction,
    VersionedItem,
};

/// Access for the operator of the service.
pub struct OperatorAccess {
    /// The moment of the command.
    pub now: DateTime<Utc>,
    /// The table.
    pub store: Store,
    app: App,
}

impl OperatorAccess {
    /// Acts as the operator, on the word of who may invoke this function.
    pub fn of(app: &App) -> Self {
        let (store, now) = (Store::new(app.clone(), Arc::new(RequestUsage::default())), app.now());
        let store = store
            .with_patience(COMMAND_PATIENCE)
            .with_origin(ChangeContext::new(ChangeAuthor::Operator, now));
        Self { now, store, app: app.clone() }
    }

    /// Makes the addresses of resources.
    pub fn references(&self) -> ReferenceUris<'_> {
        ReferenceUris::new(self.app.config())
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        self.app.config()
    }

    /// The hash of a password, to store.
    pub async fn hash(&self, password: Password) -> Result<PasswordHash> {
        password.hash(None, &self.app).await
    }

    /// Commits a transaction.
    pub async fn commit(&self, transaction: Transaction) -> Result<()> {
        self.store.commit(transaction).await
    }

    /// A new key for an account to choose a password with: the key itself, for its owner alone, and what is stored of it.
    pub fn new_one_time_key(&self, claim: &CredentialOwner, lifetime: TimeDelta) -> (String, OneTimeKey) {
        new_one_time_key(claim, (self.now, lifetime), self.app.entropy())
    }

    /// Every company.
    pub async fn every_company(&self) -> Result<Vec<VersionedItem<Company>>> {
        self.store.every_company().await
    }

    /// Recounts a company's tallies, of all projects or of one, and corrects them. Fails with [`crate::Error::Changed`]
    /// when concurrent writes keep changing what is counted.
    pub async fn recount(&self, company: &CompanyId, only: Option<ProjectId>) -> Result<RecountResult> {
        self.store.recount(company, only).await
    }

    /// The bucket.
    pub fn objects(&self) -> Result<ObjectStore<'_>> {
        ObjectStore::of(&self.app)
    }

    /// Looks up the subjects of recorded erasures in a restored table.
    pub async fn find_erased(&self, erasures: Vec<ErasureRecord>) -> Result<FoundErasures> {
        self.store.find_erased(erasures).await
    }

    /// Has the outbox erase again what a restored table and bucket may hold of subjects that do not exist.
    pub async fn erase_rests(&self, erasures: &[ErasureRecord]) -> Result<()> {
        self.store.erase_rests(erasures, self.now).await
    }

    /// Deletes again what was erased before, with everything that follows from it; whether it was there. Fails with
    /// [`crate::Error::Changed`] when concurrent writes keep changing it, and is refused when no owner would be left.
    pub async fn erase_again(&self, erasure: &ErasureRecord) -> Result<bool> {
        self.store.erase_again(erasure, self.now).await
    }

    /// Rebuilds the search entries of a company from its candidates. Fails with [`crate::Error::Changed`] when
    /// concurrent writes keep changing one of them.
    pub async fn reindex(&self, company: &CompanyId) -> Result<ReindexResult> {
        self.store.reindex(company).await
    }
}
