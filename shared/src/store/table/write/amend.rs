//! Changes an item that was read before, with retries.

use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{StoredEntity, VersionedItem};
use crate::store::table::retry::RetryPolicy;
use crate::store::table::write::transaction::Transaction;

impl Store {
    /// Commits `change` of an entity. If it loses to a concurrent write, reads the entity again and retries. Does
    /// nothing if the entity is deleted or `change` returns `None`. Fails with [`Error::Changed`] after too many
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
