//! Writes the records of an archive as the items of a company.
//!
//! Until the company opens, only the import writes its items, and keeps them out of the index by due date. After the
//! opening, a write may add an item to the index; scheduled functions skip it until the company starts. A repeated
//! import leaves existing items unchanged.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::{ArchivedCounts, ImportedRecord};
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::company::import::CompanyImport;
use crate::domain::history::HistoryEntry;
use crate::domain::id::CompanyId;
use crate::domain::privacy::receipt::ImportedReceiptKey;
use crate::domain::project::Project;
use crate::domain::staff::named_token::NamedToken;
use crate::domain::webhook::{DeliveryCursor, Webhook};
use crate::error::{Error, Result};
use crate::store::candidate::share::share_notes;
use crate::store::history::EventSequence;
use crate::store::table::handle::Store;
use crate::store::table::item::{self, Item, StoredEntity, VersionedItem, number};
use crate::store::table::keys::{self, DUE, ItemKey};
use crate::store::table::write::condition::WriteCondition;
use crate::store::table::write::transaction::Transaction;
use crate::store::upkeep::recount::RecountResult;

impl<T> VersionedItem<T> {
    /// The item of a value from another deployment, with the version, revision and event version that it has there.
    pub(super) fn imported(value: T, version: u64, revision: u64, event_version: Option<u64>) -> Result<Self>
    where
        T: StoredEntity,
    {
        let mut stored = item::write(&value, version)?;
        if revision != version {
            stored.insert(item::REVISION.to_owned(), number(revision));
        }
        stored.extend(event_version.map(|event| (item::EVENT_VERSION.to_owned(), number(event))));
        item::read(stored)
    }

    /// The item with another value, but the same version, revision and event version.
    pub(super) fn with_value(&self, value: T) -> Result<Self>
    where
        T: StoredEntity,
    {
        Self::imported(value, self.version(), self.revision(), self.event_version())
    }

    /// The item without the attributes that put it into the index by due date.
    fn at_rest(&self) -> Item {
        let mut item = self.stored().clone();
        item.retain(|name, _| name != DUE.pk && name != DUE.sk);
        item
    }
}

impl VersionedItem<HistoryEntry> {
    /// The event of an erasure, with the receipt that the deployment of its origin has signed.
    pub fn with_receipt(&self, jws: String) -> Result<Self> {
        self.with_value(HistoryEntry { receipt: Some(jws), ..HistoryEntry::clone(self) })
    }
}

impl StoredEntity for CompanyImport {
    fn key(&self) -> ItemKey {
        keys::company_import(&self.company)
    }
}

impl StoredEntity for ImportedReceiptKey {
    fn key(&self) -> ItemKey {
        keys::receipt_keys(&self.company).key(self.key.thumbprint())
    }
}

impl Store {
    /// Reads the import of a company; `None` if it was never imported.
    pub async fn company_import(&self, company: &CompanyId) -> Result<Option<VersionedItem<CompanyImport>>> {
        self.one(keys::company_import(company)).await
    }

    /// Whether a company was imported and has not started yet.
    pub async fn awaits_start(&self, company: &CompanyId) -> Result<bool> {
        Ok(self.company_import(company).await?.is_some_and(|import| import.awaits_start()))
    }

    /// Returns those of the `companies` that were imported and have not started yet.
    pub(in crate::store) async fn awaiting_start(
        &self,
        mut companies: BTreeSet<CompanyId>,
    ) -> Result<BTreeSet<CompanyId>> {
        if companies.is_empty() {
            return Ok(companies);
        }
        // Eventual consistency is enough: the import's item exists before its other items, and a start that is noticed
        // late only delays work.
        let imports: Vec<ItemKey> = companies.iter().map(keys::company_import).collect();
        let mut batch = self.get_that_may_lag(imports).await?;
        let mut waiting = BTreeSet::new();
        while let Some(company) = companies.pop_first() {
            let read = batch.take::<CompanyImport>(&keys::company_import(&company));
            // Treat an import that cannot be read as waiting: it must not hold up other companies.
            let waits = match item::or_skipped(read)? {
                Some(import) => import.is_some_and(|import| import.awaits_start()),
                None => true,
            };
            if waits {
                waiting.insert(company);
            }
        }
        Ok(waiting)
    }

