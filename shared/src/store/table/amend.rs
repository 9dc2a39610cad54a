//! Changes of one item that was read before.

use super::item::{StoredEntity, VersionedItem};
use super::retry::RetryPolicy;
use super::transaction::Transaction;
use crate::error::{Error, Result};
use crate::store::Store;

impl Store {
    /// Commits `transaction` with the replacement of `before` by `after`, and returns the entity as it is then. Fails with
    /// [`Error::Changed`] after a concurrent write, and with the errors of the other writes.
    pub(in crate::store) async fn replace_in<T: StoredEntity>(
        &self,
        mut transaction: Transaction,
        before: &VersionedItem<T>,
        after: T,
    ) -> Result<VersionedItem<T>> {
        transaction.replace(before, &after);
        self.commit(transaction).await?;
        before.followed_by(after)
    }

    /// Commits `change` of an entity that has been read, and again of a fresh copy when it loses to a concurrent write.
    /// Does nothing if the entity is deleted or `change` returns `None`. Fails with [`Error::Changed`] after too many
    /// attempts, and with other errors of a transaction.
    pub(in crate::store) async fn update_with_retry<T: StoredEntity>(
        &self,
        mut before: VersionedItem<T>,
        change: impl Fn(&VersionedItem<T>) -> Option<Transaction>,
    ) -> Result<()> {
        for _ in 0..RetryPolicy::CHANGE.attempts {
            let Some(transaction) = change(&before) else { return Ok(()) };
            match self.commit(transaction).await {
                Err(Error::Changed | Error::NotFound) => {}
                settled => return settled,
            }
            match self.one(before.key()).await? {
                Some(fresh) => before = fresh,
                None => return Ok(()),
            }
        }
        Err(Error::Changed)
    }
}
