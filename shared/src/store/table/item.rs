//! Converts values to items and back.

use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::attribute;
use super::keys::{BY_STATUS, DUE, ItemKey, PK, SK};
use crate::domain::history::ResourceChange;
use crate::domain::id::CompanyId;
use crate::error::{Error, Result};

pub(crate) type Item = HashMap<String, AttributeValue>;

/// The attribute that counts the writes of an item.
pub(crate) const VERSION: &str = "version";
/// The attribute that counts the writes that changed a response; absent while it equals the version.
pub(in crate::store) const REVISION: &str = "revision";
/// The attribute with the version of the last write that was an event of the history; absent if there was none.
pub(in crate::store) const EVENT_VERSION: &str = "event_version";
/// The attributes of an item that are not part of its value. Each write sets them anew.
pub(in crate::store) const BOOKKEEPING_ATTRIBUTES: [&str; 9] =
    [PK, SK, VERSION, REVISION, BY_STATUS.pk, BY_STATUS.sk, EXPIRES_AT, DUE.pk, DUE.sk];

impl ItemKey {
    pub(crate) fn into_attributes(self) -> Item {
        let mut item = Item::with_capacity(2);
        self.insert_into(&mut item);
        item
    }

    /// Makes it the key of an item.
    pub(crate) fn insert_into(self, item: &mut Item) {
        item.insert(PK.to_owned(), string(self.pk));
        item.insert(SK.to_owned(), string(self.sk));
    }
}

/// The place of an item in the index by due date.
pub(crate) struct DueEntry<'a> {
    pub(crate) shard: u8,
    /// When it is due, to the second.
    pub(crate) at: DateTime<Utc>,
    /// The company that owns the item. The index holds it so that workers can deal out turns by company without reading the items.
    pub(crate) company: &'a CompanyId,
}

/// Separates time and company in the sort key of the index by due date.
pub(in crate::store) const DUE_COMPANY: char = '#';

/// A value with an item of its own.
pub(crate) trait StoredEntity: Serialize + DeserializeOwned {
    /// Attributes that no response shows. A write that changes only these keeps the revision.
    const INTERNAL_FIELDS: &'static [&'static str] = &[];

    /// Map attributes that a rewrite merges entry by entry. It replaces all other values as a whole.
    const MERGED_MAPS: &'static [&'static str] = &[];

    /// The change from `before` to `after` for the history; `None` if this type has no history. A new item has no `before`,
    /// a deleted one no `after`.
    fn history_change(_before: Option<&Self>, _after: Option<&Self>) -> Option<ResourceChange> {
        None
    }

    fn key(&self) -> ItemKey;

    /// Partition and sort key in the index by status; `None` keeps it out of the index.
    fn by_status(&self) -> Option<(String, String)> {
        None
    }

    /// When DynamoDB may delete the item (TTL), which it does some time later; `None` for never.
    fn expires_at(&self) -> Option<DateTime<Utc>> {
        None
    }

    /// The place in the index by due date; `None` keeps it out of the index.
    fn due(&self) -> Option<DueEntry<'_>> {
        None
    }
}

/// A value with the item that it was read from.
#[derive(Clone)]
pub struct VersionedItem<T> {
    // Boxed, because each request moves its loaded items from future to future.
    pub(super) value: Box<T>,
    pub(super) version: u64,
    pub(super) revision: u64,
    /// The item, including attributes that only newer code knows.
    pub(super) stored: Arc<Item>,
}

impl<T> VersionedItem<T> {
    /// A value without an item. Saving it creates the item.
    pub(crate) fn not_stored(value: T) -> Self {
        Self { value: Box::new(value), version: 0, revision: 0, stored: Arc::default() }
    }

    /// Whether the value has an item.
    pub(in crate::store) fn is_stored(&self) -> bool {
        self.version > 0
    }

    /// The number of writes of the item, from 1; 0 if there is no item yet.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The number of writes of the item that changed a response.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The version of the item's last write that was an event of its history; `None` if there was none.
    pub(in crate::store) fn event_version(&self) -> Option<u64> {
        number_in(&self.stored, EVENT_VERSION)
    }

    pub(in crate::store) fn stored(&self) -> &Item {
        &self.stored
    }
}

/// Leaves out the item, which holds secrets.
impl<T: fmt::Debug> fmt::Debug for VersionedItem<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VersionedItem").field("value", &self.value).field("version", &self.version).finish()
    }
}

impl<T> Deref for VersionedItem<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Serialises an entity as the `version`th write of its item.
pub(crate) fn write<T: StoredEntity>(entity: &T, version: u64) -> Result<Item> {
    let mut item = attributes_of(entity)?;
    entity.key().insert_into(&mut item);
    item.insert(VERSION.to_owned(), number(version));
    if let Some((pk, sk)) = entity.by_status() {
        item.insert(BY_STATUS.pk.to_owned(), string(pk));
        item.insert(BY_STATUS.sk.to_owned(), string(sk));
    }
    if let Some(end) = entity.expires_at() {
        item.insert(EXPIRES_AT.to_owned(), number(end.timestamp()));
    }
    if let Some(due) = entity.due() {
        // The index is sparse: items without these attributes are not in it and cost nothing there.
        item.insert(DUE.pk.to_owned(), number(due.shard));
        item.insert(DUE.sk.to_owned(), string(format!("{}{DUE_COMPANY}{}", due_at(due.at), due.company)));
    }
    Ok(item)
}

