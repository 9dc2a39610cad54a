//! One transaction for all that a request changes: it happens whole or not at all.

use std::collections::HashMap;

use aws_sdk_dynamodb::error::{BuildError, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::builders::{DeleteBuilder, PutBuilder};
use aws_sdk_dynamodb::types::{
    AttributeValue, ConditionCheck, Delete, Put, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure,
    TransactWriteItem, Update,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};

use super::Store;
use super::item::{self, ABSENT_OR_EXPIRED, Entity, Item, VERSION, Versioned, number};
use super::keys::Key;
use super::retry::Failure;
use super::rewrite;
use crate::error::{Error, FieldErrors, Result};

/// The most writes that DynamoDB takes in one transaction.
const MAX_WRITES: usize = 100;

/// Writes that happen together when the transaction is committed; each names the error that its condition means.
///
/// One item may be written only once in a transaction.
pub struct Transaction {
    table: String,
    writes: Vec<TransactWriteItem>,
    refusals: Vec<Error>,
    /// What seems to follow from what it deletes but is somebody else's.
    spared: Vec<Key>,
    /// Whether it changes something that answers show.
    is_shown: bool,
    /// The first write that could not be expressed; the commit fails with it.
    fault: Option<Error>,
}

/// An update of single attributes: the expression and the condition refer to `values` by name.
pub(super) struct Change {
    pub(super) expression: String,
    pub(super) condition: Option<String>,
    pub(super) names: Vec<(String, String)>,
    pub(super) values: Vec<(String, AttributeValue)>,
}

impl Transaction {
    fn of(table: String) -> Self {
        Self {
            table,
            writes: Vec::new(),
            refusals: Vec::new(),
            spared: Vec::new(),
            is_shown: false,
            fault: None,
        }
    }

    /// Whether it changes something that answers show.
    pub(crate) fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Without deleting what stands under these keys.
    pub(super) fn sparing(self, keys: Vec<Key>) -> Self {
        Self { spared: keys, ..self }
    }

    /// Puts an item where none may stand, else `taken`.
    pub(super) fn create_item(&mut self, key: Key, attributes: Item, taken: Error) {
        let put = self.put(key, attributes).condition_expression("attribute_not_exists(pk)");
        self.push_put(put, taken);
    }

    /// Puts an item where none may stand that has not expired by `now`, else `taken`, whatever else fails.
    pub(super) fn create_first(&mut self, key: Key, attributes: Item, now: DateTime<Utc>, taken: Error) {
        let put = self
            .put(key, attributes)
            .condition_expression(ABSENT_OR_EXPIRED)
            .expression_attribute_values(":now", number(now.timestamp()));
        self.push_put(put, taken);
        self.writes.rotate_right(1);
        self.refusals.rotate_right(1);
    }

    /// Has everything that is wrong with values told about `field`.
    pub(super) fn blame(&mut self, field: &str) {
        for refusal in &mut self.refusals {
            if let Error::Fields(messages) = refusal {
                *messages = std::mem::take(messages).about(field);
            }
        }
    }

    /// Puts an entity where none may stand, else `taken`.
    pub(super) fn create<T: Entity>(&mut self, entity: &T, taken: Error) {
        if let Some(item) = self.or_fault(item::write(entity, 1)) {
            self.create_item(entity.key(), item, taken);
        }
    }

    /// Puts `after` in place of `before`, unless somebody changed it meanwhile.
    pub(super) fn replace<T: Entity>(&mut self, before: &Versioned<T>, after: &T) {
        if let Some(next) = self.or_fault(rewrite::next(before, after)) {
            self.is_shown |= next.is_shown;
            self.replace_item(after.key(), next.item, Some(before.version()));
        }
    }

    /// Puts an item in place of the one that was `seen` as its write of that number, or of none; else [`Error::Changed`].
    pub(super) fn replace_item(&mut self, key: Key, attributes: Item, seen: Option<u64>) {
        let Some(seen) = seen else { return self.create_item(key, attributes, Error::Changed) };
        let put = self
            .put(key, attributes)
            .condition_expression("version = :version")
            .expression_attribute_values(":version", number(seen));
        self.push_put(put, Error::Changed);
    }

    /// Puts an item whatever stands there: only for items that follow from others of the same transaction.
    pub(super) fn put_derived(&mut self, key: Key, attributes: Item) {
        self.push_put(self.put(key, attributes), unconditional());
    }

    /// Deletes an entity, unless somebody changed it meanwhile.
    pub(super) fn delete<T: Entity>(&mut self, entity: &Versioned<T>) {
        let delete = Delete::builder()
            .table_name(&self.table)
            .set_key(Some(entity.key().into_attributes()))
            .condition_expression("version = :version")
            .expression_attribute_values(":version", number(entity.version()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        self.push_delete(delete, Error::Changed);
    }

    /// Deletes an item whatever stands there: only for items that follow from others of the same transaction.
    pub(super) fn delete_derived(&mut self, key: Key) {
        if !self.spared.contains(&key) {
            let delete = Delete::builder().table_name(&self.table).set_key(Some(key.into_attributes()));
            self.push_delete(delete, unconditional());
        }
    }

    /// Requires that an item stands under `key`, else `missing`.
    pub(super) fn require(&mut self, key: Key, missing: Error) {
        self.check(key, "attribute_exists(pk)", None, missing);
    }

    /// Requires that an item stands under `key` whose attribute `flag` is true, else `missing`.
    pub(super) fn require_flag(&mut self, key: Key, flag: &str, missing: Error) {
        let yes = (":yes".to_owned(), AttributeValue::Bool(true));
        self.check(key, &format!("{flag} = :yes"), Some(yes), missing);
    }

    /// Requires that an entity is as it was read, else [`Error::Changed`].
    pub(super) fn require_unchanged<T: Entity>(&mut self, entity: &Versioned<T>) {
        let seen = (":seen".to_owned(), number(entity.version()));
        self.check(entity.key(), "version = :seen", Some(seen), Error::Changed);
    }

    /// Requires that nothing stands under `key`, else `taken`.
    pub(super) fn require_absent(&mut self, key: Key, taken: Error) {
        self.check(key, "attribute_not_exists(pk)", None, taken);
    }

    fn check(&mut self, key: Key, condition: &str, value: Option<(String, AttributeValue)>, refusal: Error) {
        let check = ConditionCheck::builder()
            .table_name(&self.table)
            .set_key(Some(key.into_attributes()))
            .condition_expression(condition)
            .set_expression_attribute_values(value.map(|value| HashMap::from([value])))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let check = check.build().map(|check| TransactWriteItem::builder().condition_check(check).build());
        self.push(check, refusal);
    }

    /// Changes attributes of the item under `key`, which comes to exist if it does not; else `refusal`.
    pub(super) fn update(&mut self, key: Key, change: Change, refusal: Error) {
        let update = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key.into_attributes()))
            .update_expression(change.expression)
            .set_condition_expression(change.condition)
            .set_expression_attribute_names(
                (!change.names.is_empty()).then(|| change.names.into_iter().collect()),
            )
            .set_expression_attribute_values(Some(change.values.into_iter().collect()))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let update = update.build().map(|update| TransactWriteItem::builder().update(update).build());
        self.push(update, refusal);
    }

    fn put(&self, key: Key, attributes: Item) -> PutBuilder {
        let mut item = attributes;
        item.extend(key.into_attributes());
        Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
    }

    fn push_put(&mut self, put: PutBuilder, refusal: Error) {
        self.push(put.build().map(|put| TransactWriteItem::builder().put(put).build()), refusal);
    }

    fn push_delete(&mut self, delete: DeleteBuilder, refusal: Error) {
        self.push(delete.build().map(|delete| TransactWriteItem::builder().delete(delete).build()), refusal);
    }

    fn push(&mut self, write: Result<TransactWriteItem, BuildError>, refusal: Error) {
        if let Some(write) = self.or_fault(write.map_err(Error::internal)) {
            self.writes.push(write);
            self.refusals.push(refusal);
        }
    }

    /// The value, or none and its error kept for the commit.
    pub(super) fn or_fault<T>(&mut self, value: Result<T>) -> Option<T> {
        value.map_err(|error| self.fault.get_or_insert(error)).ok()
    }
}

/// Stands for the condition of a write that has none.
fn unconditional() -> Error {
    Error::internal("an unconditional write failed its condition")
}

impl Change {
    /// Adds to counters, which start at zero, and counts the write itself.
    pub(super) fn add(counters: impl IntoIterator<Item = (String, i64)>) -> Self {
        let mut change =
            Self { expression: String::new(), condition: None, names: Vec::new(), values: Vec::new() };
        let mut terms = Vec::new();
        for (index, (name, count)) in counters.into_iter().enumerate() {
            terms.push(format!("#n{index} :n{index}"));
            change.names.push((format!("#n{index}"), name));
            change.values.push((format!(":n{index}"), number(count)));
        }
        terms.push(format!("{VERSION} :one"));
        change.values.push((":one".to_owned(), number(1)));
        change.expression = format!("ADD {}", terms.join(", "));
        change
    }
}

impl Store {
    pub(super) fn transaction(&self) -> Transaction {
        Transaction::of(self.table().to_owned())
    }

    /// A transaction that changes nothing.
    pub fn nothing(&self) -> Transaction {
        self.transaction()
    }

    /// A transaction that puts `after` in place of `before`; empty when both are the same.
    pub(super) fn replacing<T: Entity + PartialEq>(&self, before: &Versioned<T>, after: &T) -> Transaction {
        let mut transaction = self.transaction();
        if **before != *after {
            transaction.replace(before, after);
        }
        transaction
    }

    /// Does all writes of the transaction, or none and says which condition refused it.
    ///
    /// A retry after an answer that got lost carries the same token, so it is the same transaction and not a second.
    pub(crate) async fn commit(&self, transaction: Transaction) -> Result<()> {
        let Transaction { writes, mut refusals, fault, .. } = transaction;
        if let Some(fault) = fault {
            return Err(fault);
        }
        if writes.is_empty() {
            return Ok(());
        }
        if writes.len() > MAX_WRITES {
            return Err(Error::field(FieldErrors::ACROSS, "Too many changes at once. Send them in parts."));
        }
        let mut random = [0; 24];
        self.app.entropy().fill(&mut random);
        let token = URL_SAFE_NO_PAD.encode(random);
        let outcome = self.with_retries(|| self.commit_once(&writes, &token)).await?;
        let Some(failed) = outcome else {
            self.usage.count_commit();
            return Ok(());
        };
        // From the last on, since taking one out moves those behind it.
        let mut errors = Vec::with_capacity(failed.len());
        for Unmet { index, is_gone } in failed.into_iter().rev() {
            let refusal = refusals.remove(index);
            errors.push(if is_gone && matches!(refusal, Error::Changed) { Error::NotFound } else { refusal });
        }
        errors.reverse();
        Err(join(errors))
    }

    /// None when it is done, else the conditions that failed, in the order of their writes.
    async fn commit_once(
        &self,
        writes: &[TransactWriteItem],
        token: &str,
    ) -> Result<Option<Vec<Unmet>>, Failure> {
        let response = self
            .client()
            .transact_write_items()
            .set_transact_items(Some(writes.to_vec()))
            .client_request_token(token)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await;
        match response {
            Ok(response) => {
                self.usage.count_writes(response.consumed_capacity());
                Ok(None)
            }
            Err(error) => cancelled(error).map(Some),
        }
    }
}

/// A condition that failed.
struct Unmet {
    /// Which write had it.
    index: usize,
    /// Whether there was no item to hold it against, where the write asked to be told.
    is_gone: bool,
}

/// The conditions that cancelled the transaction, if conditions did.
fn cancelled(error: SdkError<TransactWriteItemsError>) -> Result<Vec<Unmet>, Failure> {
    let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) = error.as_service_error()
    else {
        return Err(Failure::of(error));
    };
    let reasons = cancelled.cancellation_reasons();
    let codes: Vec<&str> = reasons.iter().map(|reason| reason.code().unwrap_or("None")).collect();
    let failed = reasons.iter().enumerate().filter(|(index, _)| codes[*index] == "ConditionalCheckFailed");
    let failed: Vec<Unmet> =
        failed.map(|(index, reason)| Unmet { index, is_gone: reason.item().is_none() }).collect();
    if !failed.is_empty() {
        Ok(failed)
    } else if codes.contains(&"TransactionConflict") {
        Err(Failure::Conflict(error.into()))
    } else if codes.iter().any(|code| matches!(*code, "ThrottlingError" | "ProvisionedThroughputExceeded")) {
        Err(Failure::Overload(error.into()))
    } else {
        Err(Failure::Final(Error::internal(error)))
    }
}

/// One error for several: all messages when all are about fields, else the first that is not.
fn join(errors: Vec<Error>) -> Error {
    let mut fields = FieldErrors::default();
    for error in errors {
        match error {
            Error::Fields(more) => fields.merge(more),
            other => return other,
        }
    }
    Error::Fields(fields)
}
