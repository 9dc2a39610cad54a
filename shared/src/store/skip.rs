//! Finding the row at a number of a whole collection by the keys in the index by status, which cost less than its rows.

use std::collections::VecDeque;

use aws_sdk_dynamodb::types::Select;
use futures_util::future::try_join_all;

use super::Store;
use super::item::Item;
use super::keys::Collection;
use super::page::{Listing, Read, SKIPPED_AT_ONCE};
use crate::error::Result;

/// One partition of the index, as far as it has been read.
struct Lane {
    listing: Listing,
    ids: VecDeque<String>,
    start: Option<Item>,
    is_at_end: bool,
}

impl Lane {
    fn new(collection: &Collection, partition: &str) -> Self {
        let listing = Listing::WithStatus(collection.clone(), partition.to_owned());
        Self { listing, ids: VecDeque::new(), start: None, is_at_end: false }
    }

    /// Whether it is not known which identifier comes next.
    fn is_waiting(&self) -> bool {
        self.ids.is_empty() && !self.is_at_end
    }
}

impl Store {
    /// The key of the `count`th item of a collection whose keys stand in these partitions of the index by status, each in
    /// the order of identifiers; none when there are fewer. The index lags, so it is where the item was a moment ago.
    pub(super) async fn skip_indexed(
        &self,
        collection: &Collection,
        partitions: &[String],
        count: u64,
    ) -> Result<Option<Item>> {
        let mut lanes: Vec<Lane> =
            partitions.iter().map(|partition| Lane::new(collection, partition)).collect();
        let mut left = count;
        loop {
            let waiting = lanes.iter_mut().filter(|lane| lane.is_waiting());
            try_join_all(waiting.map(|lane| self.read_on(lane, left))).await?;
            while !lanes.iter().any(Lane::is_waiting) {
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

    async fn read_on(&self, lane: &mut Lane, left: u64) -> Result<()> {
        let read = Read {
            start: lane.start.take(),
            backwards: false,
            limit: u32::try_from(left.min(SKIPPED_AT_ONCE)).unwrap_or(u32::MAX),
            select: Select::AllProjectedAttributes,
        };
        let found = self.read(&lane.listing, &read).await?;
        for row in &found.rows {
            lane.ids.push_back(lane.listing.id_in(row)?);
        }
        lane.is_at_end = found.last.is_none();
        lane.start = found.last;
        Ok(())
    }
}
