//! The operator, whom no credential of the service admits: only IAM lets anybody invoke the admin function.

use std::ops::Deref;
use std::time::Duration;

use super::system::SystemAccess;
use crate::app::App;
use crate::auth::password::Password;
use crate::domain::company::Company;
use crate::domain::company::import::CompanyImport;
use crate::domain::history::ChangeAuthor;
use crate::domain::history::erasure::ErasureRecord;
use crate::domain::id::{CompanyId, ProjectId};
use crate::domain::random::RandomSource;
use crate::domain::secret::PasswordHash;
use crate::error::Result;
use crate::http::reference::ReferenceUris;
use crate::store::{
    COMMAND_PATIENCE, FoundErasures, RecountResult, ReindexResult, ResealResult, VersionedItem,
};

/// Access for the operator of the service: that of the service itself, with the operator as the author of changes.
pub struct OperatorAccess(SystemAccess);

impl Deref for OperatorAccess {
    type Target = SystemAccess;

    fn deref(&self) -> &SystemAccess {
        &self.0
    }
}

impl OperatorAccess {
    /// Acts as the operator, on the word of who may invoke this function.
    pub fn of(app: &App) -> Self {
        Self(SystemAccess::by(ChangeAuthor::Operator, app).with_patience(COMMAND_PATIENCE))
    }

    /// Access for a program that takes longer than a command.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self(self.0.with_patience(patience))
    }

    /// The source of random secrets.
    pub fn entropy(&self) -> &dyn RandomSource {
        self.app.entropy()
    }

    /// Makes the addresses of resources.
    pub fn references(&self) -> ReferenceUris<'_> {
        ReferenceUris::new(self.config())
    }

    /// The hash of a password, to store.
    pub async fn hash(&self, password: Password) -> Result<PasswordHash> {
        password.hash(None, &self.app).await
    }

    pub async fn every_company(&self) -> Result<Vec<VersionedItem<Company>>> {
        self.store.every_company().await
    }

    pub async fn every_company_import(&self) -> Result<Vec<VersionedItem<CompanyImport>>> {
        self.store.every_company_import().await
    }

    /// Recounts a company's tallies, of all projects or of one, and corrects them. Fails with [`crate::Error::Changed`]
    /// when concurrent writes keep changing what is counted.
    pub async fn recount(&self, company: &CompanyId, only: Option<ProjectId>) -> Result<RecountResult> {
        self.store.recount(company, only).await
    }

    /// Looks up the subjects of recorded erasures in a restored table.
    pub async fn find_erased(&self, erasures: Vec<ErasureRecord>) -> Result<FoundErasures> {
        self.store.find_erased(erasures).await
    }

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

    /// Seals again under the current key what the former one has sealed, of all companies.
    pub async fn reseal(&self) -> Result<ResealResult> {
        self.store.reseal().await
    }
}
