//! Imports a company from an archive, which may come from anybody.
//!
//! 1. Validate the whole archive, without a write.
//! 2. Store everything while the company is closed: its own item is missing, so logins fail, and no item is in the index by due date,
//!    so that scheduled functions do not find it.
//! 3. Open the company, then enter due items in that index.
//!
//! A run that failed is repeated: it skips items that are stored, and steps 1 and 2 once the company is open.

mod files;
mod media;
mod validate;

use std::path::Path;

use futures_util::future::try_join_all;
use serde::Serialize;
use shared::app::App;
use shared::archive::{self, MediaPlace, Result};
use shared::auth::OperatorAccess;
use shared::domain::archive::RecordKind;
use shared::domain::company::Company;
use shared::domain::company::import::CompanyImport;
use shared::domain::history::{EventMark, HistoryEntry};
use shared::domain::id::{CompanyId, WebhookId};
use shared::domain::privacy::receipt::{ImportedReceiptKey, ReceiptKey};
use shared::domain::retention::run::RetentionRun;
use shared::domain::staff::customer::AccountType;
use shared::store::{ArchiveReader, EventSequence, ImportedRecord, VersionedItem};

use crate::PATIENCE;
use files::{Lines, SignedArchive};
use validate::{REFERENCE_ORDER, ValidatedArchive};

/// The records that are stored at once.
// Those of one project share a partition, which takes 1,000 write units a second.
const AT_ONCE: usize = 32;

/// Which signature of the manifest is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustedKey {
    /// By this key, which the operator has from the former deployment.
    Named(ReceiptKey),
    /// By any key in the archive, which may come from anybody.
    OfArchive,
}

/// How an archive is imported.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    pub trusted: TrustedKey,
    /// The identifier of the company here; `None` for that of the archive.
    pub name: Option<CompanyId>,
    /// Whether to keep the rights that only an operator can grant: verified senders, and acting on behalf of others.
    pub keeps_grants: bool,
}

/// The import of an archive.
pub struct ArchiveImport {
    access: OperatorAccess,
    archive: SignedArchive,
    /// The company as it is named here.
    company: CompanyId,
    keeps_grants: bool,
    report: fn(&str),
}

/// What an import has done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImportResult {
    pub company: CompanyId,
    /// Whether an earlier run has completed the import.
    pub was_there: bool,
    /// The thumbprint of the key that has signed the archive.
    pub key: String,
    /// The number of the last event in it.
    pub sequence: u64,
    /// The records in all files.
    pub records: u64,
    /// The stored files.
    pub media: u64,
    /// The user names of the owners, who get a password by `POST api-password-reset/`.
    pub owners: Vec<String>,
    /// The rights in the archive that only an operator can grant, in words.
    pub grants: Vec<String>,
    /// Whether these rights were kept.
    pub keeps_grants: bool,
    /// What it has used of DynamoDB.
    pub write_units: f64,
}

impl ArchiveImport {
    /// The import of the archive in `folder`, whose manifest is verified. `report` is told the progress.
    ///
    /// # Errors
    /// Fails if there is no archive, or if its signature is not by a trusted key.
    pub fn new(app: &App, folder: &Path, options: ImportOptions, report: fn(&str)) -> Result<Self> {
        let access = OperatorAccess::of(app).with_patience(PATIENCE);
        let archive = SignedArchive::open(folder, options.trusted)?;
        let company = options.name.unwrap_or_else(|| archive.manifest.company.clone());
        Ok(Self { access, archive, company, keeps_grants: options.keeps_grants, report })
    }

    /// Imports it. Does nothing if it was imported before.
    ///
    /// # Errors
    /// Fails before anything is written if there is another company of this name, or if anything in the archive is wrong: then the
    /// message names the file and the line. Fails also if DynamoDB, S3 or the disk refuse for good: then run it again.
    pub async fn run(&self) -> Result<ImportResult> {
        let found = self.access.store.company_import(&self.company).await?;
        if let Some(import) = &found {
            if import.archive != self.archive.sha256 {
                return Err(format!("{} was imported from another archive", self.company).into());
            }
            if import.ended_at.is_some() {
                let is_there = self.access.store.company(&self.company).await?.is_some();
                let erased = format!("the company {} is being erased", self.company);
                return if is_there { self.result(true, Vec::new()).await } else { Err(erased.into()) };
            }
        } else if self.access.store.company(&self.company).await?.is_some() {
            return Err(
                format!("there is a company {} here; choose another name by --as", self.company).into()
            );
        }
        (self.report)("validating the archive");
        let ValidatedArchive { receipt_keys, webhooks, grants } =
            validate::validate(&self.archive, self.reader())?;
        self.refuse_foreign_webhooks(&webhooks).await?;
        let import = match found {
            Some(import) => import,
            None => {
                let begun =
                    CompanyImport::begun(self.company.clone(), self.archive.sha256.clone(), self.access.now);
                self.access.store.begin_company_import(begun, self.access.now).await?
            }
        };
        let company = self.company()?;
        let import = if import.opened_at.is_some() {
            import
        } else {
            self.store_all(receipt_keys).await?;
            let sequence = self.sequence()?;
            self.access.store.open_company(&import, &company, &sequence, self.access.now).await?
        };
        self.schedule_all(&company).await?;
        self.access.store.end_company_import(&import, self.access.now).await?;
        self.result(false, grants).await
    }

