//! What has become due, from the index that is sorted by the moment.

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use chrono::{DateTime, Utc};

use super::Store;
use super::item::{self, Entity, Item, Versioned, number};
use super::keys::{self, DUE, DUE_AT, DUE_SHARD, Key};
use super::retry::Failure;
use crate::error::Result;

/// How many entries are looked at in one go: as many as one read of their items takes.
const PAGE: i32 = 100;

/// Some of what has become due in one partition of the index, the longest due first.
#[derive(Debug)]
pub struct Due<T> {
    /// What is due, as it is now and not as the index has it, which lags behind.
    pub rows: Vec<Versioned<T>>,
    /// How many entries there were, those included that are not due any more or cannot be read.
    pub seen: usize,
    /// Where to go on; none at the end.
    pub next: Option<DueCursor>,
}

/// A place in the index.
#[derive(Debug)]
pub struct DueCursor(Item);

impl Store {
    /// What has become due in a partition of the index by `now`, from a place in it on.
    pub(super) async fn due<T: Entity>(
        &self,
        shard: u8,
        now: DateTime<Utc>,
        from: Option<DueCursor>,
    ) -> Result<Due<T>> {
        let until = item::due_at(now);
        let start = from.map(|DueCursor(place)| place);
        let (entries, last) = self.with_retries(|| self.due_entries(shard, &until, start.clone())).await?;
        let keys: Vec<Key> = entries.iter().map(item::key_of).collect::<Result<_>>()?;
        let mut batch = self.get(keys.clone()).await?;
        let mut rows = Vec::new();
        for key in &keys {
            // One that cannot be read must not hold up those behind it.
            let row = batch.take_listed::<T>(key)?;
            rows.extend(row.filter(|row| row.due().is_some_and(|(_, at)| item::due_at(at) <= until)));
        }
        Ok(Due { rows, seen: keys.len(), next: last.map(DueCursor) })
    }

    async fn due_entries(
        &self,
        shard: u8,
        until: &str,
        start: Option<Item>,
    ) -> Result<(Vec<Item>, Option<Item>), Failure> {
        let response = self
            .client()
            .query()
            .table_name(self.table())
            .index_name(DUE)
            .key_condition_expression(format!("{DUE_SHARD} = :shard AND {DUE_AT} <= :until"))
            .expression_attribute_values(":shard", number(shard))
            .expression_attribute_values(":until", AttributeValue::S(until.to_owned()))
            .limit(PAGE)
            .set_exclusive_start_key(start)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(Failure::of)?;
        self.usage.count_reads(response.consumed_capacity());
        Ok((response.items.unwrap_or_default(), response.last_evaluated_key))
    }

    /// The partitions in which candidates stand whose deadline makes a difference.
    pub fn candidate_shards() -> impl Iterator<Item = u8> {
        keys::candidate_due_shards()
    }

    /// The partitions in which effects stand that are still to be done.
    pub fn effect_shards() -> impl Iterator<Item = u8> {
        keys::effect_due_shards()
    }
}
