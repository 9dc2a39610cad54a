//! Transactions: all writes of a request, committed together or not at all. `commit.rs` commits them.

use std::sync::Arc;

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::{
    ConditionCheck, Delete, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem, Update,
};
use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::history::{ChangeAuthor, ChangeOrigin, HistoryEntry, ResourceChange};
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, Item, StoredEntity, VersionedItem};
use crate::store::table::keys::ItemKey;
use crate::store::table::write::condition::{self, WriteCondition};
use crate::store::table::write::rewrite;

/// Writes that are committed together. Each write has the error that the commit fails with if the write's condition is not met.
///
/// One item may be written only once in a transaction.
///
/// Replacing or deleting an entity fails with [`Error::Changed`] after a concurrent write, and with [`Error::NotFound`]
/// after a concurrent deletion. Methods that return a transaction document only other errors.
#[derive(Default)]
pub struct Transaction {
    table: String,
    /// The origin of the changes. The history records it for `kept`.
    origin: Option<Arc<ChangeOrigin>>,
    kept: TimeDelta,
    pub(in crate::store::table) writes: Vec<TransactWriteItem>,
    pub(in crate::store::table) refusals: Vec<Error>,
    /// Keys that the transaction does not delete.
    spared: Vec<ItemKey>,
    /// Whether responses show a change.
    is_shown: bool,
    /// The first error in building a write; the commit fails with it.
    pub(in crate::store::table) fault: Option<Error>,
}

impl Transaction {
    /// The author of the changes; `None` for a transaction without an origin.
    pub(in crate::store) fn author(&self) -> Option<ChangeAuthor> {
        let origin = self.origin.as_deref()?;
        // The person who acts, not the author on whose behalf they act.
        Some(origin.on_behalf_by.map_or(origin.by, |customer| ChangeAuthor::Customer { customer }))
    }

    pub(crate) fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Notes that responses show a change.
    pub(in crate::store) fn show(&mut self) {
        self.is_shown = true;
    }

    /// Never deletes these keys: in a restored table, other accounts may own them.
    pub(in crate::store) fn without_keys(self, keys: Vec<ItemKey>) -> Self {
        Self { spared: keys, ..self }
    }

    /// Puts an item, as the first write. If an item exists that has not expired by `now`, the commit fails with
    /// `taken`, whatever other conditions fail.
    pub(in crate::store) fn create_first(
        &mut self,
        key: ItemKey,
        attributes: Item,
        now: DateTime<Utc>,
        taken: Error,
    ) {
        self.put(key, attributes, WriteCondition::AbsentOrExpired(now), taken);
        // The commit reports the first failed condition, so this write must be the first.
        self.writes.rotate_right(1);
        self.refusals.rotate_right(1);
    }

    /// Moves the field errors of all writes so far to `field`.
    pub(in crate::store) fn prefix_errors(&mut self, field: &str) {
        for refusal in &mut self.refusals {
            if let Error::Fields(messages) = refusal {
                *messages = std::mem::take(messages).about(field);
            }
        }
    }

    /// Creates an entity under a new identifier.
    pub(in crate::store) fn create<T: StoredEntity>(&mut self, entity: &T) {
        self.create_unless(entity, || Error::internal("a new identifier is taken"));
    }

    /// Creates an entity. Fails with `taken` if it exists, or if it was deleted and its history remains.
    pub(in crate::store) fn create_unless<T: StoredEntity>(&mut self, entity: &T, taken: impl Fn() -> Error) {
        if let Some(mut item) = self.or_fault(item::write(entity, 1)) {
            let change = T::history_change(None, Some(entity));
            item::note_event(&mut item, change.as_ref(), 1);
            self.put_item(item, WriteCondition::Absent, taken());
            self.record(change, 1, None, taken());
        }
    }

    /// Replaces `before` by `after`; [`Error::Changed`] after a concurrent write.
    pub(in crate::store) fn replace<T: StoredEntity>(&mut self, before: &VersionedItem<T>, after: &T) {
        self.put_next(before, after, T::history_change(Some(&**before), Some(after)));
    }

