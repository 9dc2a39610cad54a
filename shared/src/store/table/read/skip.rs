//! Finds the row at a given position of a collection by reading keys from the index by status, which costs less than rows.

use std::collections::VecDeque;

use futures_util::future::try_join_all;

use crate::error::Result;
use crate::store::table::handle::Store;
use crate::store::table::item::{Item, string};
use crate::store::table::keys::{BY_STATUS, ItemCollection};
use crate::store::table::read::page::SKIPPED_AT_ONCE;
use crate::store::table::read::query::Query;

/// The keys of one partition of the index, as far as they have been read.
struct PartitionReader {
    query: Query,
    ids: VecDeque<String>,
    is_at_end: bool,
}

impl PartitionReader {
    /// Whether a call must read further identifiers.
    fn is_waiting(&self) -> bool {
        self.ids.is_empty() && !self.is_at_end
    }
}

impl Store {
    /// The key of the `count`th item of a collection; `None` if there are fewer. The keys of the collection are in
    /// these partitions of the index by status, each ordered by identifier. The index lags behind the table.
    pub(in crate::store) async fn skip_indexed(
        &self,
        collection: &ItemCollection,
        partitions: &[String],
        count: u64,
    ) -> Result<Option<Item>> {
        let queries = partitions.iter().map(|partition| Query::new(BY_STATUS, string(partition)));
        // Merge the partitions here: an index in list order would cost a write for every candidate.
        let mut lanes: Vec<_> =
            queries.map(|query| PartitionReader { query, ids: VecDeque::new(), is_at_end: false }).collect();
        let mut left = count;
        loop {
            let waiting = lanes.iter_mut().filter(|lane| lane.is_waiting());
            try_join_all(waiting.map(|lane| self.read_on(lane, collection, left))).await?;
            while !lanes.iter().any(PartitionReader::is_waiting) {
                let ahead = lanes.iter_mut().filter(|lane| !lane.ids.is_empty());
                let next = ahead.min_by(|one, other| one.ids.front().cmp(&other.ids.front()));
                let Some(id) = next.and_then(|lane| lane.ids.pop_front()) else { return Ok(None) };
                left -= 1;
                if left == 0 {
                    return Ok(Some(collection.key(id).into_attributes()));
                }
            }
        }
    }

    async fn read_on(
        &self,
        lane: &mut PartitionReader,
        collection: &ItemCollection,
        left: u64,
    ) -> Result<()> {
        lane.query.limit = Some(left.min(SKIPPED_AT_ONCE) as usize);
        let found = self.query(&lane.query).await?;
        for row in &found.rows {
            lane.ids.push_back(collection.id_in(row)?);
        }
        lane.is_at_end = found.last.is_none();
        lane.query.start = found.last;
        Ok(())
    }
}