pub(in crate::store) fn attributes_of(value: &impl Serialize) -> Result<Item> {
    let mut attributes: Item = serde_dynamo::to_item(value).map_err(Error::internal)?;
    // A field without a value gets no attribute, because every read would have to parse it.
    attributes.retain(|_, value| !value.is_null());
    Ok(attributes)
}

/// Marks the `version`th write of an item as its last event if `change` is one. `change` is `None` if the item has no history.
pub(in crate::store) fn note_event(item: &mut Item, change: Option<&ResourceChange>, version: u64) {
    if change.is_some_and(ResourceChange::is_event) {
        item.insert(EVENT_VERSION.to_owned(), number(version));
    }
}

/// Formats a time as the index by due date sorts it, to the second.
pub(in crate::store) fn due_at(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Serialises an entity as the first write of its item.
pub(in crate::store) fn first<T: StoredEntity>(value: T) -> Result<VersionedItem<T>> {
    let stored = Arc::new(write(&value, 1)?);
    Ok(VersionedItem { value: Box::new(value), version: 1, revision: 1, stored })
}

/// Deserialises the entity in an item. Fails with [`Error::Unreadable`], most likely if a newer release has written the item.
pub(crate) fn read<T: StoredEntity>(item: Item) -> Result<VersionedItem<T>> {
    let version = number_in(&item, VERSION).ok_or_else(|| unreadable(&item, "it has no version"))?;
    // A missing revision means that every write changed a response. Most items save the attribute this way.
    let revision = number_in(&item, REVISION).unwrap_or(version);
    let value = Box::new(value_in(&item)?);
    Ok(VersionedItem { value, version, revision, stored: Arc::new(item) })
}

pub(crate) fn value_in<T: DeserializeOwned>(item: &Item) -> Result<T> {
    // Not with `serde_dynamo`, which consumes the item: entities keep it for their next write.
    attribute::from_item(item).map_err(|error| unreadable(item, &error.to_string()))
}

pub(in crate::store) fn unreadable(item: &Item, problem: &str) -> Error {
    // Leave the partition key out of the log: that of a login is a name.
    let sk = key_of(item).map(|key| key.sk).unwrap_or_default();
    Error::Unreadable(format!("the item {sk} cannot be read: {problem}").into())
}

/// Returns `None` for an item that cannot be read and logs it, so that lists leave it out. A metric counts the log lines.
pub(crate) fn or_skipped<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(Error::Unreadable(error)) => {
            // A newer release may have written it. During a deployment, a list without one entry is better than
            // no list.
            tracing::error!(target: "unreadable", unreadable_items = 1, %error, "an item is left out");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The entities in `items`, without those that cannot be read.
pub(in crate::store) fn readable<T: StoredEntity>(items: Vec<Item>) -> Result<Vec<VersionedItem<T>>> {
    let found: Result<Vec<_>> = items.into_iter().map(|item| or_skipped(read(item))).collect();
    Ok(found?.into_iter().flatten().collect())
}

/// The TTL attribute: when DynamoDB may delete the item, in seconds since 1970.
pub(crate) const EXPIRES_AT: &str = "expires_at";

pub(crate) fn key_of(item: &Item) -> Result<ItemKey> {
    match [PK, SK].map(|name| item.get(name).and_then(|part| part.as_s().ok())) {
        [Some(pk), Some(sk)] => Ok(ItemKey { pk: pk.clone(), sk: sk.clone() }),
        _ => Err(Error::internal("an item without a key")),
    }
}

pub(in crate::store) fn keys_of(items: &[Item]) -> Result<Vec<ItemKey>> {
    items.iter().map(key_of).collect()
}

/// The attributes of an item that is no entity, as its first write.
pub(in crate::store) fn bare<const N: usize>(attributes: [(&str, AttributeValue); N]) -> Item {
    let attributes = attributes.into_iter().chain([(VERSION, number(1))]);
    attributes.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The attributes of an item that holds a value but is no entity, as its first write.
pub(in crate::store) fn bare_of(value: &impl Serialize) -> Result<Item> {
    let mut item = attributes_of(value)?;
    item.insert(VERSION.to_owned(), number(1));
    Ok(item)
}

pub(crate) fn string(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

pub(crate) fn number(number: impl ToString) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

pub(crate) fn number_in<N: std::str::FromStr>(item: &Item, name: &str) -> Option<N> {
    item.get(name)?.as_n().ok()?.parse().ok()
}