    /// Replaces `before` by `after`, or creates it if `before` is not stored; [`Error::Changed`] after a concurrent write.
    pub(in crate::store) fn save<T: StoredEntity>(&mut self, before: &VersionedItem<T>, after: &T) {
        if before.is_stored() {
            self.replace(before, after);
        } else {
            // `replace` is not used: the history of a new resource begins with its creation.
            self.create_unless(after, || Error::Changed);
        }
    }

    /// Records a `change` of an item that is a part of `whole` in the history of `whole`. Increments the version of
    /// `whole`, so that its own changes and those of its parts have one order. Fails with [`Error::Changed`] after a
    /// concurrent write of `whole`.
    pub(in crate::store) fn note_change_of_part<T: StoredEntity>(
        &mut self,
        whole: &VersionedItem<T>,
        change: ResourceChange,
    ) {
        self.put_next(whole, whole, Some(change));
    }

    fn put_next<T: StoredEntity>(
        &mut self,
        before: &VersionedItem<T>,
        after: &T,
        change: Option<ResourceChange>,
    ) {
        if let Some(next) = self.or_fault(rewrite::next(before, after, change.as_ref())) {
            self.is_shown |= next.is_shown;
            self.put_item(next.item, WriteCondition::Version(before.version()), Error::Changed);
            self.record(change, before.version() + 1, before.event_version(), ahead());
        }
    }

    /// Deletes an entity; [`Error::Changed`] after a concurrent write.
    pub(in crate::store) fn delete<T: StoredEntity>(&mut self, entity: &VersionedItem<T>) {
        self.delete_item(entity.key(), WriteCondition::Version(entity.version()), Error::Changed);
        let change = T::history_change(Some(&**entity), None);
        self.record(change, entity.version() + 1, entity.event_version(), ahead());
    }

    /// Deletes an entity whose history is gone already; [`Error::Changed`] after a concurrent write.
    pub(in crate::store) fn delete_unrecorded<T: StoredEntity>(&mut self, entity: &VersionedItem<T>) {
        self.delete_item(entity.key(), WriteCondition::Version(entity.version()), Error::Changed);
    }

    /// Adds `change`, which is the `version`th write of an item, to the item's history; does nothing if it is `None`.
    /// `event_before` is the version of the previous event; the write's own condition rules out an event in between.
    /// Fails with `taken` if the history has this version.
    fn record(
        &mut self,
        change: Option<ResourceChange>,
        version: u64,
        event_before: Option<u64>,
        taken: Error,
    ) {
        let Some(change) = change else { return };
        let origin = self.origin.as_deref().cloned();
        // Every write of a resource passes here, so every change is recorded, with its author.
        let origin = self.or_fault(origin.ok_or_else(|| Error::internal("a change without an author")));
        let entry = origin.map(|origin| {
            HistoryEntry::new(change, version, origin, self.kept).with_event_before(event_before)
        });
        if let Some(item) = entry.and_then(|entry| self.or_fault(item::write(&entry, 1))) {
            self.put_item(item, WriteCondition::Absent, taken);
        }
    }

    /// Puts an item that is derived from other writes of the transaction, without a condition.
    pub(in crate::store) fn put_derived(&mut self, key: ItemKey, attributes: Item) {
        self.put(key, attributes, WriteCondition::None, unconditional());
    }

    /// Deletes an item that is derived from other writes of the transaction, without a condition.
    pub(in crate::store) fn delete_derived(&mut self, key: ItemKey) {
        // After a restore of the table, another account may own the name.
        if !self.spared.contains(&key) {
            self.delete_item(key, WriteCondition::None, unconditional());
        }
    }

    /// Moves the unique marker of a value from the key `old` to the key `new`. Fails with `taken` if `new` exists.
    pub(in crate::store) fn move_marker(
        &mut self,
        old: Option<ItemKey>,
        new: Option<ItemKey>,
        marker: Item,
        taken: Error,
    ) {
        if old == new {
            return;
        }
        // Both in one transaction, so that the value is never free, and never taken twice.
        if let Some(old) = old {
            self.delete_derived(old);
        }
        if let Some(new) = new {
            self.put(new, marker, WriteCondition::Absent, taken);
        }
    }

