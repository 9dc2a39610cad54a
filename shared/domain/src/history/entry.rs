//! The entries of a history, and the identifiers of its events.

use std::fmt;
use std::str::FromStr;

use chrono::serde::ts_seconds;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::{ChangeAuthor, ChangeOrigin, EventType, FieldChanges, ResourceChange, ResourceRef};
use crate::id::{CompanyId, InvalidId, WebhookId};

/// The number and expiry of an event, as the next event stores them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventMark {
    /// The number of the event.
    pub number: u64,
    /// When the event expires.
    #[serde(with = "ts_seconds")]
    pub expires_at: DateTime<Utc>,
}

/// One row of the history: one write of a resource, or the erasure of what its deletion left behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryEntry {
    pub change: ResourceChange,
    /// The number of the write, from 1, which is the version of the resource after it; for an erasure, the next number.
    pub version_after: u64,
    /// The author and the time of the change.
    pub origin: ChangeOrigin,
    /// The version of the resource's last write before this one that is an event; `None` if there is none.
    pub event_before: Option<u64>,
    /// When the entry is deleted.
    #[serde(with = "ts_seconds")]
    pub expires_at: DateTime<Utc>,
    /// The event's number among the company's events, from 1; `None` before it is numbered.
    pub sequence: Option<u64>,
    /// When the event was numbered.
    pub numbered_at: Option<DateTime<Utc>>,
    /// The event with the preceding number; `None` for the first event of the company, and until this event is numbered. Numbers
    /// that were skipped between the two never had an event.
    pub predecessor: Option<EventMark>,
    /// The receipt of an erasure: a JWS that another deployment signed and an archive brought; `None` if this deployment signs
    /// the receipt itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

impl HistoryEntry {
    /// The entry for write number `version` of a resource, kept for the time `kept`.
    pub fn new(change: ResourceChange, version: u64, origin: ChangeOrigin, kept: TimeDelta) -> Self {
        Self {
            change,
            version_after: version,
            event_before: None,
            expires_at: origin.at + kept,
            origin,
            sequence: None,
            numbered_at: None,
            predecessor: None,
            receipt: None,
        }
    }

    /// Sets the version of the resource's last event before this entry.
    pub fn with_event_before(self, version: Option<u64>) -> Self {
        Self { event_before: version, ..self }
    }

    /// A test event for a webhook, which is not stored. Its version is 0, which no other event has.
    pub fn ping(company: CompanyId, webhook: WebhookId, at: DateTime<Utc>) -> Self {
        let types = vec![EventType::WebhookPing];
        let change =
            ResourceChange::new(&company, ResourceRef::Webhook { webhook }, types, FieldChanges::default());
        Self::new(change, 0, ChangeOrigin::new(ChangeAuthor::System, at), TimeDelta::zero())
    }

    /// Whether the entry has not expired at `now`.
    pub fn is_kept(&self, now: DateTime<Utc>) -> bool {
        now < self.expires_at
    }

    pub fn is_event(&self) -> bool {
        self.change.is_event()
    }

    /// Whether the entry is an event that has no number yet.
    pub fn is_unnumbered(&self) -> bool {
        self.sequence.is_none() && self.is_event()
    }

    /// The entry as event number `sequence`, numbered at `now`. `predecessor` is the event with the preceding number.
    pub fn with_number(self, sequence: u64, predecessor: Option<EventMark>, now: DateTime<Utc>) -> Self {
        Self { sequence: Some(sequence), predecessor, numbered_at: Some(now), ..self }
    }

    /// Removes everything that the entry says about the erased resource. The counts of an erasure stay.
    pub fn stripped(mut self) -> Self {
        let FieldChanges { erasure, deleted_at, copies, .. } = self.change.details;
        self.change.details = FieldChanges { erasure, deleted_at, copies, ..FieldChanges::default() };
        // Keep the project's key, as the project's identifier is kept: neither says anything about the candidate.
        self.change.external_id = None;
        self
    }

    /// Whether the entry records the deletion of a candidate.
    pub fn is_deletion(&self) -> bool {
        self.tells(EventType::CandidateDeleted)
    }

    /// Whether the entry is an event of this type.
    pub fn tells(&self, event: EventType) -> bool {
        self.change.types.iter().any(|name| name == event.as_str())
    }

    /// Whether the entry records an erasure instead of a write.
    pub fn is_erasure(&self) -> bool {
        self.change.details.erasure.is_some()
    }

    /// The identifier of the event.
    pub fn id(&self) -> EventId {
        EventId {
            history_id: self.change.resource.history_id(&self.change.company),
            version: self.version_after,
            // After a restoration of the table, versions are assigned again, but not within the same second.
            second: self.origin.at.timestamp(),
        }
    }
}

/// The identifier of an event: history, version, and time in seconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventId {
    /// The identifier of the history.
    pub history_id: String,
    /// The version of the resource after the change.
    pub version: u64,
    /// The time of the change, in seconds since 1970.
    pub second: i64,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "evt_{}_{}_{}", self.history_id, self.version, self.second)
    }
}

impl FromStr for EventId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let (rest, second) =
            text.strip_prefix("evt_").and_then(|rest| rest.rsplit_once('_')).ok_or(InvalidId)?;
        let (history_id, version) = rest.rsplit_once('_').ok_or(InvalidId)?;
        let version = version.parse().map_err(|_| InvalidId)?;
        Ok(Self {
            history_id: history_id.to_owned(),
            version,
            second: second.parse().map_err(|_| InvalidId)?,
        })
    }
}
