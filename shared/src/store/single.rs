//! Writes of one item by itself, which cost half of what they would in a transaction.

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::ReturnConsumedCapacity;

use super::Store;
use super::item::{self, Entity, Item, Versioned, number};
use super::keys::Key;
use super::retry::Failure;
use crate::error::{Error, Result};

const UNCHANGED: &str = "version = :version";

impl Store {
    /// Puts an entity where none may stand.
    ///
    /// # Errors
    /// [`Error::Changed`] when one does.
    pub(super) async fn create_alone<T: Entity>(&self, entity: &T) -> Result<()> {
        let item = item::write(entity, 1)?;
        self.with_retries(|| async {
            let response = self
                .client()
                .put_item()
                .table_name(self.table())
                .set_item(Some(item.clone()))
                .condition_expression("attribute_not_exists(pk)")
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await
                .map_err(refused)?;
            self.usage.count_writes(response.consumed_capacity());
            Ok(())
        })
        .await
    }

    /// Deletes what stands under `key`, if anything does.
    pub(super) async fn delete_alone(&self, key: &Key) -> Result<()> {
        self.with_retries(|| async {
            let response = self
                .client()
                .delete_item()
                .table_name(self.table())
                .set_key(Some(key.clone().into_attributes()))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await
                .map_err(Failure::of)?;
            self.usage.count_writes(response.consumed_capacity());
            Ok(())
        })
        .await
    }

    /// Puts `after` in place of `before`.
    ///
    /// A retry after an answer that got lost finds its own write and takes it for somebody else's: to callers that is
    /// the same, since they leave to others what has changed.
    ///
    /// # Errors
    /// [`Error::Changed`].
    pub(super) async fn replace<T: Entity>(&self, before: &Versioned<T>, after: T) -> Result<Versioned<T>> {
        let version = before.version() + 1;
        let item = item::write(&after, version)?;
        self.with_retries(|| async {
            let response = self
                .client()
                .put_item()
                .table_name(self.table())
                .set_item(Some(item.clone()))
                .condition_expression(UNCHANGED)
                .expression_attribute_values(":version", number(before.version()))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await
                .map_err(refused)?;
            self.usage.count_writes(response.consumed_capacity());
            Ok(())
        })
        .await?;
        Ok(Versioned::new(after, version))
    }

    /// Puts a bare item, whatever stands there.
    pub(super) async fn put(&self, key: Key, attributes: Item) -> Result<()> {
        let mut item = attributes;
        item.extend(key.into_attributes());
        self.with_retries(|| async {
            let response = self
                .client()
                .put_item()
                .table_name(self.table())
                .set_item(Some(item.clone()))
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .await
                .map_err(Failure::of)?;
            self.usage.count_writes(response.consumed_capacity());
            Ok(())
        })
        .await
    }

    /// Deletes an entity.
    ///
    /// # Errors
    /// [`Error::Changed`], if it was deleted before as well.
    pub(super) async fn erase<T: Entity>(&self, entity: &Versioned<T>) -> Result<()> {
        self.with_retries(|| async {
            let response = self
                .client()
                .delete_item()
                .table_name(self.table())
                .set_key(Some(entity.key().into_attributes()))
                .condition_expression(UNCHANGED)
                .expression_attribute_values(":version", number(entity.version()))
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
