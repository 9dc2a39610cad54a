//! Access patterns of the history: one entry for each write of a resource, in the transaction of that write.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::Store;
use super::due::Queue;
use super::item::{Entity, Versioned};
use super::keys::{self, Key};
use crate::domain::history::{Entry, Resource};
use crate::domain::id::CompanyId;
use crate::error::Result;

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
}

impl Entity for Sequence {
    fn key(&self) -> Key {
        keys::sequence(&self.company)
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

    /// Removes from the history of an erased resource what it says of the resource. Fails with [`Error::Changed`] after too
    /// many conflicts with the numbering of its events.
    ///
    /// [`Error::Changed`]: crate::Error::Changed
    pub async fn strip_history(&self, company: &CompanyId, resource: Resource) -> Result<()> {
        self.retry(|| self.strip_once(company, resource)).await
    }

    async fn strip_once(&self, company: &CompanyId, resource: Resource) -> Result<()> {
        let history = keys::history(company, &resource.history_id(company));
        for entry in self.all::<Entry>(&history).await? {
            let stripped = Entry::clone(&entry).stripped();
            if stripped != *entry {
                self.replace(&entry, stripped).await?;
            }
        }
        Ok(())
    }
}