    /// Begins the import of a company. Fails with a message on `company` if a company with this identifier exists, or was erased recently.
    pub async fn begin_company_import(
        &self,
        import: CompanyImport,
        now: DateTime<Utc>,
    ) -> Result<VersionedItem<CompanyImport>> {
        let mut transaction = self.transaction();
        transaction.require_free_name(&import.company, now);
        let exists = Error::field("company", "This company already exists.");
        transaction.require(keys::company(&import.company), WriteCondition::Absent, exists);
        transaction.create_unless(&import, || Error::Changed);
        self.commit(transaction).await?;
        item::first(import)
    }

    /// Stores a record of a company that has not opened, unless an earlier attempt has.
    /// [`open_company`](Self::open_company) stores the record of the company itself. Counts can only be stored after
    /// their project.
    pub async fn import_record(
        &self,
        company: &CompanyId,
        record: &ImportedRecord,
        now: DateTime<Utc>,
    ) -> Result<()> {
        match record {
            ImportedRecord::Answers(one) => self.put_imported(one).await,
            ImportedRecord::Candidate(one) => self.import_candidate(one).await,
            ImportedRecord::AnswerCaptions(one) => self.put_imported(one).await,
            ImportedRecord::Captions(one) => self.put_imported(one).await,
            ImportedRecord::Company(_) => Ok(()),
            ImportedRecord::Counts(counts) => self.import_counts(company, counts).await,
            ImportedRecord::Customer(one) => {
                let mut transaction = self.importing(&**one);
                transaction.customer_logins(None, Some(one), now);
                self.commit_import(transaction).await
            }
            ImportedRecord::Evaluation(one) => self.put_imported(one).await,
            ImportedRecord::Event(one) => self.put_imported(&**one).await,
            ImportedRecord::GuestLink(one) => self.put_imported(&**one).await,
            ImportedRecord::Label(one) => {
                let mut transaction = self.importing(one);
                transaction.label_text(None, Some(one));
                self.commit_import(transaction).await
            }
            ImportedRecord::LegalText(one) => self.put_imported(one).await,
            ImportedRecord::Logo(one) => self.put_imported(one).await,
            ImportedRecord::Project(one) => self.import_project(one).await,
            ImportedRecord::Questionnaire(one) => self.put_imported(one).await,
            ImportedRecord::Retention(one) => self.put_imported(one).await,
            ImportedRecord::SignIn(one) => self.put_imported(&**one).await,
            ImportedRecord::Token(one) => self.import_token(one).await,
            // `finish_storing` stores the usage, with the event sequence.
            ImportedRecord::Usage(_) => Ok(()),
            ImportedRecord::Video(one) => self.put_imported(&**one).await,
            ImportedRecord::Webhook(one) => self.put_imported(&**one).await,
            ImportedRecord::WrittenAnswer(one) => self.put_imported(one).await,
        }
    }

    /// Stores the cursor of an imported webhook, to which the events up to number `after` have been sent, unless an earlier attempt has.
    pub async fn import_cursor(&self, webhook: &Webhook, after: u64, now: DateTime<Utc>) -> Result<()> {
        self.create_unless_there(DeliveryCursor::at_rest(webhook.id, webhook.company.clone(), after, now))
            .await
    }

    /// Stores a key that verifies receipts of the company.
    pub async fn import_receipt_key(&self, key: ImportedReceiptKey) -> Result<()> {
        self.put_imported(&item::first(key)?).await
    }

    /// The keys that were imported with a company and verify its older receipts.
    pub async fn imported_receipt_keys(&self, company: &CompanyId) -> Result<Vec<ImportedReceiptKey>> {
        let found = self.all_wanted::<ImportedReceiptKey>(keys::receipt_keys(company), |_| true).await?;
        Ok(found.into_iter().map(|key| ImportedReceiptKey::clone(&key)).collect())
    }

    /// Computes the counts of an imported company.
    // Count candidates once, at the end: concurrent transactions of candidates would conflict on the four shards of counts.
    pub async fn count_imported(&self, company: &CompanyId) -> Result<RecountResult> {
        self.recount_all(company, None).await
    }

