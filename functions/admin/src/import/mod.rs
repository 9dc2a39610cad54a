//! Imports a company from an archive, which is untrusted input.
//!
//! 1. Validate the whole archive, and the receipts of people who were erased since, before the first write.
//! 2. Store everything while the company is closed: without its own item, logins fail; without entries in the index by
//!    due date, scheduled functions do not find its items. Then erase the people who were erased after the archive was
//!    written.
//! 3. Open the company for reading.
//!
//! A failed run can be repeated: it skips stored items, and skips validation once everything is stored.
//! [`start_company`] then enters due items in the index by due date, and lets requests change the company.

mod erased;
mod files;
mod media;
mod start;
mod validate;

use std::path::{Path, PathBuf};

use futures_util::future::try_join_all;
use serde::Serialize;
use shared::app::App;
use shared::archive::{self, Result};
use shared::auth::OperatorAccess;
use shared::domain::archive::RecordKind;
use shared::domain::company::Company;
use shared::domain::company::import::CompanyImport;
use shared::domain::history::{EventMark, HistoryEntry};
use shared::domain::id::{CompanyId, WebhookId};
use shared::domain::privacy::receipt::{ImportedReceiptKey, ReceiptKey};
use shared::domain::staff::customer::AccountType;
use shared::store::{ArchiveReader, EventSequence, ImportedRecord, VersionedItem};

use crate::PATIENCE;
pub use start::{StartResult, start_company};

use files::{Lines, SignedArchive};
use validate::{REFERENCE_ORDER, ValidatedArchive};

/// The number of records that are stored concurrently.
// The records of one project share a partition, which accepts 1,000 write units a second.
const AT_ONCE: usize = 32;

/// The keys that may have signed the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustedKeys {
    /// One of these keys, which the operator has from the former deployment. They also verify receipts: the former
    /// deployment may have changed its key after the export.
    Named(Vec<ReceiptKey>),
    /// Any key in the archive. It does not prove who has written the archive.
    OfArchive,
}

/// How an archive is imported.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    pub trusted: TrustedKeys,
    /// The company's identifier in this deployment; `None` to keep the archive's.
    pub name: Option<CompanyId>,
    /// Whether to keep rights that only an operator can grant: verified senders, and login on behalf of others.
    pub keeps_grants: bool,
    /// Whether to import an archive although some files that it lists could not be downloaded.
    pub allows_missing: bool,
    /// Files of receipts, one per line as in an archive. The import erases the people that they name.
    pub erased: Vec<PathBuf>,
}

/// An import of an archive, which repeated runs complete.
pub struct ArchiveImport {
    access: OperatorAccess,
    archive: SignedArchive,
    /// The company's identifier in this deployment.
    company: CompanyId,
    trusted: TrustedKeys,
    keeps_grants: bool,
    allows_missing: bool,
    erased: Vec<PathBuf>,
    report: fn(&str),
}

/// The outcome of an import, which the program prints as JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImportResult {
    pub company: CompanyId,
    /// Whether an earlier run had already completed the import.
    pub was_there: bool,
    /// Whether the operator has started the company. Until then, requests cannot change it.
    pub is_started: bool,
    /// The base URL of the service that wrote the archive.
    pub base_url: String,
    /// When the archive was written.
    pub created_at: String,
    /// The thumbprint of the key that has signed the archive.
    pub key: String,
    /// The number of the archive's last event.
    pub sequence: u64,
    /// The number of records in all files.
    pub records: u64,
    /// The number of files in the list of media.
    pub media: u64,
    /// The number of files that records refer to and that were missing when the archive was written or downloaded.
    pub media_missing: u64,
    /// The number of people that the import has erased because they were erased after the archive was written.
    pub erased: u64,
    /// The people who could not be erased, with the reasons.
    pub kept: Vec<String>,
    /// The owners' user names. Owners request a new password with `POST api-password-reset/`.
    pub owners: Vec<String>,
    /// A description of each right in the archive that only an operator can grant.
    pub grants: Vec<String>,
    /// Whether the rights in `grants` were kept.
    pub keeps_grants: bool,
    /// The write units of DynamoDB that the import consumed.
    pub write_units: f64,
}

impl ArchiveImport {
    /// Opens the archive in `folder` and verifies its manifest. `run` calls `report` with its progress.
    ///
    /// # Errors
    /// If the folder holds no archive, or no trusted key has signed it.
    pub fn new(app: &App, folder: &Path, options: ImportOptions, report: fn(&str)) -> Result<Self> {
        let access = OperatorAccess::of(app).with_patience(PATIENCE);
        let archive = SignedArchive::open(folder, &options.trusted)?;
        let company = options.name.unwrap_or_else(|| archive.manifest.company.clone());
        let ImportOptions { trusted, keeps_grants, allows_missing, erased, .. } = options;
        Ok(Self { access, archive, company, trusted, keeps_grants, allows_missing, erased, report })
    }

