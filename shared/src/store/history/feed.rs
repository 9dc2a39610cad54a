//! The numbered events of a company, in the order of their numbers.
//!
//! The index that lists the events lags behind the table, by any time and in any order. But each event names its
//! predecessor, the event with the previous number. A reader advances to an event only from its predecessor, or if the
//! predecessor has expired. So a reader never skips an event that the index does not show yet, needs no clock to find
//! out which numbers are missing, and immediately skips numbers that were left out.

use chrono::{DateTime, Utc};

use crate::domain::history::{EventMark, HistoryEntry};
use crate::domain::id::CompanyId;
use crate::error::{Error, Result};
use crate::store::due::{DuePages, DueQueue};
use crate::store::history::EventSequence;
use crate::store::table::handle::Store;
use crate::store::table::item::{self, VersionedItem, string};
use crate::store::table::keys::{self, BY_STATUS};
use crate::store::table::read::query::Query;

/// The most events that one request examines, however few its filter selects.
const MAX_LOOKED_AT: usize = 500;
/// The most expired events that one request skips in addition.
// DynamoDB leaves more of them undeleted only for a few days after a day with hundreds of thousands of changes.
const MAX_PASSED: usize = 10_000;
/// How many rows each query reads after the first one has not filled the page.
const MAX_ROWS: usize = 100;

/// Events of a company, and the position that the request has reached.
#[derive(Debug)]
pub struct FeedPage {
    /// The events that the filter selects.
    pub events: Vec<VersionedItem<HistoryEntry>>,
    /// The number of the last event that was examined; the requested position if there was none.
    pub reached: u64,
    /// Whether a further request can read more events now.
    pub more: bool,
}

/// A number that the index shows, and its event; `None` if the event was deleted.
type FeedRow = (u64, Option<VersionedItem<HistoryEntry>>);