    /// Replaces `import` by `stored` once everything except the company itself is stored. The company's feed continues
    /// after `sequence`. Fails with [`Error::Changed`] if another attempt was faster.
    pub async fn finish_storing(
        &self,
        import: &VersionedItem<CompanyImport>,
        stored: CompanyImport,
        sequence: &EventSequence,
    ) -> Result<VersionedItem<CompanyImport>> {
        let mut transaction = self.transaction();
        transaction.create_unless(sequence, || Error::Changed);
        transaction.replace(import, &stored);
        self.commit(transaction).await?;
        import.followed_by(stored)
    }

    /// Opens a company for reading once its other records are stored. Fails with [`Error::Changed`] if another attempt was faster.
    pub async fn open_company(
        &self,
        import: &VersionedItem<CompanyImport>,
        company: &VersionedItem<Company>,
        now: DateTime<Utc>,
    ) -> Result<VersionedItem<CompanyImport>> {
        let opened = CompanyImport::clone(import).open(now);
        let mut transaction = self.importing(company);
        transaction.replace(import, &opened);
        self.commit(transaction).await?;
        import.followed_by(opened)
    }

    /// Replaces `before` by `after`. Fails with [`Error::Changed`] if another program was faster.
    pub async fn update_company_import(
        &self,
        before: &VersionedItem<CompanyImport>,
        after: CompanyImport,
    ) -> Result<VersionedItem<CompanyImport>> {
        self.replace(before, after).await
    }

    pub(super) async fn create_unless_there<T: StoredEntity>(&self, entity: T) -> Result<()> {
        match self.create_alone(entity).await {
            Err(Error::Changed) => Ok(()),
            created => created.map(drop),
        }
    }

    /// Stores an item that has no derived items, unless an earlier attempt has.
    async fn put_imported<T: StoredEntity>(&self, item: &VersionedItem<T>) -> Result<()> {
        let _present = self.put_item(item.at_rest(), WriteCondition::Absent).await?;
        Ok(())
    }

    /// Begins a transaction that stores an item. The caller adds the items that are derived from it.
    fn importing<T: StoredEntity>(&self, item: &VersionedItem<T>) -> Transaction {
        let mut transaction = self.transaction();
        transaction.put(item.key(), item.at_rest(), WriteCondition::Absent, Error::Changed);
        transaction
    }

    /// Commits a transaction unless an earlier attempt has.
    async fn commit_import(&self, transaction: Transaction) -> Result<()> {
        match self.commit(transaction).await {
            Err(Error::Changed) => Ok(()),
            committed => committed,
        }
    }

    async fn import_candidate(&self, candidate: &VersionedItem<Candidate>) -> Result<()> {
        // Write shares before the transaction: with all search entries, they may be too many for one.
        for (key, share) in share_notes(candidate) {
            self.put(key, share).await?;
        }
        let mut transaction = self.importing(candidate);
        transaction.write_lookup_items(None, Some(candidate));
        self.commit_import(transaction).await
    }

    async fn import_project(&self, project: &VersionedItem<Project>) -> Result<()> {
        for customer in project.staff.everybody() {
            let key = keys::memberships(&project.company, customer).key(project.id);
            self.put(key, item::bare([])).await?;
        }
        let mut transaction = self.importing(project);
        transaction.create_shards(project);
        transaction.project_external_id(None, Some(project));
        self.commit_import(transaction).await
    }

    async fn import_counts(&self, company: &CompanyId, counts: &ArchivedCounts) -> Result<()> {
        let key = keys::counts_shard(company, counts.project, counts.shard);
        let shard = self.item(&key).await?;
        let mut shard = shard.ok_or_else(|| Error::internal("counts of a project that is not there"))?;
        shard.extend(counts.attributes());
        self.put(key, shard).await
    }

    async fn import_token(&self, token: &VersionedItem<NamedToken>) -> Result<()> {
        let imported = token.with_value(NamedToken::clone(token).imported())?;
        let mut transaction = self.importing(&imported);
        if token.proof.trust().is_none() {
            transaction.token_copy(token);
        }
        self.commit_import(transaction).await
    }
}