    /// Imports the company. If that is complete and the company has not started, only erases the people who were erased
    /// since.
    ///
    /// # Errors
    /// Before the first write: if another company has this identifier, or if the archive or a receipt is invalid; the
    /// message names file and line. Later: if DynamoDB, S3 or the disk keeps failing; then run it again.
    pub async fn run(&self) -> Result<ImportResult> {
        let store = &self.access.store;
        let found = store.company_import(&self.company).await?;
        let exists = store.company(&self.company).await?.is_some();
        match &found {
            Some(import) if import.archive != self.archive.sha256 => {
                return Err(format!("{} was imported from another archive", self.company).into());
            }
            Some(import) if import.opened_at.is_some() && !exists => {
                return Err(format!("the company {} is being erased", self.company).into());
            }
            None if exists => {
                let taken = format!("there is a company {} here; choose another name by --as", self.company);
                return Err(taken.into());
            }
            _ => {}
        }
        // Read the receipts before the first write, because a file may be misspelt or forged.
        let receipts =
            erased::read_erasures(&self.access, &self.archive, &self.company, &self.trusted, &self.erased)
                .await?;
        let import = match found {
            Some(import) if import.stored_at.is_some() => import,
            found => self.store_whole(found).await?,
        };
        if import.started_at.is_some() {
            return self.result(&import, true, Vec::new()).await;
        }
        (self.report)("erasures");
        let people = erased::erase_again(&self.access, &self.archive, &self.company, receipts).await?;
        let was_there = import.opened_at.is_some();
        let counted = CompanyImport { erased: people.erased, ..CompanyImport::clone(&import) };
        let import =
            if counted == *import { import } else { store.update_company_import(&import, counted).await? };
        let import = if was_there {
            import
        } else {
            store.open_company(&import, &self.company()?, self.access.now).await?
        };
        self.result(&import, was_there, people.kept).await
    }

    /// Validates the archive and stores everything except the company's item.
    async fn store_whole(
        &self,
        found: Option<VersionedItem<CompanyImport>>,
    ) -> Result<VersionedItem<CompanyImport>> {
        (self.report)("validating the archive");
        let validated = validate::validate(&self.archive, self.reader(), self.allows_missing)?;
        let ValidatedArchive { receipt_keys, webhooks, missing } = validated;
        self.refuse_foreign_webhooks(&webhooks).await?;
        let import = match found {
            Some(import) => import,
            None => {
                let begun =
                    CompanyImport::begin(self.company.clone(), self.archive.sha256.clone(), self.access.now);
                self.access.store.begin_company_import(begun, self.access.now).await?
            }
        };
        self.store_all(receipt_keys).await?;
        let stored = CompanyImport::clone(&import).finish_storing(missing, self.access.now);
        Ok(self.access.store.finish_storing(&import, stored, &self.sequence()?).await?)
    }

    /// Refuses webhooks that another company already has here, such as the company that the archive was exported from.
    // Deliveries are stored under the webhook's identifier alone, so two companies with the same webhook would share
    // its cursor.
    async fn refuse_foreign_webhooks(&self, webhooks: &[WebhookId]) -> Result<()> {
        let cursors = self.access.store.cursors(webhooks.iter().copied()).await?;
        match cursors.values().find(|cursor| cursor.company != self.company) {
            None => Ok(()),
            Some(found) => Err(format!(
                "the webhook {} is one of the company {} here; delete it there, or export a company without webhooks",
                found.webhook, found.company
            )
            .into()),
        }
    }

    async fn result(
        &self,
        import: &CompanyImport,
        was_there: bool,
        kept: Vec<String>,
    ) -> Result<ImportResult> {
        let manifest = &self.archive.manifest;
        let customers = self.access.store.all_customers(&self.company).await?;
        let owners = customers
            .iter()
            .filter(|customer| customer.is_active && customer.account_type == AccountType::Owner);
        Ok(ImportResult {
            company: self.company.clone(),
            was_there,
            is_started: import.started_at.is_some(),
            base_url: manifest.base_url.clone(),
            created_at: manifest.created_at.clone(),
            key: self.archive.key.thumbprint(),
            sequence: manifest.sequence,
            records: manifest.records.values().sum(),
            media: manifest.media.count,
            media_missing: import.media_missing,
            erased: import.erased,
            kept,
            owners: owners.map(|owner| owner.username.as_str().to_owned()).collect(),
            grants: self.grants()?,
            keeps_grants: self.keeps_grants,
            write_units: self.access.usage().write_units(),
        })
    }

    /// A description of each right in the archive that only an operator can grant.
    fn grants(&self) -> Result<Vec<String>> {
        let mut grants = Vec::new();
        for kind in [RecordKind::Company, RecordKind::Customers] {
            let mut lines = self.archive.records(kind)?;
            while let Some(line) = lines.next_line()? {
                grants.extend(self.reader().read(kind, &line)?.grant());
            }
        }
        Ok(grants)
    }

