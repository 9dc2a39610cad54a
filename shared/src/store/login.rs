//! The names that lead to an account. Uniqueness is a condition on these items.

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};

use super::Store;
use super::item::{Item, VERSION, Versioned, number};
use super::keys::{self, Key};
use super::retry::Failure;
use super::transaction::Transaction;
use crate::domain::account::Account;
use crate::domain::candidate::Candidate;
use crate::domain::customer::Customer;
use crate::domain::id::CompanyId;
use crate::domain::text::{fold_case, is_login};
use crate::error::{Error, Result};

impl Transaction {
    /// Lets a name lead to an account, unless it is `taken`.
    pub(super) fn create_login(&mut self, key: Key, account: &Account, taken: Error) -> Result<()> {
        let mut item: Item = serde_dynamo::to_item(account).map_err(Error::internal)?;
        item.insert(VERSION.to_owned(), number(1));
        self.create_item(key, item, taken)
    }

    /// Lets a new customer's user name and email lead to it.
    pub(super) fn create_customer_logins(&mut self, customer: &Customer) -> Result<()> {
        let account = Account::Customer { customer: customer.id };
        let (company, username, email) =
            (&customer.company, customer.username.as_str(), customer.email.as_str());
        let taken_username = || Error::field("username", TAKEN_USERNAME);
        let taken_email = || Error::field("email", "A customer with this email already exists.");
        self.create_login(keys::login_username(company, username), &account, taken_username())?;
        self.create_login(keys::login_email(company, email), &account, taken_email())?;
        if fold_case(username) != fold_case(email) {
            // A name is nobody else's address, nor an address somebody else's name.
            self.require_absent(keys::login_email(company, username), taken_username())?;
            self.require_absent(keys::login_username(company, email), taken_email())?;
        }
        Ok(())
    }
}

/// The message when a user name leads to somebody already.
pub const TAKEN_USERNAME: &str = "This username is already in use.";

/// How many entries of a name are looked at: a user name, a customer's email, and the newest of the candidates with
/// that email, each of which costs the time of a password check.
const MAX_LOGINS: i32 = 16;

/// Those whom a name leads to.
#[derive(Default)]
pub(crate) struct Found {
    /// Staff users: none, one, or two different ones.
    pub(crate) customers: Vec<Versioned<Customer>>,
    /// Candidates, the newest first.
    pub(crate) candidates: Vec<Versioned<Candidate>>,
}

impl Store {
    /// The accounts that `name` leads to as user name or email.
    ///
    /// Always two calls, so that the time it takes does not tell whether there was anybody, or any such company.
    pub(crate) async fn accounts_by_login(&self, company: Option<&CompanyId>, name: &str) -> Result<Found> {
        let known = company.filter(|_| is_login(name));
        let partition =
            known.map_or_else(|| keys::nothing().pk, |company| keys::login_partition(company, name));
        let mut accounts = Vec::new();
        for account in self.login_accounts(partition).await? {
            accounts.extend(known.map(|company| (account, keys::account(company, account))));
        }
        let mut batch =
            self.get(accounts.iter().map(|(_, key)| key.clone()).chain([keys::nothing()])).await?;
        let mut found = Found::default();
        for (account, key) in accounts {
            match account {
                Account::Customer { .. } => found.customers.extend(batch.take(&key)?),
                Account::Candidate { .. } => found.candidates.extend(batch.take(&key)?),
            }
        }
        Ok(found)
    }

    async fn login_accounts(&self, partition: String) -> Result<Vec<Account>> {
        let response = self
            .with_retries(|| async {
                let response = self
                    .client()
                    .query()
                    .table_name(self.table())
                    .key_condition_expression(format!("{} = :pk", keys::PK))
                    .expression_attribute_values(":pk", AttributeValue::S(partition.clone()))
                    // From USERNAME over EMAIL to the candidates, which come newest first.
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
            let account = serde_dynamo::from_item(item).map_err(Error::internal)?;
            if !accounts.contains(&account) {
                accounts.push(account);
            }
        }
        Ok(accounts)
    }
}
