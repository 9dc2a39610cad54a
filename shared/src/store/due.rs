//! Items that are due, from the index over their due dates.

use std::ops::Range;

use chrono::{DateTime, Utc};
use sha2::{Digest as _, Sha256};

use super::Store;
use super::history::EventCounter;
use super::table::item::{self, Item, StoredEntity, VersionedItem, number};
use super::table::keys::DUE;
use super::table::query::Query;
use crate::domain::candidate::Candidate;
use crate::domain::effect::Effect;
use crate::domain::history::HistoryEntry;
use crate::domain::id::Id;
use crate::domain::upload::Upload;
use crate::domain::video::Video;
use crate::domain::webhook::DeliveryCursor;
use crate::error::Result;

/// Items that become due, by kind. Each kind has its own range of shards in the index by due date.
#[derive(Debug, Clone, Copy)]
pub enum DueQueue {
    /// Candidates with a deadline.
    Candidates,
    /// Effects to be tried.
    Effects,
    /// Uploads whose file has not arrived.
    Uploads,
    /// Videos that are not converted.
    Videos,
    /// Effects that were given up, under that moment.
    GivenUpEffects,
    /// Events without a number.
    Events,
    /// Cursors of webhooks with something to do.
    Webhooks,
    /// Feeds with new events for webhooks.
    Feeds,
}

impl DueQueue {
    pub(crate) fn shards(self) -> Range<u8> {
        match self {
            Self::Candidates => 0..16,
            Self::Effects => 16..20,
            Self::Uploads => 20..22,
            Self::Videos => 22..24,
            Self::GivenUpEffects => 24..28,
            Self::Events => 28..32,
            Self::Webhooks => 32..36,
            Self::Feeds => 36..38,
        }
    }

    pub(crate) fn shard_of<T>(self, id: Id<T>) -> u8 {
        self.shard(id.to_bytes()[15])
    }

    pub(crate) fn shard_of_text(self, id: &str) -> u8 {
        self.shard(Sha256::digest(id)[0])
    }

    fn shard(self, byte: u8) -> u8 {
        let shards = self.shards();
        shards.start + byte % (shards.end - shards.start)
    }
}

/// The most entries of one page: as many items as one call reads.
const PAGE: usize = 100;

/// A page of the items that are due in one shard, the longest due first.
#[derive(Debug)]
pub struct DuePage<T> {
    /// The items as the table has them, which the index lags behind.
    pub rows: Vec<VersionedItem<T>>,
    /// The number of entries in the index, including items that are no longer due or cannot be read.
    pub seen: usize,
    /// The next page; none at the end of the shard.
    pub next: Option<DueCursor>,
}

/// The place of a page in a shard of the index.
#[derive(Debug)]
pub struct DueCursor {
    shard: u8,
    now: DateTime<Utc>,
    start: Option<Item>,
}

impl DueCursor {
    /// The first pages of all shards of a queue, for items that are due at `now`.
    pub fn all(queue: DueQueue, now: DateTime<Utc>) -> impl Iterator<Item = Self> {
        queue.shards().map(move |shard| Self { shard, now, start: None })
    }

    /// The shard.
    pub fn shard(&self) -> u8 {
        self.shard
    }
}

impl Store {
    /// Candidates whose deadline has passed.
    pub async fn due_candidates(&self, page: DueCursor) -> Result<DuePage<Candidate>> {
        self.due(page).await
    }

    /// Effects to be tried, or that were given up, by the queue.
    pub async fn due_effects(&self, page: DueCursor) -> Result<DuePage<Effect>> {
        self.due(page).await
    }

    /// Uploads whose file has not arrived in time.
    pub async fn due_uploads(&self, page: DueCursor) -> Result<DuePage<Upload>> {
        self.due(page).await
    }

    /// Videos that were not converted in time.
    pub async fn due_videos(&self, page: DueCursor) -> Result<DuePage<Video>> {
        self.due(page).await
    }

    /// Events that the table's stream did not have numbered.
    pub async fn due_events(&self, page: DueCursor) -> Result<DuePage<HistoryEntry>> {
        self.due(page).await
    }

    /// Cursors of webhooks with something to do.
    pub async fn due_cursors(&self, page: DueCursor) -> Result<DuePage<DeliveryCursor>> {
        self.due(page).await
    }

    /// The numbers of feeds whose new events the table's stream may not have shown to webhooks.
    pub async fn due_feeds(&self, page: DueCursor) -> Result<DuePage<EventCounter>> {
        self.due(page).await
    }

    async fn due<T: StoredEntity>(&self, DueCursor { shard, now, start }: DueCursor) -> Result<DuePage<T>> {
        let until = item::due_at(now);
        let mut query = Query::new(DUE, number(shard)).up_to(&until);
        query.start = start;
        query.limit = Some(PAGE);
        let found = self.query(&query).await?;
        // An item that cannot be read must not hold up those behind it.
        let mut rows: Vec<VersionedItem<T>> = self.listed(item::keys_of(&found.rows)?).await?;
        // The index lags behind the table.
        rows.retain(|row| row.due().is_some_and(|(of, at)| of == shard && item::due_at(at) <= until));
        let next = found.last.map(|last| DueCursor { shard, now, start: Some(last) });
        Ok(DuePage { rows, seen: found.rows.len(), next })
    }
}
