//! The next write of an item. It keeps unchanged values as they are stored, and attributes that only newer code knows.

use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::history::ResourceChange;
use crate::error::Result;
use crate::store::table::item::{
    self, BOOKKEEPING_ATTRIBUTES, Item, REVISION, StoredEntity, VersionedItem, number,
};

pub(in crate::store) struct NextWrite {
    pub(in crate::store) item: Item,
    pub(in crate::store) revision: u64,
    /// Whether the write changes a response.
    pub(in crate::store) is_shown: bool,
}

impl<T> VersionedItem<T> {
    /// The next write of the item, with the value `after`; its first write if it is not stored yet.
    pub(in crate::store) fn followed_by(&self, after: T) -> Result<Self>
    where
        T: StoredEntity,
    {
        if !self.is_stored() {
            return item::first(after);
        }
        let change = T::history_change(Some(&*self.value), Some(&after));
        let NextWrite { item, revision, .. } = next(self, &after, change.as_ref())?;
        Ok(Self { value: Box::new(after), version: self.version + 1, revision, stored: Arc::new(item) })
    }
}

/// The write that replaces `before` by `after`. `change` is what the history records of it; `None` if the item has no history.
pub(in crate::store) fn next<T: StoredEntity>(
    before: &VersionedItem<T>,
    after: &T,
    change: Option<&ResourceChange>,
) -> Result<NextWrite> {
    let known = item::attributes_of(&**before)?;
    let version = before.version() + 1;
    let mut item = item::write(after, version)?;
    let is_shown = shown::<T>(&known).ne(&shown::<T>(&item));
    // During a release, newer code writes attributes that this code does not know.
    carry(before.stored(), &known, &mut item, T::MERGED_MAPS);
    item::note_event(&mut item, change, version);
    // `If-Match` compares revisions: an editor need not care about writes that responses do not show.
    let revision = before.revision() + u64::from(is_shown);
    if revision != version {
        item.insert(REVISION.to_owned(), number(revision));
    }
    Ok(NextWrite { item, revision, is_shown })
}

fn shown<T: StoredEntity>(item: &Item) -> Vec<(&String, &AttributeValue)> {
    let mut shown: Vec<_> = item
        .iter()
        .filter(|(name, _)| {
            !BOOKKEEPING_ATTRIBUTES.contains(&name.as_str()) && !T::INTERNAL_FIELDS.contains(&name.as_str())
        })
        .collect();
    shown.sort_by_key(|(name, _)| *name);
    shown
}

/// Copies from `stored` into `after` the attributes that this code does not know, and the stored form of values that it
/// does not change. Does so entry by entry for the maps named in `parts`.
fn carry(stored: &Item, before: &Item, after: &mut Item, parts: &[&str]) {
    for (name, value) in stored.iter().filter(|(name, _)| !BOOKKEEPING_ATTRIBUTES.contains(&name.as_str())) {
        match (value, before.get(name), after.get_mut(name)) {
            // An attribute of a newer release: older code must not drop it.
            (_, None, None) => drop(after.insert(name.clone(), value.clone())),
            // Unchanged, so the stored form stays: it may hold parts that this code does not know.
            (_, Some(before), Some(after)) if before == after => after.clone_from(value),
            (AttributeValue::M(stored), Some(AttributeValue::M(before)), Some(AttributeValue::M(after)))
                if parts.contains(&name.as_str()) =>
            {
                // One level is enough: only entries of the named maps change one by one.
                carry(stored, before, after, &[]);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::store::table::keys::{self, ItemKey};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Thing {
        name: String,
        secret: Option<String>,
        part: Part,
        value: Option<Part>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Part {
        one: u8,
        list: Vec<u8>,
    }

    impl StoredEntity for Thing {
        const INTERNAL_FIELDS: &'static [&'static str] = &["secret"];
        const MERGED_MAPS: &'static [&'static str] = &["part"];

        fn key(&self) -> ItemKey {
            keys::absent_key()
        }
    }

    fn stored() -> VersionedItem<Thing> {
        let part = Part { one: 1, list: vec![1] };
        let thing = Thing { name: "a".to_owned(), secret: None, part: part.clone(), value: Some(part) };
        let mut item = item::write(&thing, 4).unwrap();
        item.insert("newer".to_owned(), number(7));
        for name in ["part", "value"] {
            let Some(AttributeValue::M(inner)) = item.get_mut(name) else { panic!("{name} is a map") };
            inner.insert("newer".to_owned(), number(8));
        }
        item::read(item).unwrap()
    }

    fn newer(item: &Item, name: &str) -> Option<AttributeValue> {
        item[name].as_m().unwrap().get("newer").cloned()
    }

    #[test]
    fn unknown_attributes_stay() {
        let before = stored();
        let mut after = Thing::clone(&before);
        after.name = "b".to_owned();
        let written = next(&before, &after, None).unwrap();
        assert_eq!(written.item["newer"], number(7));
        assert_eq!(
            (newer(&written.item, "part"), newer(&written.item, "value")),
            (Some(number(8)), Some(number(8)))
        );
        assert_eq!((written.revision, written.is_shown, &written.item[item::VERSION]), (5, true, &number(5)));
    }

    #[test]
    fn an_entry_of_a_part_is_changed_alone_and_a_value_is_replaced_whole() {
        let before = stored();
        let mut after = Thing::clone(&before);
        after.part.one = 2;
        after.value = Some(Part { one: 2, list: vec![] });
        let written = next(&before, &after, None).unwrap();
        assert_eq!((newer(&written.item, "part"), newer(&written.item, "value")), (Some(number(8)), None));
        after.value = None;
        let written = next(&before, &after, None).unwrap();
        assert_eq!(written.item.get("value"), None);
    }

    #[test]
    fn a_write_that_shows_nothing_leaves_the_revision() {
        let before = stored();
        let mut after = Thing::clone(&before);
        after.secret = Some("s".to_owned());
        let unshown = before.followed_by(after.clone()).unwrap();
        assert_eq!((unshown.version(), unshown.revision()), (5, 4));
        let again: VersionedItem<Thing> = item::read(unshown.stored().clone()).unwrap();
        assert_eq!((again.version(), again.revision()), (5, 4));
        after.name = "b".to_owned();
        let shown = again.followed_by(after).unwrap();
        assert_eq!((shown.version(), shown.revision()), (6, 5));
    }
}
