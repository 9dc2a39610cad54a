//! Reads of items by their keys.

use std::collections::{BTreeMap, BTreeSet};

use aws_sdk_dynamodb::types::{KeysAndAttributes, ReturnConsumedCapacity};
use futures_util::future::try_join_all;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, Item, StoredEntity, VersionedItem};
use crate::store::table::keys::ItemKey;
use crate::store::table::read::projection::ProjectionExpression;
use crate::store::table::retry::CallFailure;

/// The most keys that DynamoDB takes in one call.
const KEYS_PER_CALL: usize = 100;

/// The items that one read has found.
#[derive(Debug, Default)]
pub(crate) struct ItemBatch(BTreeMap<ItemKey, Item>);

impl ItemBatch {
    pub(crate) fn take<T: StoredEntity>(&mut self, key: &ItemKey) -> Result<Option<VersionedItem<T>>> {
        self.take_item(key).map(item::read).transpose()
    }

    /// Takes an entity for a list. Returns `None`, and logs an error, if it cannot be read.
    pub(crate) fn take_listed<T: StoredEntity>(&mut self, key: &ItemKey) -> Result<Option<VersionedItem<T>>> {
        Ok(item::or_skipped(self.take(key))?.flatten())
    }

    /// Takes a value that is no entity.
    pub(crate) fn take_value<T: DeserializeOwned>(&mut self, key: &ItemKey) -> Result<Option<T>> {
        self.take_item(key).as_ref().map(item::value_in).transpose()
    }

    /// Reads an entity and leaves its item in the batch for another reader.
    pub(crate) fn peek<T: StoredEntity>(&self, key: &ItemKey) -> Result<Option<VersionedItem<T>>> {
        self.0.get(key).cloned().map(item::read).transpose()
    }

    /// Takes a value that is no entity for a list. Returns `None`, and logs an error, if it cannot be read.
    pub(in crate::store) fn take_listed_value<T: DeserializeOwned>(
        &mut self,
        key: &ItemKey,
    ) -> Result<Option<T>> {
        Ok(item::or_skipped(self.take_value(key))?.flatten())
    }

    /// Whether the item was found and has not been taken yet.
    pub(crate) fn contains(&self, key: &ItemKey) -> bool {
        self.0.contains_key(key)
    }

    pub(crate) fn take_item(&mut self, key: &ItemKey) -> Option<Item> {
        self.0.remove(key)
    }

    /// Adds the items that another read has found.
    pub(in crate::store) fn add(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

impl Store {
    pub(in crate::store) async fn item(&self, key: &ItemKey) -> Result<Option<Item>> {
        Ok(self.get([key.clone()]).await?.take_item(key))
    }

    pub(in crate::store) async fn one<T: StoredEntity>(
        &self,
        key: ItemKey,
    ) -> Result<Option<VersionedItem<T>>> {
        self.get([key.clone()]).await?.take(&key)
    }

    /// Reads entities in the order of `keys`, without those that do not exist or cannot be read.
    pub(in crate::store) async fn listed<T: StoredEntity>(
        &self,
        keys: Vec<ItemKey>,
    ) -> Result<Vec<VersionedItem<T>>> {
        let mut batch = self.get(keys.iter().cloned()).await?;
        let found: Result<Vec<_>> = keys.iter().map(|key| batch.take_listed(key)).collect();
        Ok(found?.into_iter().flatten().collect())
    }

    /// Reads items consistently, in one round trip of concurrent calls for up to 100 keys each. Keys may be repeated.
    /// Requests keys again that DynamoDB leaves unprocessed.
    pub(crate) async fn get(&self, keys: impl IntoIterator<Item = ItemKey>) -> Result<ItemBatch> {
        self.get_attributes(keys, &ProjectionExpression::ALL).await
    }

    /// Reads items like [`get`](Self::get), but eventually consistent: at half the price and up to seconds old.
    pub(in crate::store) async fn get_that_may_lag(
        &self,
        keys: impl IntoIterator<Item = ItemKey>,
    ) -> Result<ItemBatch> {
        self.get_in_calls(keys, &ProjectionExpression::ALL, true).await
    }

    /// Reads only these attributes of items, otherwise like [`get`](Self::get). The keys must be among them.
    pub(in crate::store) async fn get_attributes(
        &self,
        keys: impl IntoIterator<Item = ItemKey>,
        attributes: &ProjectionExpression,
    ) -> Result<ItemBatch> {
        // Consistent, because admission decides by these items and must see the last write.
        self.get_in_calls(keys, attributes, false).await
    }

    async fn get_in_calls(
        &self,
        keys: impl IntoIterator<Item = ItemKey>,
        attributes: &ProjectionExpression,
        may_lag: bool,
    ) -> Result<ItemBatch> {
        // DynamoDB refuses a call with the same key twice.
        let wanted: BTreeSet<ItemKey> = keys.into_iter().collect();
        let mut wanted = wanted.into_iter();
        let mut calls = Vec::new();
        while wanted.len() > 0 {
            let keys = wanted.by_ref().take(KEYS_PER_CALL).collect();
            calls.push(self.get_all(keys, attributes, may_lag));
        }
        let mut batch = ItemBatch::default();
        for item in try_join_all(calls).await?.into_iter().flatten() {
            batch.0.insert(item::key_of(&item)?, item);
        }
        Ok(batch)
    }

    async fn get_all(
        &self,
        mut keys: Vec<ItemKey>,
        attributes: &ProjectionExpression,
        may_lag: bool,
    ) -> Result<Vec<Item>> {
        let mut items = Vec::with_capacity(keys.len());
        while !keys.is_empty() {
            let (found, unprocessed) =
                self.with_retries(|| self.get_once(&keys, attributes, may_lag)).await?;
            items.extend(found);
            // DynamoDB leaves keys unprocessed after 16 MB, or earlier if it throttles.
            keys = item::keys_of(&unprocessed)?;
        }
        Ok(items)
    }

    async fn get_once(
        &self,
        keys: &[ItemKey],
        attributes: &ProjectionExpression,
        may_lag: bool,
    ) -> Result<(Vec<Item>, Vec<Item>), CallFailure> {
        let request = KeysAndAttributes::builder()
            .set_keys(Some(keys.iter().cloned().map(ItemKey::into_attributes).collect()))
            .set_projection_expression(attributes.expression())
            .set_expression_attribute_names(attributes.names())
            .consistent_read(!may_lag)
            .build();
        let response = self
            .client()
            .batch_get_item()
            .request_items(self.table(), request.map_err(|error| CallFailure::Final(Error::internal(error)))?)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(CallFailure::of)?;
        self.usage.count_reads(response.consumed_capacity());
        let found = response.responses.unwrap_or_default().remove(self.table()).unwrap_or_default();
        let unprocessed = response.unprocessed_keys.unwrap_or_default().remove(self.table());
        let unprocessed = unprocessed.map(|left| left.keys).unwrap_or_default();
        // If no key was processed, DynamoDB throttles: back off as after an error instead of retrying at once.
        if unprocessed.len() == keys.len() {
            return Err(CallFailure::Overload("DynamoDB processed none of the keys".into()));
        }
        Ok((found, unprocessed))
    }
}
