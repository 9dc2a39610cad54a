//! Writes of single items, at half the price of a transaction.
//!
//! A retry after a lost response finds its own write and reports [`Error::Changed`], as after a concurrent write. Callers
//! must not depend on the difference.

use aws_sdk_dynamodb::error::ProvideErrorMetadata as _;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure};

use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, Item, StoredEntity, VersionedItem};
use crate::store::table::keys::ItemKey;
use crate::store::table::retry::CallFailure;
use crate::store::table::write::condition::WriteCondition;

impl Store {
    /// Creates an entity. Fails with [`Error::Changed`] if it exists.
    pub(in crate::store) async fn create_alone<T: StoredEntity>(
        &self,
        entity: T,
    ) -> Result<VersionedItem<T>> {
        let first = item::first(entity)?;
        self.put_item(first.stored().clone(), WriteCondition::Absent).await?.map_err(|_| Error::Changed)?;
        Ok(first)
    }

    /// Replaces `before` by `after`. Fails with [`Error::Changed`] after a concurrent write.
    pub(in crate::store) async fn replace<T: StoredEntity>(
        &self,
        before: &VersionedItem<T>,
        after: T,
    ) -> Result<VersionedItem<T>> {
        let next = before.followed_by(after)?;
        let condition = WriteCondition::Version(before.version());
        self.put_item(next.stored().clone(), condition).await?.map_err(|_| Error::Changed)?;
        Ok(next)
    }

    /// Replaces `before` by `after`, or creates it if `before` is not stored. Fails with [`Error::Changed`] after a
    /// concurrent write.
    pub(in crate::store) async fn save<T: StoredEntity>(
        &self,
        before: &VersionedItem<T>,
        after: T,
    ) -> Result<VersionedItem<T>> {
        if before.is_stored() { self.replace(before, after).await } else { self.create_alone(after).await }
    }

    pub(in crate::store) async fn put(&self, key: ItemKey, attributes: Item) -> Result<()> {
        let mut item = attributes;
        key.insert_into(&mut item);
        self.put_item(item, WriteCondition::None).await?.map_err(|_| Error::Changed)
    }

    /// Deletes the item under `key`, if there is one.
    pub(in crate::store) async fn delete_alone(&self, key: &ItemKey) -> Result<()> {
        self.delete_item(key, WriteCondition::None).await
    }

    /// Deletes an entity. Fails with [`Error::Changed`] after a concurrent write or deletion.
    pub(in crate::store) async fn erase<T: StoredEntity>(&self, entity: &VersionedItem<T>) -> Result<()> {
        self.delete_item(&entity.key(), WriteCondition::Version(entity.version())).await
    }

    /// Puts an item. If the condition fails, the inner error is the existing item, if there is one.
    pub(in crate::store) async fn put_item(
        &self,
        item: Item,
        condition: WriteCondition,
    ) -> Result<Result<(), Option<Item>>> {
        self.with_retries(|| async {
            let response = self
                .client()
                .put_item()
                .table_name(self.table())
                .set_item(Some(item.clone()))
                .set_condition_expression(condition.expression())
                .set_expression_attribute_values(condition.values())
                .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await;
            match response {
                Ok(response) => {
                    self.usage.count_writes(response.consumed_capacity());
                    Ok(Ok(()))
                }
                Err(error) => match error.as_service_error() {
                    Some(PutItemError::ConditionalCheckFailedException(refusal)) => {
                        Ok(Err(refusal.item().cloned()))
                    }
                    _ => Err(CallFailure::of(error)),
                },
            }
        })
        .await
    }

    async fn delete_item(&self, key: &ItemKey, condition: WriteCondition) -> Result<()> {
        self.with_retries(|| async {
            let response = self
                .client()
                .delete_item()
                .table_name(self.table())
                .set_key(Some(key.clone().into_attributes()))
                .set_condition_expression(condition.expression())
                .set_expression_attribute_values(condition.values())
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await
                .map_err(|error| match error.code() {
                    Some("ConditionalCheckFailedException") => CallFailure::Final(Error::Changed),
                    _ => CallFailure::of(error),
                })?;
            self.usage.count_writes(response.consumed_capacity());
            Ok(())
        })
        .await
    }
}
