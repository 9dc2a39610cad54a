//! Access patterns of companies.

pub(super) mod counts;
pub(super) mod label;
pub(super) mod legal;
pub(super) mod usage;

use aws_sdk_dynamodb::operation::scan::ScanOutput;
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;
use chrono::{DateTime, Utc};

use super::table::handle::Store;
use super::table::item::{self, Item, StoredEntity, VersionedItem, number, string};
use super::table::keys::{self, ItemKey};
use super::table::retry::CallFailure;
use super::table::write::condition::WriteCondition;
use super::table::write::transaction::Transaction;
use crate::domain::company::Company;
use crate::domain::company::import::CompanyImport;
use crate::domain::company::logo::Logo;
use crate::domain::history::ResourceChange;
use crate::domain::id::{CompanyId, LogoId};
use crate::domain::staff::customer::Customer;
use crate::error::{Error, Result};

use counts::CompanyCount;

impl StoredEntity for Company {
    const INTERNAL_FIELDS: &'static [&'static str] = &["is_test", "legal", "verified_senders"];

    fn history_change(before: Option<&Self>, after: Option<&Self>) -> Option<ResourceChange> {
        ResourceChange::of(before, after)
    }

    fn key(&self) -> ItemKey {
        keys::company(&self.id)
    }
}

impl StoredEntity for Logo {
    fn key(&self) -> ItemKey {
        keys::logo(&self.company, self.id)
    }
}

impl Store {
    /// Creates a company and its first owner. Fails with a message on `company` if its identifier is taken.
    pub fn create_company(&self, company: &Company, owner: &Customer, now: DateTime<Utc>) -> Transaction {
        let mut transaction = self.transaction();
        transaction.require_free_name(&company.id, now);
        let imported = Error::field("company", "This company is being imported.");
        transaction.require(keys::company_import(&company.id), WriteCondition::Absent, imported);
        transaction.create_unless(company, || Error::field("company", "This company already exists."));
        // Write the counts with the owner included, because a transaction cannot put an item and add to it.
        let counts = item::bare([
            (&CompanyCount::Customers.attribute(), number(1)),
            (&CompanyCount::Owners.attribute(), number(i64::from(owner.is_at_work()))),
        ]);
        transaction.put_derived(keys::company_counts(&company.id), counts);
        transaction.create(owner);
        transaction.customer_logins(None, Some(owner), now);
        transaction
    }

    /// All companies, in the order of their identifiers.
    ///
    /// Scans the whole table: each company has a partition of its own, and there is no list of companies.
    pub(crate) async fn every_company(&self) -> Result<Vec<VersionedItem<Company>>> {
        let mut companies: Vec<VersionedItem<Company>> = self.scan_all(keys::COMPANY).await?;
        companies.sort_by(|company, other| company.id.cmp(&other.id));
        Ok(companies)
    }

    /// The imports of all companies, in the order of their identifiers. Scans the whole table.
    pub(crate) async fn every_company_import(&self) -> Result<Vec<VersionedItem<CompanyImport>>> {
        let mut imports: Vec<VersionedItem<CompanyImport>> = self.scan_all(keys::IMPORT).await?;
        imports.sort_by(|import, other| import.company.cmp(&other.company));
        Ok(imports)
    }

    async fn scan_all<T: StoredEntity>(&self, sk: &str) -> Result<Vec<VersionedItem<T>>> {
        let mut found = Vec::new();
        let mut start = None;
        loop {
            let page = self.with_retries(|| self.scan(sk, start.clone())).await?;
            for item in page.items.unwrap_or_default() {
                found.extend(item::or_skipped(item::read(item))?);
            }
            start = page.last_evaluated_key;
            if start.is_none() {
                return Ok(found);
            }
        }
    }

    async fn scan(&self, sk: &str, start: Option<Item>) -> Result<ScanOutput, CallFailure> {
        let response = self
            .client()
            .scan()
            .table_name(self.table())
            .filter_expression(format!("{} = :sk", keys::SK))
            .expression_attribute_values(":sk", string(sk))
            .set_exclusive_start_key(start)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(CallFailure::of)?;
        self.usage.count_reads(response.consumed_capacity());
        Ok(response)
    }

    pub async fn company(&self, company: &CompanyId) -> Result<Option<VersionedItem<Company>>> {
        self.one(keys::company(company)).await
    }

    /// Reads a company with eventual consistency: at half the price, up to seconds old.
    pub(crate) async fn company_that_may_lag(
        &self,
        company: &CompanyId,
    ) -> Result<Option<VersionedItem<Company>>> {
        let key = keys::company(company);
        self.get_that_may_lag([key.clone()]).await?.take(&key)
    }

    pub fn update_company(&self, before: &VersionedItem<Company>, after: &Company) -> Transaction {
        self.replacing(before, after)
    }

    /// Reads the logo with this identifier.
    pub(crate) async fn logo(&self, company: &CompanyId, id: LogoId) -> Result<Option<Logo>> {
        let found = self.one::<Logo>(keys::logo(company, id)).await?;
        Ok(found.map(|logo| Logo::clone(&logo)))
    }

    /// Stores the logo of a company; `after` has its digest. Does nothing if `before` equals `after`.
    pub fn put_logo(&self, before: &VersionedItem<Company>, after: &Company, logo: &Logo) -> Transaction {
        let mut transaction = self.replacing(before, after);
        // Write the picture only together with the company, whose erasure deletes it.
        if **before != *after
            && let Some(item) = transaction.or_fault(item::write(logo, 1))
        {
            transaction.put_derived(logo.key(), item);
        }
        transaction
    }

    /// Deletes the logo of a company. `after` no longer names it.
    pub fn delete_logo(&self, before: &VersionedItem<Company>, after: &Company) -> Transaction {
        let mut transaction = self.replacing(before, after);
        if let Some(logo) = &before.logo {
            transaction.delete_derived(keys::logo(&before.id, logo.id));
        }
        transaction
    }
}

impl Transaction {
    /// Requires that no company with this identifier was erased recently.
    pub(in crate::store) fn require_free_name(&mut self, company: &CompanyId, now: DateTime<Utc>) {
        let erased = Error::field("company", "A company with this identifier was erased. Use another one.");
        self.require(keys::company_erasure(company), WriteCondition::AbsentOrExpired(now), erased);
    }
}
