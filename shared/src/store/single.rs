//! Writes of single items, at half the price of a transaction.
//!
//! A retry after a lost response finds its own write and reports [`Error::Changed`], as after a concurrent write. Callers
//! must not depend on the difference.

use aws_sdk_dynamodb::error::ProvideErrorMetadata as _;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::types::{ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure};

use super::Store;
use super::condition::Condition;
use super::item::{self, Entity, Item, Versioned};
use super::keys::Key;
use super::retry::Failure;
use crate::error::{Error, Result};

impl Store {
    /// Creates an entity. Fails with [`Error::Changed`] if it exists.
    pub(super) async fn create_alone<T: Entity>(&self, entity: T) -> Result<Versioned<T>> {
        let first = item::first(entity)?;
        self.put_item(first.stored().clone(), Condition::Absent).await?.map_err(|_| Error::Changed)?;
        Ok(first)
    }

    /// Replaces `before` by `after`. Fails with [`Error::Changed`] after a concurrent write.
    pub(super) async fn replace<T: Entity>(&self, before: &Versioned<T>, after: T) -> Result<Versioned<T>> {
        let next = before.followed_by(after)?;
        let condition = Condition::Version(before.version());
        self.put_item(next.stored().clone(), condition).await?.map_err(|_| Error::Changed)?;
        Ok(next)
    }

    pub(super) async fn put(&self, key: Key, attributes: Item) -> Result<()> {
        let mut item = attributes;
        item.extend(key.into_attributes());
        self.put_item(item, Condition::None).await?.map_err(|_| Error::Changed)
    }

    /// Deletes the item under `key`, if there is one.
    pub(super) async fn delete_alone(&self, key: &Key) -> Result<()> {
        self.delete_item(key, Condition::None).await
    }

    /// Deletes an entity. Fails with [`Error::Changed`] after a concurrent write or deletion.
    pub(super) async fn erase<T: Entity>(&self, entity: &Versioned<T>) -> Result<()> {
        self.delete_item(&entity.key(), Condition::Version(entity.version())).await
    }

    /// Puts an item. When the condition fails, the inner result has the item that failed it, if there is one.
    pub(super) async fn put_item(
        &self,
        item: Item,
        condition: Condition,
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
                    _ => Err(Failure::of(error)),
                },
            }
        })
        .await
    }

    async fn delete_item(&self, key: &Key, condition: Condition) -> Result<()> {
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
                    Some("ConditionalCheckFailedException") => Failure::Final(Error::Changed),
                    _ => Failure::of(error),
                })?;
            self.usage.count_writes(response.consumed_capacity());
            Ok(())
        })
        .await
    }
}
