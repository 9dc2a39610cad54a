//! Access for operators. They have no credential of the service: IAM decides who may invoke the admin function.

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

/// The access of the service itself, but with the operator as the author of changes.
pub struct OperatorAccess(SystemAccess);

impl Deref for OperatorAccess {
    type Target = SystemAccess;

    fn deref(&self) -> &SystemAccess {
        &self.0
    }
}

impl OperatorAccess {
    /// Acts as the operator. IAM has decided who may invoke this function.
    pub fn of(app: &App) -> Self {
        Self(SystemAccess::by(ChangeAuthor::Operator, app).with_patience(COMMAND_PATIENCE))
    }

    /// The same access with a longer `patience`, for programs that take longer than a command.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self(self.0.with_patience(patience))
    }

    /// The source of random secrets.
    pub fn entropy(&self) -> &dyn RandomSource {
        self.app.entropy()
    }

    /// Makes the URLs of resources.
    pub fn references(&self) -> ReferenceUris<'_> {
        ReferenceUris::new(self.config())
    }

    /// Hashes a new password.
    pub async fn hash(&self, password: Password) -> Result<PasswordHash> {
        password.hash(None, &self.app).await
    }

    pub async fn every_company(&self) -> Result<Vec<VersionedItem<Company>>> {
        self.store.every_company().await
    }

    pub async fn every_company_import(&self) -> Result<Vec<VersionedItem<CompanyImport>>> {
        self.store.every_company_import().await
    }

    /// Recounts and corrects the counts of a company, or of one of its projects. Fails with [`crate::Error::Changed`]
    /// if concurrent writes keep changing the counted items.
    pub async fn recount(&self, company: &CompanyId, only: Option<ProjectId>) -> Result<RecountResult> {
        self.store.recount(company, only).await
    }

    /// Looks up which of the recorded erasures a restore of the table has undone.
    pub async fn find_erased(&self, erasures: Vec<ErasureRecord>) -> Result<FoundErasures> {
        self.store.find_erased(erasures).await
    }

    pub async fn erase_rests(&self, erasures: &[ErasureRecord]) -> Result<()> {
        self.store.erase_rests(erasures, self.now).await
    }

    /// Repeats an erasure after a restore of the table, with all its effects. Returns whether the erased item existed.
    /// Fails with [`crate::Error::Changed`] if concurrent writes keep changing the item, and with a refusal if the
    /// company would lose its last owner.
    pub async fn erase_again(&self, erasure: &ErasureRecord) -> Result<bool> {
        self.store.erase_again(erasure, self.now).await
    }

    /// Rebuilds the search entries of a company from its candidates. Fails with [`crate::Error::Changed`] if concurrent
    /// writes keep changing a candidate.
    pub async fn reindex(&self, company: &CompanyId) -> Result<ReindexResult> {
        self.store.reindex(company).await
    }

    /// Reseals, in all companies, the values sealed by the former key with the current one.
    pub async fn reseal(&self) -> Result<ResealResult> {
        self.store.reseal().await
    }
}
