//! Archives of companies: converts items to records, without the data that archives leave out, and back.

mod counts;
mod entities;
mod export;
mod import;
mod reader;
mod start;
mod usage;

pub use counts::ArchivedCounts;
pub use export::ArchivePage;
pub use reader::{ArchiveReader, ImportedRecord};
pub use usage::ArchivedUsage;

use serde_json::{Value, json};

use super::history::EntryKey;
use super::table::item::{self, BOOKKEEPING_ATTRIBUTES, EVENT_VERSION, StoredEntity, VersionedItem};
use crate::domain::archive::RecordKind;
use crate::domain::id::CompanyId;
use crate::error::{Error, Result};

#[derive(Debug, Clone, PartialEq)]
pub struct ArchiveRecord {
    pub kind: RecordKind,
    /// The identifier, unique in its kind. A file's records are sorted by it.
    pub id: String,
    /// The JSON of the record: `id`, `version` and the stored `value`.
    pub content: Value,
    /// The history entry of the resource's last event; `None` if it has none.
    pub last_event: Option<EntryKey>,
}

/// An entity that archives contain as records.
pub(in crate::store) trait ArchivedEntity: StoredEntity {
    const KIND: RecordKind;

    fn record_id(&self) -> String;

    fn company(&self) -> &CompanyId;
}

impl ArchiveRecord {
    /// A record whose value is not that of an item, and that has no version.
    pub fn new(kind: RecordKind, id: String, value: Value) -> Self {
        let content = json!({ "id": id, "value": value });
        Self { kind, id, content, last_event: None }
    }

    pub(in crate::store) fn of<T: ArchivedEntity>(item: &VersionedItem<T>) -> Result<Self> {
        Self::with_value(item, item)
    }

    /// The record of `item` with this value. Fails with [`Error::Unreadable`] if the item has an attribute that this
    /// release does not know, because the attribute may be a secret.
    pub(in crate::store) fn with_value<T: ArchivedEntity>(
        item: &VersionedItem<T>,
        value: &T,
    ) -> Result<Self> {
        let known = item::attributes_of(value)?;
        let is_known = |name: &str| {
            known.contains_key(name) || BOOKKEEPING_ATTRIBUTES.contains(&name) || name == EVENT_VERSION
        };
        if let Some(name) = item.stored().keys().find(|name| !is_known(name)) {
            let problem = format!("an item of {} has an unknown attribute: {name}", T::KIND.name());
            return Err(Error::Unreadable(problem.into()));
        }
        let mut stored: Value = serde_dynamo::from_item(known).map_err(Error::internal)?;
        for path in T::KIND.left_out() {
            remove(&mut stored, path);
        }
        let id = value.record_id();
        let mut content = json!({ "id": id, "version": item.version(), "value": stored });
        if item.revision() != item.version() {
            content["revision"] = item.revision().into();
        }
        let mut last_event = None;
        if let Some(version) = item.event_version() {
            content["event_version"] = version.into();
            last_event = T::history_change(None, Some(value)).map(|change| EntryKey {
                history_id: change.resource.history_id(&change.company),
                company: change.company,
                version,
            });
        }
        Ok(Self { kind: T::KIND, id, content, last_event })
    }
}

/// Removes the member at a path, whose parts are separated by dots.
fn remove(value: &mut Value, path: &str) {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    match (rest, value.as_object_mut()) {
        (None, Some(object)) => drop(object.remove(first)),
        (Some(rest), Some(object)) => {
            if let Some(inner) = object.get_mut(first) {
                remove(inner, rest);
            }
        }
        (_, None) => {}
    }
}
