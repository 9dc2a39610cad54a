//! Items that are due, from the index by due date. Companies take turns, so that a single item of one company never
//! waits for thousands of another.

use std::collections::HashMap;
use std::ops::Range;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::try_join_all;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use sha2::{Digest as _, Sha256};

use super::table::handle::Store;
use super::table::item::{self, DUE_COMPANY, Item, StoredEntity, VersionedItem, number};
use super::table::keys::{DUE, ItemKey};
use super::table::read::query::Query;
use crate::domain::answers::Answers;
use crate::domain::candidate::Candidate;
use crate::domain::effect::Effect;
use crate::domain::history::HistoryEntry;
use crate::domain::id::{CompanyId, Id};
use crate::domain::media::upload::Upload;
use crate::domain::media::video::Video;
use crate::domain::transition::project_counts::SHARDS;
use crate::domain::webhook::DeliveryCursor;
use crate::error::{Error, Result};

/// The kinds of items that become due. Each kind has its own range of shards in the index by due date.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DueQueue {
    /// Candidates with a deadline or a reminder to come.
    Candidates,
    /// Effects to run or to retry.
    Effects,
    /// Uploads whose file has not arrived.
    Uploads,
    /// Videos whose file has not arrived, and those that are not yet converted.
    Videos,
    /// Effects that were given up, by the time when they were given up.
    GivenUpEffects,
    /// Events without a number.
    Events,
    /// Cursors of webhooks that have events to deliver or other work.
    Webhooks,
    /// Feeds with new events for webhooks.
    Feeds,
    /// Candidates who have requested erasure.
    Erasures,
    /// Retention runs.
    Retention,
    CompanyErasures,
    /// Answers with a take that is open or being converted.
    Answers,
    /// Named tokens that have an end.
    Tokens,
    /// Waves of ended interviews: companies whose staff have yet to be notified.
    InterviewWaves,
    /// Notices of ended interviews whose mail is due.
    InterviewNotices,
    /// Exports of companies whose archive must be written or whose files must be deleted.
    Exports,
    /// Companies whose evaluators must be reminded.
    EvaluationRounds,
    /// Notices of requests for help whose mail is due.
    HelpNotices,
}