    pub(in crate::store) fn put(
        &mut self,
        key: ItemKey,
        attributes: Item,
        condition: WriteCondition,
        refusal: Error,
    ) {
        let mut item = attributes;
        key.insert_into(&mut item);
        self.put_item(item, condition, refusal);
    }

    /// Puts an item that has its key.
    fn put_item(&mut self, item: Item, condition: WriteCondition, refusal: Error) {
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .set_condition_expression(condition.expression())
            .set_expression_attribute_values(condition.values())
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        self.push(put.build().map(|put| TransactWriteItem::builder().put(put).build()), refusal);
    }

    fn delete_item(&mut self, key: ItemKey, condition: WriteCondition, refusal: Error) {
        let delete = Delete::builder()
            .table_name(&self.table)
            .set_key(Some(key.into_attributes()))
            .set_condition_expression(condition.expression())
            .set_expression_attribute_values(condition.values())
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        self.push(delete.build().map(|delete| TransactWriteItem::builder().delete(delete).build()), refusal);
    }

    /// The number of deletions in the transaction so far.
    pub(in crate::store) fn deletions(&self) -> usize {
        self.writes.iter().filter(|write| write.delete().is_some()).count()
    }

    /// Requires that an item meets a condition, without writing it.
    pub(in crate::store) fn require(&mut self, key: ItemKey, condition: WriteCondition, refusal: Error) {
        let check = ConditionCheck::builder()
            .table_name(&self.table)
            .set_key(Some(key.into_attributes()))
            .set_condition_expression(condition.expression())
            .set_expression_attribute_values(condition.values())
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let check = check.build().map(|check| TransactWriteItem::builder().condition_check(check).build());
        self.push(check, refusal);
    }

    /// Requires that an item is as it was read; [`Error::Changed`] after a concurrent write.
    pub(in crate::store) fn require_unchanged<T: StoredEntity>(&mut self, item: &VersionedItem<T>) {
        let condition =
            if item.is_stored() { WriteCondition::Version(item.version()) } else { WriteCondition::Absent };
        self.require(item.key(), condition, Error::Changed);
    }

    /// Changes attributes of an item, which is created if it does not exist.
    pub(in crate::store) fn update(
        &mut self,
        key: ItemKey,
        change: condition::AttributeUpdate,
        refusal: Error,
    ) {
        let condition::AttributeUpdate { expression, condition, names, values } = change;
        let update = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key.into_attributes()))
            .update_expression(expression)
            .set_condition_expression(condition)
            .set_expression_attribute_names((!names.is_empty()).then(|| names.into_iter().collect()))
            .set_expression_attribute_values(Some(values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let update = update.build().map(|update| TransactWriteItem::builder().update(update).build());
        self.push(update, refusal);
    }

    fn push(&mut self, write: Result<TransactWriteItem, BuildError>, refusal: Error) {
        if let Some(write) = self.or_fault(write.map_err(Error::internal)) {
            self.writes.push(write);
            self.refusals.push(refusal);
        }
    }

    /// The value; `None` on an error, with which the commit then fails.
    pub(in crate::store) fn or_fault<T>(&mut self, value: Result<T>) -> Option<T> {
        value.map_err(|error| self.fault.get_or_insert(error)).ok()
    }
}

fn ahead() -> Error {
    Error::internal("the history has this version; raise the version of an item that is put back")
}

fn unconditional() -> Error {
    Error::internal("an unconditional write failed its condition")
}

impl Store {
    pub(in crate::store) fn transaction(&self) -> Transaction {
        Transaction {
            table: self.table().to_owned(),
            origin: self.origin.clone(),
            kept: self.app.config().event_retention,
            ..Transaction::default()
        }
    }

    /// A transaction that changes nothing.
    pub fn empty_transaction(&self) -> Transaction {
        self.transaction()
    }

    /// A transaction that replaces `before` by `after`; empty if they are equal.
    pub(in crate::store) fn replacing<T: StoredEntity + PartialEq>(
        &self,
        before: &VersionedItem<T>,
        after: &T,
    ) -> Transaction {
        let mut transaction = self.transaction();
        if **before != *after {
            transaction.replace(before, after);
        }
        transaction
    }
}
