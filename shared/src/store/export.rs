//! Access patterns of exports: companies list them, and one worker at a time leases each.

use chrono::{DateTime, Utc};
use futures_util::stream::TryStreamExt as _;

use super::due::{DuePages, DueQueue};
use super::table::handle::Store;
use super::table::item::{DueEntry, StoredEntity, VersionedItem};
use super::table::keys::{self, ItemKey};
use super::table::write::condition::WriteCondition;
use super::table::write::transaction::Transaction;
use crate::domain::effect::Effect;
use crate::domain::export::{CompanyExport, LatestExport};
use crate::domain::history::ResourceChange;
use crate::domain::history::erasure::ErasedItem;
use crate::domain::id::{CompanyId, ExportId};
use crate::error::{Error, Result};

impl StoredEntity for CompanyExport {
    const INTERNAL_FIELDS: &'static [&'static str] = &["attempts", "erased", "work"];

    fn history_change(before: Option<&Self>, after: Option<&Self>) -> Option<ResourceChange> {
        after?.change_since(before?)
    }

    fn key(&self) -> ItemKey {
        keys::export(&self.company, self.id)
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        // An export with work to do, such as files to delete, does not expire.
        self.work.indexed_at().is_none().then(|| self.forgotten_at())
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let shard = DueQueue::Exports.shard_of(self.id);
        Some(DueEntry { shard, at: self.work.indexed_at()?, company: &self.company })
    }
}

impl StoredEntity for LatestExport {
    fn key(&self) -> ItemKey {
        keys::latest_export(&self.company)
    }
}

#[derive(Debug)]
pub struct CompanyExports {
    /// All exports, oldest first, including those that were deleted.
    pub all: Vec<VersionedItem<CompanyExport>>,
    latest: Option<VersionedItem<LatestExport>>,
}

impl Store {
    /// Reads the exports of a company.
    pub async fn exports(&self, company: &CompanyId) -> Result<CompanyExports> {
        // Read the latest export before the others: if another export is requested in between, the request that relies on this read fails.
        let latest = self.one(keys::latest_export(company)).await?;
        let all = self.all_wanted(keys::exports(company), |_| true).await?;
        Ok(CompanyExports { all, latest })
    }

    /// Reads an export; `None` if it does not exist or has expired.
    pub async fn export(
        &self,
        company: &CompanyId,
        export: ExportId,
    ) -> Result<Option<VersionedItem<CompanyExport>>> {
        self.one(keys::export(company, export)).await
    }

    /// Creates an export of a company, and the effects of mails about it. Fails with [`Error::Changed`] if another
    /// export was requested after `exports` were read, and with [`Error::NotFound`] if the company is being erased.
    pub fn create_export(
        &self,
        exports: CompanyExports,
        export: &CompanyExport,
        mails: Vec<Effect>,
    ) -> Transaction {
        let company = &export.company;
        let latest = LatestExport { company: company.clone(), export: export.id };
        let before = exports.latest.unwrap_or_else(|| VersionedItem::not_stored(latest.clone()));
        let mut transaction = self.transaction();
        // A request that was under way when the company's erasure ended all logins must not leave a new export.
        transaction.require(keys::company(company), WriteCondition::Present, Error::NotFound);
        transaction.create(export);
        transaction.save(&before, &latest);
        mails.into_iter().for_each(|mail| transaction.effect(Some(mail)));
        transaction
    }

    /// Exports with work that is due at `now`, and those in progress: a worker is writing them, or they wait for their next attempt.
    pub fn open_exports(&self, now: DateTime<Utc>) -> DuePages<'_, CompanyExport> {
        // All leases and pauses end before this time, even by a clock that is ahead.
        self.due(DueQueue::Exports, now + CompanyExport::LEASE * 2)
    }

    /// The number of archives that workers are writing at `now`, for all companies. The index lags behind the table.
    pub async fn exports_being_written(&self, now: DateTime<Utc>) -> Result<usize> {
        let mut open = self.open_exports(now);
        let mut count = 0;
        while let Some(exports) = open.try_next().await? {
            count += exports.iter().filter(|export| export.is_being_written(now)).count();
        }
        Ok(count)
    }

    /// Replaces `before` by `after`. Fails with [`Error::Changed`] if another worker, an owner or an erasure was faster.
    pub async fn update_export(
        &self,
        before: &VersionedItem<CompanyExport>,
        after: CompanyExport,
    ) -> Result<VersionedItem<CompanyExport>> {
        self.replace(before, after).await
    }

    /// Replaces `before` by `after`, in which the export has ended, and records its event and the effects of mails about it.
    pub fn end_export(
        &self,
        before: &VersionedItem<CompanyExport>,
        after: &CompanyExport,
        mails: Vec<Effect>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        transaction.replace(before, after);
        mails.into_iter().for_each(|mail| transaction.effect(Some(mail)));
        transaction
    }

    /// Withdraws the exports of a company that may hold data of `erased`: deletes those that can be downloaded, and
    /// lets workers finish those in progress without this data. Keeps exports that began after `gone_at`, when the data
    /// was gone. Returns the exports whose files must be deleted.
    pub async fn withdraw_exports(
        &self,
        company: &CompanyId,
        erased: ErasedItem,
        gone_at: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<Vec<ExportId>> {
        let exports = self.all_wanted(keys::exports(company), |_: &CompanyExport| true).await?;
        let mut withdrawn = Vec::new();
        for export in &exports {
            if let Some(after) = CompanyExport::clone(export).after_erasure(erased, gone_at, now) {
                let is_told = after.continues(export);
                self.commit(self.end_export(export, &after, Vec::new())).await?;
                // For an export in progress, keep the files: the worker needs them, and they cannot be downloaded yet.
                withdrawn.extend((!is_told).then_some(export.id));
            } else if export.deleted_at.is_some() && export.work.indexed_at().is_some() {
                // An earlier attempt was interrupted before the files were deleted.
                withdrawn.push(export.id);
            }
        }
        Ok(withdrawn)
    }
}