impl DueQueue {
    #[cfg(test)]
    const ALL: [Self; 18] = [
        Self::Candidates,
        Self::Effects,
        Self::Uploads,
        Self::Videos,
        Self::GivenUpEffects,
        Self::Events,
        Self::Webhooks,
        Self::Feeds,
        Self::Erasures,
        Self::Retention,
        Self::CompanyErasures,
        Self::Answers,
        Self::Tokens,
        Self::InterviewWaves,
        Self::InterviewNotices,
        Self::Exports,
        Self::EvaluationRounds,
        Self::HelpNotices,
    ];

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
            // A company has at most 100 named tokens.
            Self::Tokens => 49..50,
            Self::InterviewWaves => 50..52,
            Self::InterviewNotices => 52..56,
            Self::Exports => 56..57,
            Self::EvaluationRounds => 57..59,
            Self::HelpNotices => 59..61,
        }
    }

    /// Whether items of an imported company wait in this queue until the company starts. Administrative work does not
    /// wait: mails of password resets, numbering of events, exports, and the company's erasure.
    fn waits_for_start(self) -> bool {
        match self {
            Self::Candidates
            | Self::Uploads
            | Self::Videos
            | Self::Erasures
            | Self::Retention
            | Self::Answers
            | Self::Tokens
            | Self::InterviewWaves
            | Self::InterviewNotices
            | Self::EvaluationRounds
            | Self::HelpNotices => true,
            Self::Effects
            | Self::GivenUpEffects
            | Self::Events
            | Self::Webhooks
            | Self::Feeds
            | Self::CompanyErasures
            | Self::Exports => false,
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

/// The most entries of one page: as many as one call reads items.
const PAGE: usize = 100;

/// How many entries of one shard are sorted into turns together: more than one invocation can handle.
// An entry has some 150 bytes, so one call reads the window, for about 100 read units.
const WINDOW: usize = 5000;

/// How many of the latest entries of a shard with more than [`WINDOW`] entries are sorted into the first window's turns.
// All entries of a window may belong to one company. Later entries of other companies must not wait for them.
const LATEST: usize = 500;

/// How many items of one company come before those of the next company.
// More than one, because items of one company share transactions.
const TURN: usize = 10;

/// Items that are due, in pages of up to 100. Companies take turns with up to ten items each, the longest due first. A
/// page leaves out items that are no longer due and, in most queues, those of companies that have not started, so it
/// may be empty.
pub type DuePages<'a, T> = BoxStream<'a, Result<Vec<VersionedItem<T>>>>;

impl Store {
    /// Candidates with a deadline or reminder that is due, of one shard of their project's counts.
    pub fn due_candidates(&self, counts: u8, now: DateTime<Utc>) -> DuePages<'_, Candidate> {
        // A candidate's identifier determines both shards: that of the counts and that of the index.
        let shards = DueQueue::Candidates.shards().filter(|shard| shard % SHARDS == counts);
        self.due_in(DueQueue::Candidates, shards.collect(), now)
    }

    /// Effects to run or to retry.
    pub fn due_effects(&self, now: DateTime<Utc>) -> DuePages<'_, Effect> {
        self.due(DueQueue::Effects, now)
    }

    pub fn given_up_effects(&self, now: DateTime<Utc>) -> DuePages<'_, Effect> {
        self.due(DueQueue::GivenUpEffects, now)
    }

    /// Uploads whose file has not arrived in time.
    pub fn due_uploads(&self, now: DateTime<Utc>) -> DuePages<'_, Upload> {
        self.due(DueQueue::Uploads, now)
    }

    /// Videos whose file has not arrived in time, and those to check because they are not yet converted.
    pub fn due_videos(&self, now: DateTime<Utc>) -> DuePages<'_, Video> {
        self.due(DueQueue::Videos, now)
    }

    /// Events without a number: the table's stream may have missed them.
    pub fn due_events(&self, now: DateTime<Utc>) -> DuePages<'_, HistoryEntry> {
        self.due(DueQueue::Events, now)
    }

    /// Cursors of webhooks that have events to deliver or other work.
    pub fn due_cursors(&self, now: DateTime<Utc>) -> DuePages<'_, DeliveryCursor> {
        self.due(DueQueue::Webhooks, now)
    }

    /// Candidates whose request for erasure is due.
    pub fn due_erasures(&self, now: DateTime<Utc>) -> DuePages<'_, Candidate> {
        self.due(DueQueue::Erasures, now)
    }

    /// Answers with a take to check because it is open or being converted.
    pub fn due_answers(&self, now: DateTime<Utc>) -> DuePages<'_, Answers> {
        self.due(DueQueue::Answers, now)
    }

    pub(super) fn due<T>(&self, queue: DueQueue, now: DateTime<Utc>) -> DuePages<'_, T>
    where
        T: StoredEntity + Send + Sync,
    {
        self.due_in(queue, queue.shards().collect(), now)
    }

    fn due_in<T>(&self, queue: DueQueue, shards: Vec<u8>, now: DateTime<Utc>) -> DuePages<'_, T>
    where
        T: StoredEntity + Send + Sync,
    {
        let windows = stream::try_unfold(due_queries(shards, now), move |queries| async move {
            if queries.is_empty() {
                return Ok(None);
            }
            let found = try_join_all(queries.iter().map(|query| self.query(query))).await?;
            let mut rows = Vec::new();
            let mut next = Vec::new();
            for (mut query, page) in queries.into_iter().zip(found) {
                rows.extend(page.rows);
                if page.last.is_none() {
                    continue;
                }
                if query.start.is_none() {
                    // Later windows return these entries again, but by then they are done or no longer due.
                    rows.extend(self.query(&query.clone().latest(LATEST)).await?.rows);
                }
                query.start = page.last;
                next.push(query);
            }
            Ok::<_, Error>(Some((in_turn(rows)?, next)))
        });
        let pages = windows.map_ok(move |keys| {
            let pages: Vec<Vec<ItemKey>> = keys.chunks(PAGE).map(<[_]>::to_vec).collect();
            stream::iter(pages).then(move |keys| self.due_page(queue, keys, now))
        });
        pages.try_flatten().boxed()
    }

    /// All items of one company that are due.
    pub(super) async fn due_of<T: StoredEntity>(
        &self,
        company: &CompanyId,
        queue: DueQueue,
        now: DateTime<Utc>,
    ) -> Result<Vec<VersionedItem<T>>> {
        let shards = due_queries(queue.shards().collect(), now);
        let shards = shards.into_iter().map(|query| self.query_rows(query, usize::MAX));
        let mut rows = try_join_all(shards).await?.concat();
        // Keep entries without a company, which the last release has written: their items name the company below.
        rows.retain(|row| [company.as_str(), ""].contains(&company_in(row)));
        let mut due: Vec<VersionedItem<T>> = self.still_due(queue, item::keys_of(&rows)?, now).await?;
        due.retain(|row| row.due().is_some_and(|due| due.company == company));
        Ok(due)
    }

    /// Reads items that the index names, like [`still_due`](Self::still_due). Leaves out those of companies that have not started.
    // Their entries stay in the index, so the first invocation after the start handles them.
    async fn due_page<T>(
        &self,
        queue: DueQueue,
        keys: Vec<ItemKey>,
        now: DateTime<Utc>,
    ) -> Result<Vec<VersionedItem<T>>>
    where
        T: StoredEntity + Send + Sync,
    {
        let mut rows: Vec<VersionedItem<T>> = self.still_due(queue, keys, now).await?;
        if queue.waits_for_start() {
            let companies = rows.iter().filter_map(|row| row.due().map(|due| due.company.clone())).collect();
            let waiting = self.awaiting_start(companies).await?;
            rows.retain(|row| row.due().is_some_and(|due| !waiting.contains(due.company)));
        }
        Ok(rows)
    }

    /// Reads items that the index names and that are still due. Leaves out those that cannot be read, because they must
    /// not block the items after them.
    async fn still_due<T: StoredEntity>(
        &self,
        queue: DueQueue,
        keys: Vec<ItemKey>,
        now: DateTime<Utc>,
    ) -> Result<Vec<VersionedItem<T>>> {
        let until = item::due_at(now);
        let shards = queue.shards();
        let mut rows: Vec<VersionedItem<T>> = self.listed(keys).await?;
        // The index lags behind the table, so check again whether each item is due.
        rows.retain(|row| {
            row.due().is_some_and(|due| shards.contains(&due.shard) && item::due_at(due.at) <= until)
        });
        Ok(rows)
    }
}

