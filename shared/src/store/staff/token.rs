//! Access patterns of named tokens: found by the hash of their value, listed by their company.

use crate::domain::history::ResourceChange;
use crate::domain::id::CompanyId;
use crate::domain::staff::named_token::NamedToken;
use crate::error::{Error, Result};
use crate::store::Store;
use crate::store::company::counts::CompanyCount;
use crate::store::table::item::{self, StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::write::condition::WriteCondition;
use crate::store::table::write::transaction::Transaction;

impl StoredEntity for NamedToken {
    fn history_change(before: Option<&Self>, after: Option<&Self>) -> Option<ResourceChange> {
        ResourceChange::of(before, after)
    }

    fn key(&self) -> ItemKey {
        keys::token(&self.company, self.id)
    }
}

impl Store {
    /// Creates a named token. Fails with a message on `value` if any company has a token with this value, with
    /// `TOO_MANY_TOKENS`, and with [`Error::NotFound`] in a company that is being erased.
    pub fn create_token(&self, token: &NamedToken) -> Transaction {
        let mut transaction = self.transaction();
        // A request that was under way when all logins ended must not leave a new one.
        transaction.require(keys::company(&token.company), WriteCondition::Present, Error::NotFound);
        transaction.create(token);
        // Unique over all companies, so the message does not say that the value exists.
        let taken = Error::field("value", "This value cannot be used. Send another one.");
        if let Some(item) = transaction.or_fault(item::write(token, 1)) {
            // A copy, so that a request by the token needs one read.
            transaction.put(keys::token_by_hash(&token.hash), item, WriteCondition::Absent, taken);
        }
        transaction.change_company_counts(&token.company, &[(CompanyCount::NamedTokens, 1)]);
        transaction
    }

    /// Deletes a named token, which revokes it at once.
    pub fn delete_token(&self, token: &VersionedItem<NamedToken>) -> Transaction {
        let mut transaction = self.transaction();
        transaction.delete(token);
        transaction.delete_derived(keys::token_by_hash(&token.hash));
        transaction.change_company_counts(&token.company, &[(CompanyCount::NamedTokens, -1)]);
        transaction
    }

    /// All named tokens of a company, oldest first.
    pub async fn tokens(&self, company: &CompanyId) -> Result<Vec<VersionedItem<NamedToken>>> {
        self.all(&keys::tokens(company)).await
    }
}
