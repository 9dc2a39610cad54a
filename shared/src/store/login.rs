//! The names that lead to an account. Uniqueness is a condition on these items.

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use serde::{Deserialize, Serialize};

use super::Store;
use super::item::{Item, VERSION, Versioned, number};
use super::keys::{self, Key};
use super::retry::Failure;
use super::transaction::Transaction;
use crate::domain::customer::Customer;
use crate::domain::id::{CandidateId, CompanyId, CustomerId, ProjectId};
use crate::domain::text::{fold_case, is_login};
use crate::error::{Error, Result};

/// Who a name leads to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "account", rename_all = "kebab-case")]
pub(super) enum Account {
    /// A staff user.
    Customer {
        /// Which.
        customer: CustomerId,
    },
    /// A candidate.
    Candidate {
        /// Its project.
        project: ProjectId,
        /// Which.
        candidate: CandidateId,
    },
}

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
pub(super) const TAKEN_USERNAME: &str = "This username is already in use.";

impl Store {
    /// The customers that `name` leads to as user name or email: none, one, or two different ones.
    ///
    /// Always two calls, so that the time it takes does not tell whether there was anybody, or any such company.
    pub(crate) async fn customers_by_login(
        &self,
        company: Option<&CompanyId>,
        name: &str,
    ) -> Result<Vec<Versioned<Customer>>> {
        let known = company.filter(|_| is_login(name));
        let partition =
            known.map_or_else(|| keys::nothing().pk, |company| keys::login_partition(company, name));
        let mut accounts: Vec<Key> = Vec::new();
        for customer in self.staff_by_login(partition).await? {
            accounts.extend(known.map(|company| keys::customer(company, customer)));
        }
        let mut batch = self.get(accounts.iter().cloned().chain([keys::nothing()])).await?;
        let mut customers = Vec::new();
        for key in accounts {
            customers.extend(batch.take(&key)?);
        }
        Ok(customers)
    }

    async fn staff_by_login(&self, partition: String) -> Result<Vec<CustomerId>> {
        let response = self
            .with_retries(|| async {
                let response = self
                    .client()
                    .query()
                    .table_name(self.table())
                    .key_condition_expression(format!("{} = :pk AND {} >= :first", keys::PK, keys::SK))
                    .expression_attribute_values(":pk", AttributeValue::S(partition.clone()))
                    .expression_attribute_values(":first", AttributeValue::S("EMAIL".to_owned()))
                    .consistent_read(true)
                    .return_consumed_capacity(ReturnConsumedCapacity::Total)
                    .send()
                    .await
                    .map_err(Failure::of)?;
                self.usage.count_reads(response.consumed_capacity());
                Ok(response)
            })
            .await?;
        let mut customers = Vec::new();
        for item in response.items.unwrap_or_default() {
            if let Account::Customer { customer } = serde_dynamo::from_item(item).map_err(Error::internal)?
                && !customers.contains(&customer)
            {
                customers.push(customer);
            }
        }
        Ok(customers)
    }
}
