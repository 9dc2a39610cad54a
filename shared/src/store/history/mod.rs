//! Access patterns of histories: each write of a resource adds one entry, in its own transaction.

pub(super) mod feed;
pub(super) mod numbering;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future;
use futures_util::stream::{self, Stream, StreamExt as _, TryStreamExt as _};
use serde::{Deserialize, Serialize};

use super::due::DueQueue;
use super::table::handle::Store;
use super::table::item::{self, DueEntry, Item, StoredEntity, VersionedItem, string};
use super::table::keys::{self, ItemCollection, ItemKey, TABLE};
use super::table::read::page::{Page, PageCursor, PageRequest};
use super::table::read::query::Query;
use super::table::retry::RetryPolicy;
use crate::domain::company::usage::UsageByMonth;
use crate::domain::history::{EventId, EventMark, HistoryEntry, ResourceChange, ResourceRef};
use crate::domain::id::{CompanyId, Id};
use crate::error::{Error, Result};

/// How long an event waits for its number before the schedule gives it one. Usually the table's stream starts the numbering earlier.
const DELAY: TimeDelta = TimeDelta::minutes(1);

/// How many entries each query after the first reads to find the first entry that has not expired.
const MAX_ROWS: usize = 100;

/// How many entries one call reads for a document. Most are shorter than 1 KB.
const READ_TOGETHER: usize = 500;

/// How many entries of an erased resource are read together, and how many are written concurrently.
const STRIPPED_TOGETHER: usize = 200;
const AT_ONCE: usize = 16;

/// Encodes a version as an identifier, because page cursors hold identifiers.
pub fn history_place(version: u64) -> String {
    Id::<()>::from_bytes(u128::from(version).to_be_bytes()).to_string()
}

fn version_at(place: &str) -> u64 {
    let bytes = place.parse::<Id<()>>().map(|id| u128::from_be_bytes(id.to_bytes()));
    // Any other identifier lies after every version.
    bytes.ok().and_then(|bytes| bytes.try_into().ok()).unwrap_or(u64::MAX)
}

/// The query for a page of a history. `first` is the first version that has not expired.
fn page_query(history: &ItemCollection, first: u64, request: &PageRequest) -> Query {
    let query = Query::of(history);
    match &request.cursor {
        Some(PageCursor::After(place)) => query.after(keys::version(version_at(place))),
        Some(PageCursor::Before(place)) => {
            let mut query = query.before(keys::version(version_at(place)));
            query.backwards = true;
            query
        }
        // Versions have no gaps, unless an item was put back, so skip the previous pages without reading them.
        None => {
            let skipped = (request.number - 1).saturating_mul(u64::from(request.size));
            query.after(keys::version((first - 1).saturating_add(skipped)))
        }
    }
}

/// The key of an entry's item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryKey {
    /// The company of the resource.
    pub company: CompanyId,
    pub(super) history_id: String,
    pub(super) version: u64,
}

impl EntryKey {
    /// The entry with this partition and sort key; `None` for other items.
    pub fn parse(pk: &str, sk: &str) -> Option<Self> {
        let (company, history_id) = keys::in_history(pk)?;
        Some(Self { company, history_id: history_id.to_owned(), version: sk.parse().ok()? })
    }

    /// The identifier of the history in its company, and the version of the resource after the write.
    pub fn place(&self) -> (&str, u64) {
        (&self.history_id, self.version)
    }

    /// The key of `entry`.
    pub fn of(entry: &HistoryEntry) -> Self {
        let company = entry.change.company.clone();
        Self { history_id: entry.change.resource.history_id(&company), company, version: entry.version_after }
    }
}

impl StoredEntity for HistoryEntry {
    fn key(&self) -> ItemKey {
        let company = &self.change.company;
        keys::entry(company, &self.change.resource.history_id(company), self.version_after)
    }

    fn by_status(&self) -> Option<(String, String)> {
        let sequence = self.sequence?;
        Some((keys::events(&self.change.company), keys::event_number(sequence)))
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        Some(self.expires_at)
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        // An event is due until it has a number, in case the table's stream misses it.
        self.is_unnumbered().then(|| {
            let company = &self.change.company;
            let shard = DueQueue::Events.shard_of_text(&self.change.resource.history_id(company));
            DueEntry { shard, at: self.origin.at + DELAY, company }
        })
    }
}

