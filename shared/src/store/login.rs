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
use crate::domain::text::is_login;
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
        let username = keys::login_username(&customer.company, customer.username.as_str());
        self.create_login(username, &account, Error::field("username", TAKEN_USERNAME))?;
        let email = keys::login_email(&customer.company, customer.email.as_str());
        self.create_login(
            email,
            &account,
            Error::field("email", "A customer with this email already exists."),
        )
    }
}

/// The message when a user name leads to somebody already.
pub(super) const TAKEN_USERNAME: &str = "This username is already in use.";

impl Store {
    /// The customers that `name` leads to as user name or email: none, one, or two different ones.
    pub(crate) async fn customers_by_login(
        &self,
        company: &CompanyId,
        name: &str,
    ) -> Result<Vec<Versioned<Customer>>> {
        if !is_login(name) {
            return Ok(Vec::new());
        }
        let found = self.staff_by_login(company, name).await?;
        let mut batch = self.get(found.iter().map(|customer| keys::customer(company, *customer))).await?;
        let mut customers = Vec::new();
        for id in found {
            customers.extend(batch.take(&keys::customer(company, id))?);
        }
        Ok(customers)
    }

    async fn staff_by_login(&self, company: &CompanyId, name: &str) -> Result<Vec<CustomerId>> {
        let response = self
            .with_retries(|| async {
                let response = self
                    .client()
                    .query()
                    .table_name(self.table())
                    .key_condition_expression(format!("{} = :pk AND {} >= :first", keys::PK, keys::SK))
                    .expression_attribute_values(
                        ":pk",
                        AttributeValue::S(keys::login_partition(company, name)),
                    )
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