impl Store {
    /// Sequences of companies with new events that the table's stream may not have reported to the webhook sender.
    pub fn due_feeds(&self, now: DateTime<Utc>) -> DuePages<'_, EventSequence> {
        self.due(DueQueue::Feeds, now)
    }

    /// Up to `most` wanted events after number `after`, ascending. Fails with [`Error::Expired`] if the events that
    /// follow `after` have expired, and with a message on `after` if this number has not been given yet.
    ///
    /// Stops before an event that the index does not show yet, and logs it.
    pub async fn events_after(
        &self,
        sequence: &EventSequence,
        after: u64,
        most: usize,
        now: DateTime<Utc>,
        is_wanted: impl Fn(&HistoryEntry) -> bool,
    ) -> Result<FeedPage> {
        let EventSequence { company, last, .. } = sequence;
        // An error instead of an empty page, which a client would read as "nothing new" for ever.
        if after > *last {
            return Err(Error::field("after", format!("`after` is beyond the latest event, number {last}.")));
        }
        let mut feed = FeedPage { events: Vec::new(), reached: after, more: false };
        let mut looked_at = 0;
        let mut passed = 0;
        let mut shown = after;
        let mut limit = most;
        while feed.reached < *last {
            let query = Query::new(BY_STATUS, string(keys::events(company)));
            let rows = self.rows(query.after(keys::event_number(shown)), limit).await?;
            let is_end = rows.len() < limit;
            for (number, event) in rows {
                shown = number;
                // Skip a deleted event: it is missing like those that the index no longer shows.
                let Some(event) = event else { continue };
                if !has_passed(event.predecessor, feed.reached, now) {
                    log_lag(company, feed.reached, event.numbered_at.unwrap_or(now), now);
                    return Ok(feed);
                }
                if !event.is_kept(now) {
                    (feed.reached, passed) = (number, passed + 1);
                    continue;
                }
                if looked_at == 0 {
                    self.require_nothing_missed(company, after, event.predecessor, number, now).await?;
                }
                (feed.reached, looked_at) = (number, looked_at + 1);
                feed.events.extend(Some(event).filter(|event| is_wanted(event)));
                if feed.events.len() == most || looked_at == MAX_LOOKED_AT {
                    feed.more = number < *last;
                    return Ok(feed);
                }
            }
            if is_end {
                return self.end_of_feed(sequence, after, looked_at > 0, feed, now).await;
            }
            if passed >= MAX_PASSED {
                // More events may have expired. A reader who has missed nothing, such as a client that begins or the
                // sender, continues here.
                if looked_at == 0 {
                    let next = Some(EventMark { number: feed.reached, expires_at: now });
                    self.require_nothing_missed(company, after, next, feed.reached + 1, now).await?;
                }
                feed.more = true;
                return Ok(feed);
            }
            limit = limit.max(MAX_ROWS);
        }
        Ok(feed)
    }

    /// The result after the last event that the index shows. The events after it have expired, were left out, or are not shown yet.
    async fn end_of_feed(
        &self,
        sequence: &EventSequence,
        after: u64,
        has_looked: bool,
        mut feed: FeedPage,
        now: DateTime<Utc>,
    ) -> Result<FeedPage> {
        let EventSequence { company, last, last_event, at, .. } = sequence;
        if !has_passed(*last_event, feed.reached, now) {
            log_lag(company, feed.reached, *at, now);
            return Ok(feed);
        }
        if !has_looked {
            self.require_nothing_missed(company, after, *last_event, last + 1, now).await?;
        }
        feed.reached = feed.reached.max(*last);
        Ok(feed)
    }

    /// Fails with [`Error::Expired`] if a reader who has read up to number `after` has missed expired events, i.e.
    /// those up to `predecessor`, the last event before `first`. A reader who begins has missed nothing, nor has one
    /// whose last event is still kept.
    async fn require_nothing_missed(
        &self,
        company: &CompanyId,
        after: u64,
        predecessor: Option<EventMark>,
        first: u64,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let has_missed = after > 0 && predecessor.is_some_and(|before| before.number > after);
        if has_missed && !self.is_kept(company, after, now).await? {
            return Err(Error::Expired(first));
        }
        Ok(())
    }

    /// Up to `most` wanted events before number `before`, descending. Events of the last seconds may be missing.
    pub async fn events_before(
        &self,
        company: &CompanyId,
        before: u64,
        most: usize,
        now: DateTime<Utc>,
        is_wanted: impl Fn(&HistoryEntry) -> bool,
    ) -> Result<FeedPage> {
        let mut feed = FeedPage { events: Vec::new(), reached: before, more: false };
        let mut looked_at = 0;
        let mut limit = most;
        while looked_at < MAX_LOOKED_AT {
            let query = Query::new(BY_STATUS, string(keys::events(company)));
            let mut query = query.before(keys::event_number(feed.reached));
            query.backwards = true;
            let rows = self.rows(query, limit).await?;
            if rows.is_empty() {
                return Ok(feed);
            }
            for (number, event) in rows {
                looked_at += 1;
                feed.reached = number;
                let event = event.filter(|event| event.is_kept(now));
                feed.events.extend(event.filter(|event| is_wanted(event)));
                if feed.events.len() == most || looked_at == MAX_LOOKED_AT {
                    feed.more = number > 1;
                    return Ok(feed);
                }
            }
            limit = limit.max(MAX_ROWS);
        }
        Ok(feed)
    }

    /// Whether the event with this number, or else the last one before it, is still kept.
    async fn is_kept(&self, company: &CompanyId, number: u64, now: DateTime<Utc>) -> Result<bool> {
        let query = Query::new(BY_STATUS, string(keys::events(company)));
        let mut query = query.up_to(keys::event_number(number));
        query.backwards = true;
        let rows = self.rows(query, 1).await?;
        Ok(rows.into_iter().any(|(_, event)| event.is_some_and(|event| event.is_kept(now))))
    }

    async fn rows(&self, mut query: Query, limit: usize) -> Result<Vec<FeedRow>> {
        query.limit = Some(limit);
        let found = self.query(&query).await?.rows;
        let keys = item::keys_of(&found)?;
        let mut batch = self.get(keys.iter().cloned()).await?;
        let mut rows = Vec::with_capacity(found.len());
        for (row, key) in found.iter().zip(keys) {
            let number = row.get(BY_STATUS.sk).and_then(|number| number.as_s().ok()?.parse().ok());
            let number = number.ok_or_else(|| Error::internal("an event without a number in the index"))?;
            // After a restore of the table, the index may still show numbers that the entries no longer have.
            let event = batch.take::<HistoryEntry>(&key)?.filter(|event| event.sequence == Some(number));
            rows.push((number, event));
        }
        Ok(rows)
    }
}

/// Whether a reader who has read up to number `reached` has all events up to `predecessor`, or misses only expired
/// ones. Events expire in the order of their numbers, except for moments, and after the retention was shortened, when
/// later events expire earlier.
fn has_passed(predecessor: Option<EventMark>, reached: u64, now: DateTime<Utc>) -> bool {
    predecessor.is_none_or(|before| before.number <= reached || before.expires_at <= now)
}

/// Logs that the index does not show the event after number `reached` yet, although a later event got its number at `since`.
fn log_lag(company: &CompanyId, reached: u64, since: DateTime<Utc>, now: DateTime<Utc>) {
    let index_lag_seconds = (now - since).num_seconds().max(0);
    tracing::info!(
        target: "feed",
        company = company.as_str(),
        number = reached + 1,
        index_lag_seconds,
        "the index does not show an event yet",
    );
}
