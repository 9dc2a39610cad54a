//! Access patterns of customers.

use super::Store;
use super::item::Entity;
use super::keys::{self, Key};
use super::tally::Owned;
use crate::domain::customer::Customer;
use crate::error::{Error, Result};

impl Entity for Customer {
    fn key(&self) -> Key {
        keys::customer(&self.company, self.id)
    }
}

impl Store {
    /// Creates a customer of an existing company.
    ///
    /// # Errors
    /// Messages on `company` when there is none, on `username` and `email` when they are taken.
    pub(crate) async fn create_customer(&self, customer: &Customer) -> Result<()> {
        let mut transaction = self.transaction();
        transaction.require(
            keys::company(&customer.company),
            Error::field("company", "There is no such company."),
        )?;
        transaction.create(customer, Error::internal("a new identifier is taken"))?;
        transaction.create_customer_logins(customer)?;
        transaction.company_tally(&customer.company, &[(Owned::Customers, 1)])?;
        self.commit(transaction).await
    }
}
