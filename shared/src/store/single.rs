//! Writes of one item by itself, which cost half of what they would in a transaction.
//!
//! A retry after an answer that got lost finds its own write and takes it for somebody else's: to callers that is the
//! same, since they leave to others what has changed.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;

use super::Store;
use super::item::{self, Entity, Item, Versioned, number};
use super::keys::Key;
use super::retry::Failure;
use crate::error::{Error, Result};

/// What must be where an item is written.
#[derive(Clone, Copy)]
enum Condition {
    /// Whatever.
    None,
    /// Nothing.
    Absent,
    /// This write of the item.
    Version(u64),
}

impl Condition {
    fn expression(self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Absent => Some("attribute_not_exists(pk)".to_owned()),
            Self::Version(_) => Some("version = :version".to_owned()),
        }
    }

    fn values(self) -> Option<Item> {
        match self {
            Self::None | Self::Absent => None,
            Self::Version(version) => Some(Item::from([(":version".to_owned(), number(version))])),
        }
    }
}

impl Store {
    /// Puts an entity where none may stand.
    ///
    /// # Errors
    /// [`Error::Changed`] when one does.
    pub(super) async fn create_alone<T: Entity>(&self, entity: &T) -> Result<()> {
        self.put_item(item::write(entity, 1)?, Condition::Absent).await
    }

    /// Puts `after` in place of `before`.
    ///
    /// # Errors
    /// [`Error::Changed`].
    pub(super) async fn replace<T: Entity>(&self, before: &Versioned<T>, after: T) -> Result<Versioned<T>> {
        let next = before.followed_by(after)?;
        self.put_item(next.stored().clone(), Condition::Version(before.version())).await?;
        Ok(next)
    }

    /// Puts a bare item, whatever stands there.
    pub(super) async fn put(&self, key: Key, attributes: Item) -> Result<()> {
        let mut item = attributes;
        item.extend(key.into_attributes());
        self.put_item(item, Condition::None).await
    }

    /// Deletes what stands under `key`, if anything does.
    pub(super) async fn delete_alone(&self, key: &Key) -> Result<()> {
        self.delete_item(key, Condition::None).await
    }

    /// Deletes an entity.
    ///
    /// # Errors
    /// [`Error::Changed`], if it was deleted before as well.
    pub(super) async fn erase<T: Entity>(&self, entity: &Versioned<T>) -> Result<()> {
        self.delete_item(&entity.key(), Condition::Version(entity.version())).await
    }

    async fn put_item(&self, item: Item, condition: Condition) -> Result<()> {
        self.with_retries(|| async {
            let response = self
                .client()
                .put_item()
                .table_name(self.table())
                .set_item(Some(item.clone()))
                .set_condition_expression(condition.expression())
                .set_expression_attribute_values(condition.values())
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await
                .map_err(refused)?;
            self.usage.count_writes(response.consumed_capacity());
            Ok(())
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
                .map_err(refused)?;
            self.usage.count_writes(response.consumed_capacity());
            Ok(())
        })
        .await
    }
}

fn refused<E>(error: SdkError<E>) -> Failure
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    if error.code() == Some("ConditionalCheckFailedException") {
        Failure::Final(Error::Changed)
    } else {
        Failure::of(error)
    }
}