    /// Refuses webhooks that another company has here, as the company from which the archive was exported.
    // What the deliveries to a webhook need has a key without the company.
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

    async fn result(&self, was_there: bool, grants: Vec<String>) -> Result<ImportResult> {
        let manifest = &self.archive.manifest;
        let customers = self.access.store.all_customers(&self.company).await?;
        let owners = customers
            .iter()
            .filter(|customer| customer.is_active && customer.account_type == AccountType::Owner);
        Ok(ImportResult {
            company: self.company.clone(),
            was_there,
            key: self.archive.key.thumbprint(),
            sequence: manifest.sequence,
            records: manifest.records.values().sum(),
            media: manifest.media.count,
            owners: owners.map(|owner| owner.username.as_str().to_owned()).collect(),
            grants,
            keeps_grants: self.keeps_grants,
            write_units: self.access.usage().write_units(),
        })
    }

    fn reader(&self) -> ArchiveReader<'_> {
        ArchiveReader {
            company: &self.archive.manifest.company,
            name: &self.company,
            entropy: self.access.entropy(),
        }
    }

    /// The company itself, which is stored last.
    fn company(&self) -> Result<VersionedItem<Company>> {
        let mut lines = self.archive.records(RecordKind::Company)?;
        let line = lines.next_line()?.ok_or("there is no company in the archive")?;
        match self.granted(self.reader().read(RecordKind::Company, &line)?)? {
            ImportedRecord::Company(company) => Ok(*company),
            _ => Err("there is no company in the archive".into()),
        }
    }

    /// A record with the grants that the company keeps.
    fn granted(&self, record: ImportedRecord) -> Result<ImportedRecord> {
        Ok(if self.keeps_grants { record } else { record.without_grant()? })
    }

    /// Stores everything but the company itself.
    async fn store_all(&self, keys: Vec<ReceiptKey>) -> Result<()> {
        let store = &self.access.store;
        let objects = self.access.objects()?;
        (self.report)("files");
        // Uploads later: the function that they start would find no company.
        media::store(&self.archive, &self.company, &objects, |place| place != MediaPlace::Uploads).await?;
        let mut receipts = self.archive.records(RecordKind::Receipts)?;
        for kind in REFERENCE_ORDER.into_iter().filter(|kind| kind.has_items()) {
            (self.report)(kind.name());
            let mut lines = self.archive.records(kind)?;
            loop {
                let together = lines.next_lines(AT_ONCE)?;
                if together.is_empty() {
                    break;
                }
                self.check_closed().await?;
                let mut records = Vec::with_capacity(AT_ONCE);
                for line in together {
                    let record = self.granted(self.reader().read(kind, &line)?)?;
                    records.push(with_receipt(record, &mut receipts)?);
                }
                try_join_all(records.iter().map(|record| self.store_record(record))).await?;
            }
        }
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

    /// Fails if another run has opened the company: items that users have deleted since must not come back.
    // Checked before each batch, which takes less than a second. Users need a mail to log in, so they are never that fast.
    async fn check_closed(&self) -> Result<()> {
        match self.access.store.company_import(&self.company).await? {
            Some(import) if import.opened_at.is_none() => Ok(()),
            _ => Err("another run has opened the company; run this again to finish".into()),
        }
    }

    /// The numbers of the company's events, which go on after the last one of the archive.
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
        // All events have expired. Without a mark, the next event would be the first one.
        let expired = EventMark { number: last, expires_at: self.access.now };
        sequence.last_event = sequence.last_event.or((last > 0).then_some(expired));
        Ok(sequence)
    }

    /// Enters due items in the index, and stores uploads that wait for their conversion, now that the company is open.
    async fn schedule_all(&self, company: &Company) -> Result<()> {
        (self.report)("what is due");
        let store = &self.access.store;
        for kind in [RecordKind::Tokens, RecordKind::Videos, RecordKind::Answers, RecordKind::Candidates] {
            let mut lines = self.archive.records(kind)?;
            loop {
                let together = lines.next_lines(AT_ONCE)?;
                if together.is_empty() {
                    break;
                }
                let mut records = Vec::with_capacity(AT_ONCE);
                for line in together {
                    records.push(self.reader().read(kind, &line)?);
                }
                try_join_all(records.iter().map(|record| store.schedule_imported(record))).await?;
            }
        }
        media::store(&self.archive, &self.company, &self.access.objects()?, |place| {
            place == MediaPlace::Uploads
        })
        .await?;
        if self.archive.manifest.records.get(RecordKind::Retention.name()) > Some(&0) {
            let first = RetentionRun::first_after_import(company, self.access.now);
            store.begin_imported_runs(first).await?;
        }
        Ok(())
    }
}

/// The record; the event of an erasure with the next receipt.
// Both files are in the order of the events, and each erasure has its receipt.
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
