//! Access patterns of named tokens: found by the hash of their value, listed by their company.

use super::Store;
use super::batch::Batch;
use super::item::{self, Entity, Versioned};
use super::keys::{self, Key};
use super::page::{Listing, PageRequest};
use super::tally::Owned;
use super::transaction::Transaction;
use crate::domain::id::CompanyId;
use crate::domain::named_token::NamedToken;
use crate::error::{Error, Result};

impl Entity for NamedToken {
    fn key(&self) -> Key {
        keys::token(&self.company, self.id)
    }
}

impl Batch {
    /// Takes the named token whose value leads to `key` out, if there was one.
    pub(crate) fn take_token(&mut self, key: &Key) -> Result<Option<NamedToken>> {
        self.take_item(key).as_ref().map(item::value_in).transpose()
    }
}

impl Store {
    /// Creates a named token.
    ///
    /// # Errors
    /// A message on `value` when there is one of that value, in whichever company; [`TOO_MANY_TOKENS`].
    ///
    /// [`TOO_MANY_TOKENS`]: crate::domain::named_token::TOO_MANY_TOKENS
    pub fn create_token(&self, token: &NamedToken) -> Transaction {
        let mut transaction = self.transaction();
        transaction.create(token, Error::internal("a new identifier is taken"));
        let taken = Error::field("value", "Choose another value.");
        if let Some(item) = transaction.or_fault(item::write(token, 1)) {
            transaction.create_item(keys::token_by_hash(&token.hash), item, taken);
        }
        transaction.company_tally(&token.company, &[(Owned::NamedTokens, 1)]);
        transaction
    }

    /// Deletes a named token, which ends it at once.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn delete_token(&self, token: &Versioned<NamedToken>) -> Transaction {
        let mut transaction = self.transaction();
        transaction.delete(token);
        transaction.delete_derived(keys::token_by_hash(&token.hash));
        transaction.company_tally(&token.company, &[(Owned::NamedTokens, -1)]);
        transaction
    }

    /// Every named token of a company, the oldest first.
    pub async fn tokens(&self, company: &CompanyId) -> Result<Vec<Versioned<NamedToken>>> {
        Ok(self.page(&Listing::All(keys::tokens(company)), &PageRequest::everything()).await?.rows)
    }
}