impl<T> VersionedItem<T> {
    /// The company and the key of an item from the index by due date, for the log.
    pub(crate) fn names_in_log(&self) -> (&str, String) {
        let key = item::key_of(self.stored()).map(|key| format!("{} {}", key.pk, key.sk));
        (company_in(self.stored()), key.unwrap_or_default())
    }
}

/// The queries of these shards for entries that are due at `now`, the longest due first.
fn due_queries(shards: Vec<u8>, now: DateTime<Utc>) -> Vec<Query> {
    // Sort keys hold the time to the second, followed by the company, so the bound is the next second (exclusive).
    let end = item::due_at(now + TimeDelta::seconds(1));
    let queries = shards.into_iter().map(|shard| {
        let mut query = Query::new(DUE, number(shard)).before(&end);
        query.limit = Some(WINDOW);
        query
    });
    queries.collect()
}

/// The company of an entry of the index; empty for an entry that the last release has written.
fn company_in(row: &Item) -> &str {
    let place = row.get(DUE.sk).and_then(|place| place.as_s().ok());
    place.and_then(|place| place.split_once(DUE_COMPANY)).map_or("", |(_, company)| company)
}

/// The keys of entries of the index. Companies take turns with up to [`TURN`] entries each, the longest due first.
fn in_turn(mut rows: Vec<Item>) -> Result<Vec<ItemKey>> {
    rows.sort_by(|one, other| {
        let place = |row: &Item| row.get(DUE.sk).and_then(|place| place.as_s().ok()).cloned();
        place(one).cmp(&place(other))
    });
    let mut places = HashMap::<&str, usize>::new();
    let turns = rows.iter().map(|row| {
        let place = places.entry(company_in(row)).or_default();
        *place += 1;
        Ok(((*place - 1) / TURN, item::key_of(row)?))
    });
    let mut turns = turns.collect::<Result<Vec<_>>>()?;
    // The sort is stable, so the longest due stay first within a turn.
    turns.sort_by_key(|(turn, _)| *turn);
    Ok(turns.into_iter().map(|(_, key)| key).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::table::item::string;

    const PAGE_OF_TABLE: &str = include_str!("../../TABLE.md");

    fn entry(at: &str, company: &str, name: &str) -> Item {
        let mut row = ItemKey::new(name.to_owned(), "item").into_attributes();
        let place = if company.is_empty() { at.to_owned() } else { format!("{at}#{company}") };
        row.insert(DUE.sk.to_owned(), string(place));
        row
    }

    #[test]
    fn companies_take_turns_and_the_longest_due_come_first() {
        let many = (0..50).map(|number| entry("2026-11-22T10:00:00Z", "acme", &format!("acme {number:02}")));
        let others = [
            entry("2026-11-22T10:00:02Z", "globex", "globex later"),
            entry("2026-11-22T10:00:01Z", "globex", "globex first"),
            entry("2026-11-22T09:00:00Z", "", "of the last release"),
        ];
        let dealt = in_turn(many.chain(others).collect()).unwrap();
        let names: Vec<&str> = dealt.iter().map(|key| key.pk.as_str()).collect();
        assert_eq!((names[0], names[1], names[10]), ("of the last release", "acme 00", "acme 09"));
        assert_eq!(names[11..14], ["globex first", "globex later", "acme 10"]);
        assert_eq!((names.len(), names[52]), (53, "acme 49"));
    }

    #[test]
    fn the_page_of_the_table_lists_every_shard() {
        let listed = PAGE_OF_TABLE.split_once("| shards of `due` |").unwrap().1.lines().skip(2);
        let listed = listed.map_while(|line| line.strip_prefix("| ")?.split_once(" | "));
        let expected = DueQueue::ALL.map(|queue| {
            let shards = queue.shards();
            let last = shards.end - 1;
            if shards.start == last { last.to_string() } else { format!("{}–{last}", shards.start) }
        });
        assert_eq!(listed.map(|(shards, _)| shards).collect::<Vec<_>>(), expected);
        let mut next = 0;
        for queue in DueQueue::ALL {
            assert_eq!(queue.shards().start, next, "{queue:?} has shards of its own");
            next = queue.shards().end;
        }
    }
}
