//! Items that are due, from the index over their due dates.

use std::ops::Range;

use chrono::{DateTime, Utc};
use futures_util::stream::{self, BoxStream, StreamExt as _};
use sha2::{Digest as _, Sha256};

use super::Store;
use super::table::item::{self, Item, StoredEntity, VersionedItem, number};
use super::table::keys::DUE;
use super::table::query::Query;
use crate::domain::answers::Answers;
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
pub(crate) enum DueQueue {
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
    /// Candidates who have requested erasure.
    Erasures,
    /// Retention runs.
    Retention,
    /// Erasures of companies.
    CompanyErasures,
    /// Answers with an open take, or with one that is being converted.
    Answers,
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
            Self::Erasures => 38..42,
            Self::Retention => 42..44,
            // Few companies end.
            Self::CompanyErasures => 44..45,
            Self::Answers => 45..49,
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

/// The items that are due in one shard of the index, by pages of up to 100, the longest due first.
pub type DuePages<'a, T> = BoxStream<'a, Result<Vec<VersionedItem<T>>>>;

impl Store {
    /// Candidates whose deadline has passed, by shard.
    pub fn due_candidates(&self, now: DateTime<Utc>) -> impl Iterator<Item = DuePages<'_, Candidate>> {
        self.due(DueQueue::Candidates, now)
    }

    /// Effects to be tried, by shard.
    pub fn due_effects(&self, now: DateTime<Utc>) -> impl Iterator<Item = DuePages<'_, Effect>> {
        self.due(DueQueue::Effects, now)
    }

    /// Effects that were given up, by shard.
    pub fn given_up_effects(&self, now: DateTime<Utc>) -> impl Iterator<Item = DuePages<'_, Effect>> {
        self.due(DueQueue::GivenUpEffects, now)
    }

    /// Uploads whose file has not arrived in time, by shard.
    pub fn due_uploads(&self, now: DateTime<Utc>) -> impl Iterator<Item = DuePages<'_, Upload>> {
        self.due(DueQueue::Uploads, now)
    }

    /// Videos that were not converted in time, by shard.
    pub fn due_videos(&self, now: DateTime<Utc>) -> impl Iterator<Item = DuePages<'_, Video>> {
        self.due(DueQueue::Videos, now)
    }

    /// Events without a number, which the table's stream may have missed, by shard.
    pub fn due_events(&self, now: DateTime<Utc>) -> impl Iterator<Item = DuePages<'_, HistoryEntry>> {
        self.due(DueQueue::Events, now)
    }

    /// Cursors of webhooks with something to do, by shard.
    pub fn due_cursors(&self, now: DateTime<Utc>) -> impl Iterator<Item = DuePages<'_, DeliveryCursor>> {
        self.due(DueQueue::Webhooks, now)
    }

    /// Candidates whose request for erasure is due, by shard.
    pub fn due_erasures(&self, now: DateTime<Utc>) -> impl Iterator<Item = DuePages<'_, Candidate>> {
        self.due(DueQueue::Erasures, now)
    }

    /// Answers with a take to be looked at, by shard.
    pub fn due_answers(&self, now: DateTime<Utc>) -> impl Iterator<Item = DuePages<'_, Answers>> {
        self.due(DueQueue::Answers, now)
    }

    pub(super) fn due<T>(&self, queue: DueQueue, now: DateTime<Utc>) -> impl Iterator<Item = DuePages<'_, T>>
    where
        T: StoredEntity + Send + Sync,
    {
        queue.shards().map(move |shard| {
            let pages = stream::try_unfold(Some(None), move |place| async move {
                let Some(start) = place else { return Ok(None) };
                let (rows, last) = self.due_page(shard, now, start).await?;
                Ok(Some((rows, last.map(Some))))
            });
            pages.boxed()
        })
    }

    /// One page of a shard, and the key of the last entry, after which the next page starts.
    async fn due_page<T: StoredEntity>(
        &self,
        shard: u8,
        now: DateTime<Utc>,
        start: Option<Item>,
    ) -> Result<(Vec<VersionedItem<T>>, Option<Item>)> {
        let until = item::due_at(now);
        let mut query = Query::new(DUE, number(shard)).up_to(&until);
        query.start = start;
        query.limit = Some(PAGE);
        let found = self.query(&query).await?;
        // An item that cannot be read must not hold up those behind it.
        let mut rows: Vec<VersionedItem<T>> = self.listed(item::keys_of(&found.rows)?).await?;
        // The index lags behind the table.
        rows.retain(|row| row.due().is_some_and(|(of, at)| of == shard && item::due_at(at) <= until));
        Ok((rows, found.last))
    }
}