/// The result of stripping the history of an erased resource.
#[derive(Debug, Default)]
pub struct StrippedHistory {
    /// The number of entries, except one that records the erasure.
    pub entries: usize,
    /// How many entries still held data of the resource, and are now stripped.
    pub stripped: usize,
    /// Whether further entries still hold data of the resource.
    pub has_more: bool,
    /// When the resource was first deleted; `None` if no entry records it.
    pub deleted_at: Option<DateTime<Utc>>,
    /// The version of the last entry; 0 without entries.
    last_version: u64,
    last_event: Option<u64>,
    /// Whether the last entry records the erasure.
    is_ended: bool,
}

struct StrippedPage {
    /// The entries before they were stripped.
    entries: Vec<VersionedItem<HistoryEntry>>,
    stripped: usize,
    has_more: bool,
    next: Option<Item>,
}

impl StrippedHistory {
    fn add(&mut self, entries: &[VersionedItem<HistoryEntry>], stripped: usize) {
        self.stripped += stripped;
        for entry in entries {
            self.entries += usize::from(!entry.is_erasure());
            self.is_ended = entry.is_erasure();
            self.last_version = entry.version_after;
            self.last_event = Some(entry.version_after).filter(|_| entry.is_event()).or(self.last_event);
            let deleted = Some(entry.origin.at).filter(|_| entry.is_deletion());
            self.deleted_at = self.deleted_at.into_iter().chain(deleted).min();
        }
    }
}

/// The counter that gives a company's events their numbers, without gaps unless a restore leaves some out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSequence {
    pub company: CompanyId,
    /// The last number; 0 before the first event.
    pub last: u64,
    /// The time at which the last number was given.
    pub at: DateTime<Utc>,
    /// The last event that has a number; `None` before the first. Numbers after it were left out.
    pub last_event: Option<EventMark>,
    /// Whether the company has webhooks. If so, the schedule checks that new events reach them.
    pub has_webhooks: bool,
    /// When the schedule checks that new events have reached the webhooks; `None` if there were no new events since the last check.
    pub delivery_due_at: Option<DateTime<Utc>>,
    /// The usage in months that were open when the last events were numbered. After an import, also the usage in the
    /// archive's months, until the next events are numbered.
    #[serde(default, skip_serializing_if = "UsageByMonth::is_empty")]
    pub usage: UsageByMonth,
}

impl EventSequence {
    /// The sequence of a company without events and webhooks.
    pub fn new(company: CompanyId, now: DateTime<Utc>) -> Self {
        Self {
            company,
            last: 0,
            at: now,
            last_event: None,
            has_webhooks: false,
            delivery_due_at: None,
            usage: UsageByMonth::default(),
        }
    }

    /// Advances the sequence by `by` numbers, given at `now`.
    pub(super) fn advance(&mut self, by: u64, now: DateTime<Utc>) -> Result<()> {
        // Fail on overflow: readers would notice a gap, and a panic would also stop the numbering of other companies' events.
        let last = self.last.checked_add(by);
        self.last = last.ok_or_else(|| Error::internal("the numbers of events are used up"))?;
        self.at = now;
        self.delivery_due_at = self.delivery_due_at.or(Some(now + DELAY)).filter(|_| self.has_webhooks);
        Ok(())
    }

    /// Gives the next number to `event` at `now`, and counts it as usage.
    pub(super) fn number(&mut self, event: HistoryEntry, now: DateTime<Utc>) -> Result<HistoryEntry> {
        self.advance(1, now)?;
        self.usage.count(&event, now);
        let mark = EventMark { number: self.last, expires_at: event.expires_at };
        let predecessor = self.last_event.replace(mark);
        Ok(event.with_number(self.last, predecessor, now))
    }
}

impl StoredEntity for EventSequence {
    fn key(&self) -> ItemKey {
        keys::sequence(&self.company)
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let company = &self.company;
        let shard = DueQueue::Feeds.shard_of_text(company.as_str());
        Some(DueEntry { shard, at: self.delivery_due_at?, company })
    }
}

