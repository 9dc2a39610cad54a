//! The names that lead to an account. Uniqueness is a condition on these items.

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::Store;
use super::item::{self, Entity, Item, VERSION, Versioned, number};
use super::keys::{self, Key};
use super::page::{Listing, PageRequest};
use super::retry::Failure;
use super::transaction::Transaction;
use crate::domain::account::Account;
use crate::domain::candidate::Candidate;
use crate::domain::customer::Customer;
use crate::domain::id::CompanyId;
use crate::domain::text::is_login;
use crate::error::{Error, Result};

impl Transaction {
    /// Lets a name lead to an account, unless it is `taken`.
    pub(super) fn create_login(&mut self, key: Key, account: &Account, taken: Error) -> Result<()> {
        let mut item: Item = serde_dynamo::to_item(account).map_err(Error::internal)?;
        item.insert(VERSION.to_owned(), number(1));
        self.create_item(key, item, taken)
    }
}

/// The message when a user name leads to somebody already.
pub const TAKEN_USERNAME: &str = "This username is already in use.";

/// Everything about a name that somebody logs in with stands in one partition.
pub(crate) struct LoginPartition {
    key: String,
    /// None when no company can be called so, or nobody in it.
    company: Option<CompanyId>,
}

impl LoginPartition {
    /// The partition of a name in a company, whether or not there is such a name or such a company.
    pub(crate) fn of(company: &str, name: &str) -> Self {
        let known: Option<CompanyId> = company.parse().ok().filter(|_| is_login(name));
        let key = match &known {
            Some(company) => keys::login_partition(company, name),
            None => keys::no_login_partition(company, name),
        };
        Self { key, company: known }
    }

    fn failures_key(&self) -> Key {
        keys::login_failures(&self.key)
    }
}

/// When logins of one name have failed of late. An attempt counts from its beginning, so that many at once are as many.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Failures {
    partition: String,
    recent: Vec<DateTime<Utc>>,
}

impl Failures {
    /// How many failures there may be in a row.
    const MOST: usize = 10;
    /// For how long one counts.
    const WINDOW: TimeDelta = TimeDelta::minutes(15);

    /// These and one more at `now`.
    ///
    /// # Errors
    /// [`Error::Throttled`] when that is too many.
    fn and_now(mut self, now: DateTime<Utc>) -> Result<Self> {
        self.recent.retain(|at| *at + Self::WINDOW > now);
        if let Some(oldest) = self.recent.first().filter(|_| self.recent.len() >= Self::MOST) {
            return Err(Error::Throttled(*oldest + Self::WINDOW - now));
        }
        self.recent.push(now);
        Ok(self)
    }
}

impl Entity for Failures {
    fn key(&self) -> Key {
        keys::login_failures(&self.partition)
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        Some(*self.recent.last()? + Self::WINDOW)
    }
}

/// How many entries of a name are looked at: a user name, a customer's email, failures, and the newest of the candidates
/// with that email, each of which costs the time of a password check.
const MAX_LOGINS: i32 = 16;
/// How often an attempt to log in makes room for others of the same name: each of them counts as a failure first, so that
/// one which has given way to as many as may fail is told that there were too many.
const TRIES: usize = Failures::MOST + 1;

/// Those whom a name leads to.
#[derive(Default)]
pub(crate) struct Found {
    /// Staff users: none, one, or two different ones.
    pub(crate) customers: Vec<Versioned<Customer>>,
    /// Candidates, the newest first.
    pub(crate) candidates: Vec<Versioned<Candidate>>,
}