    fn reader(&self) -> ArchiveReader<'_> {
        ArchiveReader {
            company: &self.archive.manifest.company,
            name: &self.company,
            entropy: self.access.entropy(),
        }
    }

    /// The archive's company, whose item is stored last.
    fn company(&self) -> Result<VersionedItem<Company>> {
        let mut lines = self.archive.records(RecordKind::Company)?;
        let line = lines.next_line()?.ok_or("there is no company in the archive")?;
        match self.granted(self.reader().read(RecordKind::Company, &line)?)? {
            ImportedRecord::Company(company) => Ok(*company),
            _ => Err("there is no company in the archive".into()),
        }
    }

    /// The record, without its operator-granted rights unless the options keep them.
    fn granted(&self, record: ImportedRecord) -> Result<ImportedRecord> {
        Ok(if self.keeps_grants { record } else { record.without_grant()? })
    }

    /// Stores everything except the company's item.
    async fn store_all(&self, keys: Vec<ReceiptKey>) -> Result<()> {
        let store = &self.access.store;
        let objects = self.access.objects()?;
        let mut receipts = self.archive.records(RecordKind::Receipts)?;
        for kind in REFERENCE_ORDER.into_iter().filter(|kind| kind.has_items()) {
            (self.report)(kind.name());
            let mut lines = self.archive.records(kind)?;
            loop {
                let together = lines.next_lines(AT_ONCE)?;
                if together.is_empty() {
                    break;
                }
                self.check_under_way().await?;
                let mut records = Vec::with_capacity(AT_ONCE);
                for line in together {
                    let record = self.granted(self.reader().read(kind, &line)?)?;
                    records.push(with_receipt(record, &mut receipts)?);
                }
                try_join_all(records.iter().map(|record| self.store_record(record))).await?;
            }
        }
        // Store files after the records that own them: the erasure of an incomplete import finds files by these
        // records.
        (self.report)("files");
        media::store(&self.archive, &self.company, &objects, self.allows_missing).await?;
        for key in keys {
            store.import_receipt_key(ImportedReceiptKey { company: self.company.clone(), key }).await?;
        }
        (self.report)("counts");
        let counted = store.count_imported(&self.company).await?;
        match counted.unreadable.first() {
            None => Ok(()),
            Some(key) => Err(format!("the item {key} cannot be read").into()),
        }
    }

    async fn store_record(&self, record: &ImportedRecord) -> Result<()> {
        let store = &self.access.store;
        store.import_record(&self.company, record, self.access.now).await?;
        if let ImportedRecord::Webhook(webhook) = record {
            store.import_cursor(webhook, self.archive.manifest.sequence, self.access.now).await?;
        }
        Ok(())
    }

    /// Fails if another run has stored everything, or the operator erases the company: items deleted since then must
    /// not come back.
    // Called before each batch; storing a batch takes less than a second.
    async fn check_under_way(&self) -> Result<()> {
        match self.access.store.company_import(&self.company).await? {
            Some(import) if import.stored_at.is_none() => Ok(()),
            Some(_) => Err("another run has stored the company; run this again to finish".into()),
            None => Err(format!("the company {} is being erased", self.company).into()),
        }
    }

    /// The company's event sequence, which continues after the archive's last event, with the usage counted so far.
    fn sequence(&self) -> Result<EventSequence> {
        let last = self.archive.manifest.sequence;
        let mut sequence =
            EventSequence { last, ..EventSequence::new(self.company.clone(), self.access.now) };
        sequence.has_webhooks = self.archive.manifest.records.get(RecordKind::Webhooks.name()) > Some(&0);
        let mut events = self.archive.records(RecordKind::Events)?;
        while let Some(line) = events.next_line()? {
            if let ImportedRecord::Event(event) = self.reader().read(RecordKind::Events, &line)? {
                let HistoryEntry { sequence: number, expires_at, .. } = **event;
                sequence.last_event = number.map(|number| EventMark { number, expires_at });
            }
        }
        // If all events have expired, set a mark: otherwise the next event would be the first one.
        let expired = EventMark { number: last, expires_at: self.access.now };
        sequence.last_event = sequence.last_event.or((last > 0).then_some(expired));
        let mut months = self.archive.records(RecordKind::Usage)?;
        while let Some(line) = months.next_line()? {
            if let ImportedRecord::Usage(used) = self.reader().read(RecordKind::Usage, &line)? {
                sequence.usage.add(used.month, used.counts);
            }
        }
        Ok(sequence)
    }
}

/// Adds the next receipt to the event of an erasure; returns other records unchanged.
// Both files are in the order of events, and each erasure has a receipt.
fn with_receipt(record: ImportedRecord, receipts: &mut Lines) -> Result<ImportedRecord> {
    match record {
        ImportedRecord::Event(event) if event.is_erasure() => {
            let receipt = receipts.next_line()?.ok_or("the receipt of an erasure is missing")?;
            let event = event.with_receipt(archive::jws_in(&receipt)?)?;
            Ok(ImportedRecord::Event(Box::new(event)))
        }
        other => Ok(other),
    }
}