impl Store {
    /// A page of the entries of a resource that have not expired at `now`, by version, and the number of all of them.
    /// `latest` is the version of the resource. Cursors hold versions encoded by [`history_place`].
    pub async fn history_page(
        &self,
        company: &CompanyId,
        resource: ResourceRef,
        latest: u64,
        request: &PageRequest,
        now: DateTime<Utc>,
    ) -> Result<(Page<VersionedItem<HistoryEntry>>, u64)> {
        let history = keys::history(company, &resource.history_id(company));
        let Some(first) = self.first_kept(&history, now).await? else {
            return Ok((Page { rows: Vec::new(), next: None, previous: None }, 0));
        };
        let query = page_query(&history, first, request);
        let size = request.size as usize;
        let is_backwards = query.backwards;
        let mut rows = self.query_rows(query, size + 1).await?;
        let has_more = rows.len() > size;
        rows.truncate(size);
        if is_backwards {
            rows.reverse();
        }
        let mut rows: Vec<VersionedItem<HistoryEntry>> = item::readable(rows)?;
        // DynamoDB deletes expired entries hours late. Drop them, so that what clients see does not depend on that.
        rows.retain(|entry| entry.is_kept(now));
        let versions =
            rows.first().zip(rows.last()).map(|(top, last)| (top.version_after, last.version_after));
        let Some((top, last)) = versions else {
            let previous = request.cursor.as_ref().and_then(PageCursor::turned);
            return Ok((Page { rows, next: None, previous }, latest + 1 - first));
        };
        let next = (is_backwards || has_more).then(|| PageCursor::After(history_place(last)));
        let previous = (top > first).then(|| PageCursor::Before(history_place(top)));
        Ok((Page { rows, next, previous }, latest.max(last) + 1 - first))
    }

    /// The version of the first entry that has not expired at `now`; `None` if all have.
    async fn first_kept(&self, history: &ItemCollection, now: DateTime<Utc>) -> Result<Option<u64>> {
        let mut query = Query::of(history);
        // Nearly always this is the first entry: only histories older than the retention begin with expired ones.
        query.limit = Some(1);
        loop {
            let found = self.query(&query).await?;
            let entries: Vec<VersionedItem<HistoryEntry>> = item::readable(found.rows)?;
            if let Some(first) = entries.iter().find(|entry| entry.is_kept(now)) {
                return Ok(Some(first.version_after));
            }
            query.start = found.last;
            if query.start.is_none() {
                return Ok(None);
            }
            query.limit = Some(MAX_ROWS);
        }
    }

    /// The events of a resource that have not expired at `now`, by version. Entries that are no events are left out.
    pub async fn events_of(
        &self,
        company: &CompanyId,
        resource: ResourceRef,
        now: DateTime<Utc>,
    ) -> Result<Vec<VersionedItem<HistoryEntry>>> {
        // Read the whole history: entries that are no events would make pages uneven.
        let history = keys::history(company, &resource.history_id(company));
        let mut entries: Vec<VersionedItem<HistoryEntry>> = self.all(&history).await?;
        entries.retain(|entry| entry.is_event() && entry.is_kept(now));
        Ok(entries)
    }

