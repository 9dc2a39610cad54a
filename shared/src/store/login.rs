//! The names that lead to an account. Uniqueness is a condition on these items.

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use chrono::{DateTime, Utc};

use super::Store;
use super::failures::{CountedLogin, Failures};
use super::item::{self, Entity as _, Item, VERSION, Versioned, number};
use super::keys::{self, Key};
use super::page::{Listing, PageRequest};
use super::retry::Failure;
use super::transaction::Transaction;
use crate::domain::account::Account;
use crate::domain::candidate::Candidate;
use crate::domain::customer::Customer;
use crate::domain::id::CompanyId;
use crate::domain::secret::{PasswordHash, SecretHash};
use crate::domain::text::is_login;
use crate::error::{Error, Result};

impl Transaction {
    /// Lets a name lead to an account, unless it is `taken`.
    pub(super) fn create_login(&mut self, key: Key, account: &Account, taken: Error) {
        let item: Result<Item> = serde_dynamo::to_item(account).map_err(Error::internal);
        if let Some(mut item) = self.or_fault(item) {
            item.insert(VERSION.to_owned(), number(1));
            self.create_item(key, item, taken);
        }
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

    /// Stands for the name where it must not be readable: anybody may send any text as a name.
    fn hash(&self) -> SecretHash {
        SecretHash::of(&self.key)
    }
}

/// How many entries of a name are looked at: a user name, a customer's email, and the newest candidates with that email.
const MAX_LOGINS: i32 = 16;
/// How often a login counts again because another login of the same name was faster. Each of those counts as a failure
/// first, so that a login that has lost this often is throttled.
const TRIES: usize = Failures::OF_ALL + 1;

/// Those whom a name leads to.
#[derive(Default)]
pub(crate) struct Found {
    /// Staff users: none, one, or two different ones.
    pub(crate) customers: Vec<Versioned<Customer>>,
    /// Candidates, the newest first.
    pub(crate) candidates: Vec<Versioned<Candidate>>,
}

impl Store {
    /// Counts a login from `source` as a failure until [`Self::end_login`], and finds the accounts of the name.
    ///
    /// Makes the same calls whether or not the name or its company exists, so that timing does not tell.
    ///
    /// # Errors
    /// [`Error::Throttled`] after too many failures.
    pub(crate) async fn begin_login(
        &self,
        partition: &LoginPartition,
        source: &str,
        now: DateTime<Utc>,
    ) -> Result<(Found, CountedLogin)> {
        let key = keys::login_failures(&partition.hash());
        for _ in 0..TRIES {
            let (accounts, mut batch) =
                tokio::try_join!(self.login_entries(partition), self.get([key.clone()]))?;
            let before: Option<Versioned<Failures>> = batch.take(&key)?;
            let count = async {
                match before {
                    Some(before) => {
                        let after = Failures::clone(&before).with_one_more(source, now)?;
                        self.replace(&before, after).await
                    }
                    None => {
                        let first = Failures::none(partition.hash()).with_one_more(source, now)?;
                        self.create_alone(&first).await.and_then(|()| item::first(first))
                    }
                }
            };
            match tokio::try_join!(count, self.accounts(partition, accounts)) {
                Ok((counted, found)) => return Ok((found, CountedLogin(counted))),
                Err(Error::Changed) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Busy("too many logins of one name at once".into()))
    }

    /// Takes back the failure that a successful login was counted as, and forgets those before it if the name leads to
    /// this account `alone`. Where several accounts share a name, the holder of one could otherwise guess at the
    /// passwords of the others for ever.
    pub(crate) async fn end_login(&self, CountedLogin(counted): &CountedLogin, alone: bool) -> Result<()> {
        if alone {
            return self.delete_alone(&counted.key()).await;
        }
        match self.replace(counted, Failures::clone(counted).without_last()).await {
            // Another login of the name came between. Then this one stays counted.
            Err(Error::Changed) => Ok(()),
            replaced => replaced.map(drop),
        }
    }

    /// Forgets the failed logins of these names, in whichever company they are.
    pub(crate) async fn unlock(&self, names: &[LoginPartition]) -> Result<()> {
        for name in names {
            self.delete_alone(&keys::login_failures(&name.hash())).await?;
        }
        Ok(())
    }

    /// The customers and the candidates that a name leads to, the newest candidate first.
    pub async fn whom_name_leads_to(
        &self,
        company: &CompanyId,
        name: &str,
    ) -> Result<(Vec<Versioned<Customer>>, Vec<Versioned<Candidate>>)> {
        let partition = LoginPartition::of(company.as_str(), name);
        let accounts = self.login_entries(&partition).await?;
        let found = self.accounts(&partition, accounts).await?;
        Ok((found.customers, found.candidates))
    }

    /// The password of the newest other candidate with the candidate's email: what shares its salt is checked along with
    /// it when somebody logs in by that email.
    pub(crate) async fn password_to_share_salt_with(
        &self,
        candidate: &Candidate,
    ) -> Result<Option<PasswordHash>> {
        let Some(email) = &candidate.profile.email else { return Ok(None) };
        let (_, candidates) = self.whom_name_leads_to(&candidate.company, email.as_str()).await?;
        let others = candidates.into_iter().filter(|other| other.id != candidate.id && other.may_log_in());
        Ok(others.filter_map(|other| other.password_hash.clone()).next())
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
            let account = item::or_skipped(item::value_in(&item))?;
            accounts.extend(account.filter(|account| !accounts.contains(account)));
        }
        let found = self.accounts(&partition, accounts).await?;
        Ok((found.customers, found.candidates))
    }

    /// The customers that a name leads to: the one of that user name first.
    pub(crate) async fn customers_of(&self, partition: &LoginPartition) -> Result<Vec<Versioned<Customer>>> {
        let accounts = self.login_entries(partition).await?;
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

    async fn login_entries(&self, partition: &LoginPartition) -> Result<Vec<Account>> {
        let response = self
            .with_retries(|| async {
                let response = self
                    .client()
                    .query()
                    .table_name(self.table())
                    .key_condition_expression(format!("{} = :pk", keys::PK))
                    .expression_attribute_values(":pk", AttributeValue::S(partition.key.clone()))
                    // USERNAME, EMAIL, then the candidates, newest first.
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
        for item in response.items.unwrap_or_default() {
            let account = item::or_skipped(item::value_in(&item))?;
            accounts.extend(account.filter(|account| !accounts.contains(account)));
        }
        Ok(accounts)
    }
}
