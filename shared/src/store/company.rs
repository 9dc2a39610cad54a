//! Access patterns of companies.

use super::Store;
use super::item::{Entity, Item, VERSION, Versioned, number};
use super::keys::{self, Key};
use super::tally::Owned;
use crate::domain::company::Company;
use crate::domain::customer::Customer;
use crate::domain::id::CompanyId;
use crate::error::{Error, Result};

impl Entity for Company {
    fn key(&self) -> Key {
        keys::company(&self.id)
    }
}

impl Store {
    /// Creates a company and its first owner.
    ///
    /// # Errors
    /// A message on `company` when its identifier is taken.
    pub(crate) async fn create_company(&self, company: &Company, owner: &Customer) -> Result<()> {
        let mut transaction = self.transaction();
        transaction.create(company, Error::field("company", "This company already exists."))?;
        // The owner is counted from the start, so the tally is written whole and not added to.
        let tally = Item::from([
            (VERSION.to_owned(), number(1)),
            (Owned::Customers.attribute(), number(1)),
            (Owned::Owners.attribute(), number(i64::from(owner.is_at_work()))),
        ]);
        transaction.put_derived(keys::company_tally(&company.id), tally)?;
        transaction.create(owner, Error::internal("a new identifier is taken"))?;
        transaction.customer_logins(None, Some(owner))?;
        self.commit(transaction).await
    }

    /// Reads a company, if there is one.
    pub async fn company(&self, company: &CompanyId) -> Result<Option<Versioned<Company>>> {
        let key = keys::company(company);
        self.get([key.clone()]).await?.take(&key)
    }

    /// Puts `after` in place of `before`.
    ///
    /// # Errors
    /// [`Error::Changed`].
    pub async fn update_company(&self, before: &Versioned<Company>, after: &Company) -> Result<()> {
        let mut transaction = self.transaction();
        transaction.replace(before, after)?;
        self.commit(transaction).await
    }
}
