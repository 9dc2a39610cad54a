//! How a value becomes an item and back.

use std::collections::HashMap;
use std::ops::Deref;

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::keys::{BY_STATUS_PK, BY_STATUS_SK, DUE_AT, DUE_SHARD, Key, PK, SK};
use crate::error::{Error, Result};

/// The attributes of one item.
pub(crate) type Item = HashMap<String, AttributeValue>;

/// The attribute that counts the writes of an item.
pub(crate) const VERSION: &str = "version";

impl Key {
    /// The key as attributes.
    pub(crate) fn into_attributes(self) -> Item {
        Item::from([(PK.to_owned(), string(self.pk)), (SK.to_owned(), string(self.sk))])
    }
}

/// A value that has an item of its own.
pub(crate) trait Entity: Serialize + DeserializeOwned {
    /// Where its item stands.
    fn key(&self) -> Key;

    /// Partition and sort key in the index by status; none keeps it out of the index.
    fn by_status(&self) -> Option<(String, String)> {
        None
    }

    /// When DynamoDB may delete it, which it does some time later; none keeps it for ever.
    fn expires_at(&self) -> Option<DateTime<Utc>> {
        None
    }

    /// Partition in the index over what becomes due, and the moment, to the second; none keeps it out of the index.
    fn due(&self) -> Option<(u8, DateTime<Utc>)> {
        None
    }
}

/// A value together with the version of the item it was read from.
#[derive(Debug, Clone)]
pub struct Versioned<T> {
    value: T,
    version: u64,
}

impl<T> Versioned<T> {
    pub(super) fn new(value: T, version: u64) -> Self {
        Self { value, version }
    }

    /// Which write of the item this is, counted from 1.
    pub fn version(&self) -> u64 {
        self.version
    }
}

impl<T> Deref for Versioned<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// The item of `entity` as its `version`th write.
pub(crate) fn write<T: Entity>(entity: &T, version: u64) -> Result<Item> {
    let mut item: Item = serde_dynamo::to_item(entity).map_err(Error::internal)?;
    item.extend(entity.key().into_attributes());
    item.insert(VERSION.to_owned(), number(version));
    if let Some((pk, sk)) = entity.by_status() {
        item.insert(BY_STATUS_PK.to_owned(), string(pk));
        item.insert(BY_STATUS_SK.to_owned(), string(sk));
    }
    if let Some(end) = entity.expires_at() {
        item.insert(EXPIRES_AT.to_owned(), number(end.timestamp()));
    }
    if let Some((shard, at)) = entity.due() {
        item.insert(DUE_SHARD.to_owned(), number(shard));
        item.insert(DUE_AT.to_owned(), string(due_at(at)));
    }
    Ok(item)
}

/// A moment as the index over what becomes due sorts it.
pub(crate) fn due_at(moment: DateTime<Utc>) -> String {
    moment.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The value that [`write`] made the item of.
pub(crate) fn read<T: Entity>(item: Item) -> Result<Versioned<T>> {
    let version = number_in(&item, VERSION).ok_or_else(|| Error::internal("an item without a version"))?;
    let value = serde_dynamo::from_item(item).map_err(Error::internal)?;
    Ok(Versioned { value, version })
}

/// The attribute that tells DynamoDB when it may delete an item, in seconds since 1970.
pub(crate) const EXPIRES_AT: &str = "expires_at";

/// The condition that nothing stands under a key, or what DynamoDB may delete at `:now`.
pub(crate) const ABSENT_OR_EXPIRED: &str = "attribute_not_exists(pk) OR expires_at <= :now";

/// The key of an item.
pub(crate) fn key_of(item: &Item) -> Result<Key> {
    let part = |name: &str| item.get(name)?.as_s().ok().cloned();
    match (part(PK), part(SK)) {
        (Some(pk), Some(sk)) => Ok(Key { pk, sk }),
        _ => Err(Error::internal("an item without a key")),
    }
}

/// A string attribute.
pub(crate) fn string(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

/// A number attribute.
pub(crate) fn number(number: impl ToString) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

/// The whole number in an attribute, if it has one.
pub(crate) fn number_in<N: std::str::FromStr>(item: &Item, name: &str) -> Option<N> {
    item.get(name)?.as_n().ok()?.parse().ok()
}