    /// Streams the entries of a resource after `version` that have not expired at `now`, by version. Reads them as the
    /// stream is consumed. For documents that must not miss one: fails with [`Error::Unreadable`] if one cannot be
    /// read.
    pub fn whole_history_after(
        &self,
        company: &CompanyId,
        resource: ResourceRef,
        version: u64,
        now: DateTime<Utc>,
    ) -> impl Stream<Item = Result<VersionedItem<HistoryEntry>>> + Send + use<'_> {
        let history = keys::history(company, &resource.history_id(company));
        let mut query = Query::of(&history).after(keys::version(version));
        query.limit = Some(READ_TOGETHER);
        let pages = self.query_pages(query);
        let entries = pages
            .map_ok(|found| stream::iter(found.rows.into_iter().map(item::read::<HistoryEntry>)))
            .try_flatten();
        entries.try_filter(move |entry| future::ready(entry.is_kept(now)))
    }

    /// Up to `most` entries of the history with this identifier from `version` on, by version, and whether there may be
    /// more. May include expired entries that DynamoDB has not deleted yet.
    pub async fn history_from(
        &self,
        company: &CompanyId,
        history_id: &str,
        version: u64,
        most: usize,
    ) -> Result<(Vec<VersionedItem<HistoryEntry>>, bool)> {
        let before = keys::entry(company, history_id, version.saturating_sub(1));
        let query = Query::new(TABLE, string(before.pk)).after(before.sk);
        let rows = self.query_rows(query, most).await?;
        let may_go_on = rows.len() == most;
        Ok((item::readable(rows)?, may_go_on))
    }

    /// The event with this identifier; `None` if there is none, or if it has expired at `now`.
    pub async fn event(
        &self,
        company: &CompanyId,
        id: &EventId,
        now: DateTime<Utc>,
    ) -> Result<Option<VersionedItem<HistoryEntry>>> {
        let entry = self.one::<HistoryEntry>(keys::entry(company, &id.history_id, id.version)).await?;
        Ok(entry.filter(|entry| entry.id() == *id && entry.is_event() && entry.is_kept(now)))
    }

    /// Removes the resource's data from up to `most` entries of the history of an erased resource. Numbers its events
    /// first. Fails with [`Error::Changed`] after too many conflicts with the numbering of its events, and with
    /// [`Error::Unreadable`] if a newer release has written an entry.
    pub async fn strip_history(
        &self,
        company: &CompanyId,
        resource: ResourceRef,
        most: usize,
        now: DateTime<Utc>,
    ) -> Result<StrippedHistory> {
        let mut query = Query::of(&keys::history(company, &resource.history_id(company)));
        // Read page by page, because all entries of a long history could exhaust the memory.
        query.limit = Some(STRIPPED_TOGETHER);
        let mut history = StrippedHistory::default();
        loop {
            let left = most.saturating_sub(history.stripped);
            let page =
                self.retry_on_conflict(RetryPolicy::CHANGE, || self.strip_page(&query, left, now)).await?;
            query.start = page.next;
            history.add(&page.entries, page.stripped);
            if page.has_more {
                return Ok(StrippedHistory { has_more: true, ..history });
            }
            if query.start.is_none() {
                return Ok(history);
            }
        }
    }

    async fn strip_page(&self, query: &Query, most: usize, now: DateTime<Utc>) -> Result<StrippedPage> {
        let found = self.query(query).await?;
        let entries = found.rows.into_iter().map(item::read).collect::<Result<Vec<VersionedItem<_>>>>()?;
        let unnumbered = entries.iter().filter(|entry| HistoryEntry::is_unnumbered(entry));
        let unnumbered: Vec<EntryKey> = unnumbered.map(|entry| EntryKey::of(entry)).collect();
        // Number the events before stripping them: usage is counted from an event's content when it gets its number.
        // The next attempt finds them numbered.
        if let Some(first) = unnumbered.first() {
            self.assign_numbers(&first.company, &unnumbered, now).await?;
            return Err(Error::Changed);
        }
        let mut left = Vec::new();
        for entry in &entries {
            let stripped = HistoryEntry::clone(entry).stripped();
            // A repeated attempt writes only entries that are not stripped yet.
            if stripped != **entry {
                left.push((entry.clone(), stripped));
            }
        }
        let has_more = left.len() > most;
        left.truncate(most);
        let stripped = left.len();
        let writes =
            left.into_iter().map(|(entry, after)| async move { self.replace(&entry, after).await.map(drop) });
        stream::iter(writes).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        Ok(StrippedPage { stripped, has_more, next: found.last, entries })
    }

    /// Ends the `history` of an erased resource with an entry for `change`, which records the erasure. Does nothing if
    /// the last entry is already an erasure. Fails with [`Error::Changed`] if an entry was added after `history` was
    /// read.
    pub async fn end_history(&self, history: &StrippedHistory, change: ResourceChange) -> Result<()> {
        // An interrupted attempt has already recorded the erasure.
        if history.is_ended {
            return Ok(());
        }
        let origin = self.origin.as_deref().cloned();
        let origin = origin.ok_or_else(|| Error::internal("a change without an author"))?;
        // The history is empty if the table was restored to a time before the resource was created.
        let version = history.last_version + 1;
        let entry = HistoryEntry::new(change, version, origin, self.app.config().event_retention)
            .with_event_before(history.last_event);
        // The entry's key contains this version, so of two concurrent attempts one fails.
        self.create_alone(entry).await.map(drop)
    }
}
