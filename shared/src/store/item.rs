//! How a value becomes an item and back.

use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::keys::{BY_STATUS_PK, BY_STATUS_SK, DUE_AT, DUE_SHARD, Key, PK, SK};
use super::rewrite::{self, Next};
use crate::error::{Error, Result};

/// The attributes of one item.
pub(crate) type Item = HashMap<String, AttributeValue>;

/// The attribute that counts the writes of an item.
pub(crate) const VERSION: &str = "version";
/// The attribute that counts those of them that changed what answers show; absent while that is all of them.
pub(super) const REVISION: &str = "revision";
/// The attributes of an item that its value does not hold.
pub(super) const OWN: [&str; 9] =
    [PK, SK, VERSION, REVISION, BY_STATUS_PK, BY_STATUS_SK, EXPIRES_AT, DUE_SHARD, DUE_AT];

impl Key {
    /// The key as attributes.
    pub(crate) fn into_attributes(self) -> Item {
        Item::from([(PK.to_owned(), string(self.pk)), (SK.to_owned(), string(self.sk))])
    }
}

/// A value that has an item of its own.
pub(crate) trait Entity: Serialize + DeserializeOwned {
    /// Attributes that no answer shows: a write of these alone leaves the revision as it is.
    const UNSHOWN: &'static [&'static str] = &[];

    /// Attributes that are maps whose entries change one by one; values of others are replaced whole.
    const PARTS: &'static [&'static str] = &[];

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

/// A value together with the item it was read from.
#[derive(Clone)]
pub struct Versioned<T> {
    value: T,
    version: u64,
    revision: u64,
    /// The item, with attributes that only newer code knows.
    stored: Arc<Item>,
}

impl<T> Versioned<T> {
    /// Which write of the item this is, counted from 1.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// How many writes of the item have changed what answers show.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The item.
    pub(super) fn stored(&self) -> &Item {
        &self.stored
    }
}

impl<T> Versioned<T> {
    /// The item once `after` is written in place of this value.
    pub(super) fn followed_by(&self, after: T) -> Result<Self>
    where
        T: Entity,
    {
        let Next { item, revision, .. } = rewrite::next(self, &after)?;
        Ok(Self { value: after, version: self.version + 1, revision, stored: Arc::new(item) })
    }
}

/// Without the item, which holds secrets.
impl<T: fmt::Debug> fmt::Debug for Versioned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Versioned").field("value", &self.value).field("version", &self.version).finish()
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

/// An entity as its item's first write.
pub(super) fn first<T: Entity>(value: T) -> Result<Versioned<T>> {
    let stored = Arc::new(write(&value, 1)?);
    Ok(Versioned { value, version: 1, revision: 1, stored })
}

/// The value that [`write`] made the item of.
///
/// # Errors
/// [`Error::Unreadable`], most likely of an item that a newer release has written.
pub(crate) fn read<T: Entity>(item: Item) -> Result<Versioned<T>> {
    let version = number_in(&item, VERSION).ok_or_else(|| unreadable(&item, "it has no version"))?;
    let revision = number_in(&item, REVISION).unwrap_or(version);
    let value = value_in(&item)?;
    Ok(Versioned { value, version, revision, stored: Arc::new(item) })
}

/// The value in the attributes of an item.
///
/// # Errors
/// [`Error::Unreadable`].
pub(crate) fn value_in<T: DeserializeOwned>(item: &Item) -> Result<T> {
    serde_dynamo::from_item(item.clone()).map_err(|error| unreadable(item, &error.to_string()))
}

/// The error about an item that cannot be read.
pub(super) fn unreadable(item: &Item, problem: &str) -> Error {
    let sk = key_of(item).map(|key| key.sk).unwrap_or_default();
    Error::Unreadable(format!("the item {sk} cannot be read: {problem}").into())
}

/// The value, or none of an item that cannot be read: it is left out of its list, and reported in the log, which a metric
/// counts.
pub(crate) fn or_skipped<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(Error::Unreadable(error)) => {
            tracing::error!(target: "unreadable", unreadable_items = 1, %error, "an item is left out");
            Ok(None)
        }
        Err(error) => Err(error),
    }
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