impl Store {
    /// Counts an attempt to log in as a failure until it is known to be none, and finds the accounts that the name leads
    /// to.
    ///
    /// Always the same calls, so that the time it takes does not tell whether there was anybody, or any such company.
    ///
    /// # Errors
    /// [`Error::Throttled`] after too many failures.
    pub(crate) async fn begin_login(&self, partition: &LoginPartition, now: DateTime<Utc>) -> Result<Found> {
        for _ in 0..TRIES {
            let (accounts, failures) = self.login_entries(partition).await?;
            let count = async {
                match failures {
                    Some(before) => {
                        let after = Failures::clone(&before).and_now(now)?;
                        self.replace(&before, after).await.map(drop)
                    }
                    None => {
                        let first = Failures { partition: partition.key.clone(), recent: vec![now] };
                        self.create_alone(&first).await
                    }
                }
            };
            match tokio::try_join!(count, self.accounts(partition, accounts)) {
                Ok(((), found)) => return Ok(found),
                Err(Error::Changed) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Busy("too many logins of one name at once".into()))
    }

    /// Forgets the failures of a name, since one attempt has succeeded.
    pub(crate) async fn forget_failures(&self, partition: &LoginPartition) -> Result<()> {
        self.delete_alone(&partition.failures_key()).await
    }

    /// The customers and the candidates that a name leads to, the newest candidate first.
    pub async fn whom_name_leads_to(
        &self,
        company: &CompanyId,
        name: &str,
    ) -> Result<(Vec<Versioned<Customer>>, Vec<Versioned<Candidate>>)> {
        let partition = LoginPartition::of(company.as_str(), name);
        let (accounts, _) = self.login_entries(&partition).await?;
        let found = self.accounts(&partition, accounts).await?;
        Ok((found.customers, found.candidates))
    }

    /// Everybody whom a name leads to, however many candidates have that email.
    pub async fn everybody_called(
        &self,
        company: &CompanyId,
        name: &str,
    ) -> Result<(Vec<Versioned<Customer>>, Vec<Versioned<Candidate>>)> {
        let partition = LoginPartition::of(company.as_str(), name);
        if partition.company.is_none() {
            return Ok(Default::default());
        }
        let unique = [keys::login_username(company, name), keys::login_email(company, name)];
        let candidates = Listing::All(keys::login_candidates(company, name));
        let everything = PageRequest::everything();
        let (mut batch, page) =
            tokio::try_join!(self.get(unique.clone()), self.page_of_items(&candidates, &everything))?;
        let mut accounts = Vec::new();
        for item in unique.iter().filter_map(|key| batch.take_item(key)).chain(page.rows) {
            let account = item::or_skipped(item::value_in(item))?;
            accounts.extend(account.filter(|account| !accounts.contains(account)));
        }
        let found = self.accounts(&partition, accounts).await?;
        Ok((found.customers, found.candidates))
    }

    /// The customers that a name leads to: the one of that user name first.
    pub(crate) async fn customers_of(&self, partition: &LoginPartition) -> Result<Vec<Versioned<Customer>>> {
        let (accounts, _) = self.login_entries(partition).await?;
        Ok(self.accounts(partition, accounts).await?.customers)
    }

    async fn accounts(&self, partition: &LoginPartition, accounts: Vec<Account>) -> Result<Found> {
        let key = |account: &Account| Some(keys::account(partition.company.as_ref()?, *account));
        let keys = accounts.iter().filter_map(key).chain([keys::nothing()]);
        let mut batch = self.get(keys).await?;
        let mut found = Found::default();
        for account in accounts {
            let Some(key) = key(&account) else { continue };
            match account {
                Account::Customer { .. } => found.customers.extend(batch.take_listed(&key)?),
                Account::Candidate { .. } => found.candidates.extend(batch.take_listed(&key)?),
            }
        }
        Ok(found)
    }

    async fn login_entries(
        &self,
        partition: &LoginPartition,
    ) -> Result<(Vec<Account>, Option<Versioned<Failures>>)> {
        let response = self
            .with_retries(|| async {
                let response = self
                    .client()
                    .query()
                    .table_name(self.table())
                    .key_condition_expression(format!("{} = :pk", keys::PK))
                    .expression_attribute_values(":pk", AttributeValue::S(partition.key.clone()))
                    // From USERNAME over failures and EMAIL to the candidates, which come newest first.
                    .scan_index_forward(false)
                    .limit(MAX_LOGINS)
                    .consistent_read(true)
                    .return_consumed_capacity(ReturnConsumedCapacity::Total)
                    .send()
                    .await
                    .map_err(Failure::of)?;
                self.usage.count_reads(response.consumed_capacity());
                Ok(response)
            })
            .await?;
        let mut accounts = Vec::new();
        let mut failures = None;
        for item in response.items.unwrap_or_default() {
            if item::key_of(&item)? == partition.failures_key() {
                failures = Some(item::read(item)?);
                continue;
            }
            let account = item::or_skipped(item::value_in(item))?;
            accounts.extend(account.filter(|account| !accounts.contains(account)));
        }
        Ok((accounts, failures))
    }
}
