//! Access patterns of the history: one entry for each write of a resource, in the transaction of that write.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::due::Queue;
use super::item::Entity;
use super::keys::{self, Key};
use crate::domain::history::Entry;
use crate::domain::id::CompanyId;

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

/// The last number that an event of a company has. Numbers have no gaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sequence {
    pub(super) company: CompanyId,
    pub(super) last: u64,
}

impl Entity for Sequence {
    fn key(&self) -> Key {
        keys::sequence(&self.company)
    }
}
