//! Access patterns of the history: one entry for each write of a resource, in the transaction of that write.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::Store;
use super::due::Queue;
use super::item::{self, Entity, Versioned, string};
use super::keys::{self, Key, TABLE};
use super::query::Query;
use crate::domain::history::{Change, Entry, EventId, Resource};
use crate::domain::id::CompanyId;
use crate::error::{Error, Result};

/// The delay in which the table's stream, which is faster, has an event numbered.
const DELAY: TimeDelta = TimeDelta::minutes(1);

/// The place of an entry in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryKey {
    /// The company of the resource.
    pub company: CompanyId,
    pub(super) history: String,
    pub(super) version: u64,
}

impl EntryKey {
    /// The entry with this partition and sort key; none for other items.
    pub fn parse(pk: &str, sk: &str) -> Option<Self> {
        let (company, history) = keys::in_history(pk)?;
        Some(Self { company, history: history.to_owned(), version: sk.parse().ok()? })
    }

    /// The key of `entry`.
    pub fn of(entry: &Entry) -> Self {
        let company = entry.change.company.clone();
        Self { history: entry.change.resource.history_id(&company), company, version: entry.version_after }
    }
}

impl Entity for Entry {
    fn key(&self) -> Key {
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

    fn due(&self) -> Option<(u8, DateTime<Utc>)> {
        let shard = || Queue::Events.shard_of_text(&self.change.resource.history_id(&self.change.company));
        self.is_unnumbered().then(|| (shard(), self.origin.at + DELAY))
    }
}

/// The numbers of a company's events, which have no gaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequence {
    /// The company.
    pub company: CompanyId,
    /// The last number; 0 before the first event.
    pub last: u64,
    /// When it was given.
    pub at: DateTime<Utc>,
    /// Whether the company has webhooks, so that the schedule looks whether new numbers have reached them.
    #[serde(default)]
    pub has_webhooks: bool,
    /// When the schedule looks for webhooks that new numbers have not reached; none if there were none since it has.
    pub look_at: Option<DateTime<Utc>>,
}

impl Sequence {
    /// The sequence of a company without events and webhooks.
    pub fn new(company: CompanyId, now: DateTime<Utc>) -> Self {
        Self { company, last: 0, at: now, has_webhooks: false, look_at: None }
    }

    /// The sequence, whose `last` number was given at `now`.
    pub(super) fn up_to(self, last: u64, now: DateTime<Utc>) -> Self {
        let look_at = self.look_at.or(Some(now + DELAY)).filter(|_| self.has_webhooks);
        Self { last, at: now, look_at, ..self }
    }
}

impl Entity for Sequence {
    fn key(&self) -> Key {
        keys::sequence(&self.company)
    }

    fn due(&self) -> Option<(u8, DateTime<Utc>)> {
        Some((Queue::Feeds.shard_of_text(self.company.as_str()), self.look_at?))
    }
}

impl Store {
    /// The entries of a resource that have not expired at `now`, by version.
    pub async fn history(
        &self,
        company: &CompanyId,
        resource: Resource,
        now: DateTime<Utc>,
    ) -> Result<Vec<Versioned<Entry>>> {
        let mut entries: Vec<Versioned<Entry>> =
            self.all(&keys::history(company, &resource.history_id(company))).await?;
        entries.retain(|entry| entry.is_kept(now));
        Ok(entries)
    }

    /// Up to `most` entries of the history with this identifier from `version` on, by version, and whether there may be more.
    /// Those that have expired are among them until they are deleted.
    pub async fn history_from(
        &self,
        company: &CompanyId,
        history_id: &str,
        version: u64,
        most: usize,
    ) -> Result<(Vec<Versioned<Entry>>, bool)> {
        let before = keys::entry(company, history_id, version.saturating_sub(1));
        let query = Query::new(TABLE, string(before.pk)).after(before.sk);
        let rows = self.query_rows(query, most).await?;
        let may_go_on = rows.len() == most;
        Ok((item::readable(rows)?, may_go_on))
    }

    /// The event with this identifier; none if there is none, or if it has expired at `now`.
    pub async fn event(
        &self,
        company: &CompanyId,
        id: &EventId,
        now: DateTime<Utc>,
    ) -> Result<Option<Versioned<Entry>>> {
        let entry = self.one::<Entry>(keys::entry(company, &id.history, id.version)).await?;
        Ok(entry.filter(|entry| entry.id() == *id && entry.is_kept(now)))
    }

    /// Removes from the history of an erased resource what it says of the resource, and returns its entries as they were.
    /// Fails with [`Error::Changed`] after too many conflicts with the numbering of its events.
    pub async fn strip_history(
        &self,
        company: &CompanyId,
        resource: Resource,
    ) -> Result<Vec<Versioned<Entry>>> {
        self.retry(|| self.strip_once(company, resource)).await
    }

    async fn strip_once(&self, company: &CompanyId, resource: Resource) -> Result<Vec<Versioned<Entry>>> {
        let history = keys::history(company, &resource.history_id(company));
        let entries = self.all::<Entry>(&history).await?;
        for entry in &entries {
            let stripped = Entry::clone(entry).stripped();
            if stripped != **entry {
                self.replace(entry, stripped).await?;
            }
        }
        Ok(entries)
    }

    /// Ends the `history` of an erased resource with `change`, which tells of the erasure. Does nothing if the history ends
    /// with an erasure already. Fails with [`Error::Changed`] if it goes on since it was read.
    pub async fn end_history(&self, history: &[Versioned<Entry>], change: Change) -> Result<()> {
        let last = history.last();
        if last.is_some_and(|last| last.is_erasure()) {
            return Ok(());
        }
        let origin = self.origin.as_deref().cloned();
        let origin = origin.ok_or_else(|| Error::internal("a change without an author"))?;
        // A restoration to a moment before the resource was created has taken the whole history back.
        let version = last.map_or(0, |last| last.version_after) + 1;
        let entry = Entry::new(change, version, origin, self.app.config().event_retention);
        self.create_alone(entry).await.map(drop)
    }
}
