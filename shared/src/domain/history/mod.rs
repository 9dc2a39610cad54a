//! The history of resources: what is noted of every change, who made it, and the events that tell of it.

mod event;
mod event_id;
mod fields;
mod filter;
mod recorded;

use std::collections::{BTreeMap, BTreeSet};

use chrono::serde::ts_seconds;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use event::EventType;
pub use event_id::EventId;
use fields::{FieldValue, NamedField};
pub use filter::{EventFilter, TypeFilter};
pub(crate) use recorded::HasHistory;

use super::account::{Account, ResponseRecipient};
use super::erasure::ErasureDetails;
use super::id::{CandidateId, CompanyId, CustomerId, LabelId, ProjectId, TokenId, VideoId, WebhookId};
use super::interview::Interview;
use super::project::Project;

/// A resource whose changes the history keeps. Sorted by what may refer to what: a company comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ResourceRef {
    /// The company.
    Company,
    /// A staff user.
    Customer {
        /// Their identifier.
        customer: CustomerId,
    },
    /// A label.
    Label {
        /// Its identifier.
        label: LabelId,
    },
    /// A welcome video.
    Video {
        /// Its identifier.
        video: VideoId,
    },
    /// A named token.
    Token {
        /// Its identifier.
        token: TokenId,
    },
    /// A project with its questions and criteria.
    Project {
        /// Its identifier.
        project: ProjectId,
    },
    /// A candidate.
    Candidate {
        /// Their project.
        project: ProjectId,
        /// Their identifier.
        candidate: CandidateId,
    },
    /// A webhook.
    Webhook {
        /// Its identifier.
        webhook: WebhookId,
    },
}

impl ResourceRef {
    /// The identifier of its history in the company.
    pub fn history_id(&self, company: &CompanyId) -> String {
        match self {
            Self::Company => company.to_string(),
            Self::Customer { customer } => customer.to_string(),
            Self::Project { project } => project.to_string(),
            Self::Candidate { candidate, .. } => candidate.to_string(),
            Self::Video { video } => video.to_string(),
            Self::Label { label } => label.to_string(),
            Self::Token { token } => token.to_string(),
            Self::Webhook { webhook } => webhook.to_string(),
        }
    }

    /// The project that it is or belongs to.
    pub fn project(&self) -> Option<ProjectId> {
        match self {
            Self::Project { project } | Self::Candidate { project, .. } => Some(*project),
            Self::Company
            | Self::Customer { .. }
            | Self::Label { .. }
            | Self::Video { .. }
            | Self::Token { .. }
            | Self::Webhook { .. } => None,
        }
    }
}

/// Who made a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ChangeAuthor {
    /// A staff user.
    Customer {
        /// Their identifier.
        customer: CustomerId,
    },
    /// A candidate.
    Candidate {
        /// Their project.
        project: ProjectId,
        /// Their identifier.
        candidate: CandidateId,
    },
    /// A named token.
    NamedToken {
        /// Its identifier.
        token: TokenId,
    },
    /// The service itself, by a schedule or an event.
    System,
    /// The operator of the service.
    Operator,
}

impl From<ResponseRecipient> for ChangeAuthor {
    fn from(principal: ResponseRecipient) -> Self {
        match principal {
            ResponseRecipient::Account(Account::Customer { customer }) => Self::Customer { customer },
            ResponseRecipient::Account(Account::Candidate { project, candidate }) => {
                Self::Candidate { project, candidate }
            }
            ResponseRecipient::NamedToken(token) => Self::NamedToken { token },
        }
    }
}

/// The origin of changes: who makes them, when, and in which request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeContext {
    /// The author.
    pub by: ChangeAuthor,
    /// The customer who acts on behalf of the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_by: Option<CustomerId>,
    /// The request, or the event of the platform; none for a schedule or the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The moment of the request.
    pub at: DateTime<Utc>,
}

impl ChangeContext {
    /// Changes by `by` at `at`, in no request.
    pub fn new(by: impl Into<ChangeAuthor>, at: DateTime<Utc>) -> Self {
        Self { by: by.into(), on_behalf_by: None, request: None, at }
    }
}

/// What a change did to the fields of a resource, without personal data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FieldChanges {
    /// The names of the changed fields, by which the API knows them; none for a new resource.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub changed: BTreeSet<String>,
    /// The values of the facts after the change.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, Value>,
    /// The values before the change of those facts that it changed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub previous: BTreeMap<String, Value>,
    /// The customers who came, by field.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub added: BTreeMap<String, BTreeSet<CustomerId>>,
    /// The customers who went, by field.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub removed: BTreeMap<String, BTreeSet<CustomerId>>,
    /// What was erased after the deletion of the resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erasure: Option<ErasureDetails>,
}

impl FieldChanges {
    fn between(before: Option<Vec<NamedField>>, after: Vec<NamedField>) -> Self {
        let is_new = before.is_none();
        let mut before: BTreeMap<&str, FieldValue> = before.into_iter().flatten().collect();
        let mut details = Self::default();
        for (name, now) in after {
            let was = before.remove(name);
            let has_changed = !is_new && was.as_ref() != Some(&now);
            if has_changed {
                details.changed.insert(name.to_owned());
            }
            details.note(name, was, now, has_changed);
        }
        details
    }

    fn note(&mut self, name: &str, was: Option<FieldValue>, now: FieldValue, has_changed: bool) {
        match now {
            FieldValue::Fact(now) => {
                if let Some(FieldValue::Fact(was)) = was.filter(|_| has_changed) {
                    self.previous.insert(name.to_owned(), was);
                }
                // Facts are told with every change, so that receivers need not ask for them. Null without a change
                // tells nothing.
                if has_changed || !now.is_null() {
                    self.facts.insert(name.to_owned(), now);
                }
            }
            FieldValue::Customers(now) => {
                let was = if let Some(FieldValue::Customers(was)) = was { was } else { BTreeSet::new() };
                let differences = [(&mut self.added, &now - &was), (&mut self.removed, &was - &now)];
                for (differences, customers) in differences.into_iter().filter(|(_, all)| !all.is_empty()) {
                    differences.insert(name.to_owned(), customers);
                }
            }
            // Its name alone: logs, receivers and backups of events then hold no personal data.
            FieldValue::Private(_) => {}
        }
    }

    fn has_changed(&self, field: &str) -> bool {
        self.changed.contains(field)
    }

    fn has_changed_besides(&self, fields: &[&str]) -> bool {
        self.changed.iter().any(|field| !fields.contains(&field.as_str()))
    }
}

/// What is noted of one write of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceChange {
    /// The company of the resource.
    pub company: CompanyId,
    /// The resource.
    pub resource: ResourceRef,
    /// The names of the event's types, the most telling one first; none for a change without an event. Newer
    /// releases may know more types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// What happened to its fields.
    #[serde(default)]
    pub details: FieldChanges,
}

impl ResourceChange {
    /// Whether it is an event. Other changes are in the history alone.
    pub fn is_event(&self) -> bool {
        !self.types.is_empty()
    }

    /// The change of `before` to `after`, of which one is none for a new or a deleted resource.
    pub(crate) fn of<T: HasHistory>(before: Option<&T>, after: Option<&T>) -> Option<Self> {
        let (company, resource) = after.or(before)?.place();
        let (types, details) = match after {
            Some(after) => {
                let details = FieldChanges::between(before.map(T::fields), after.fields());
                (T::events(before, after, &details), details)
            }
            None => (T::DELETED.into_iter().collect(), FieldChanges::default()),
        };
        let types = types.into_iter().map(|one| one.as_str().to_owned()).collect();
        Some(Self { company: company.clone(), resource, types, details })
    }

    /// The erasure of what the deletion of a candidate has left.
    pub fn of_erasure(
        company: CompanyId,
        project: ProjectId,
        candidate: CandidateId,
        erasure: ErasureDetails,
    ) -> Self {
        let types = vec![EventType::CandidateErased.as_str().to_owned()];
        let details = FieldChanges { erasure: Some(erasure), ..FieldChanges::default() };
        Self { company, resource: ResourceRef::Candidate { project, candidate }, types, details }
    }

    /// The change of the questions and criteria of `project`, which are a part of it.
    pub(crate) fn of_interview(project: &Project, before: &Interview, after: &Interview) -> Self {
        let before = [project.fields(), fields::of_interview(before)].concat();
        let details =
            FieldChanges::between(Some(before), [project.fields(), fields::of_interview(after)].concat());
        let types = vec![EventType::ProjectUpdated.as_str().to_owned()];
        let resource = ResourceRef::Project { project: project.id };
        Self { company: project.company.clone(), resource, types, details }
    }
}

/// The place of an event in the feed, as the event after it remembers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventMark {
    /// The number of the event.
    pub number: u64,
    /// When the event expires.
    #[serde(with = "ts_seconds")]
    pub expires_at: DateTime<Utc>,
}

/// One row of the history: one write of a resource, or the erasure of what its deletion has left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// What happened.
    pub change: ResourceChange,
    /// The number of the write, from 1, that is the version of the resource since; of an erasure, the next number.
    pub version_after: u64,
    /// Who did it, and when.
    pub origin: ChangeContext,
    /// The version of the last write of the resource before this one that is an event; none if there is none.
    pub event_before: Option<u64>,
    /// When it is deleted.
    #[serde(with = "ts_seconds")]
    pub expires_at: DateTime<Utc>,
    /// Its number among the company's events, from 1; none before it is numbered.
    pub sequence: Option<u64>,
    /// When it was numbered.
    pub numbered_at: Option<DateTime<Utc>>,
    /// The event with the number before; none for the first event of the company, and before it is numbered. Numbers
    /// between the two were left out and never had an event.
    pub predecessor: Option<EventMark>,
}

impl HistoryEntry {
    /// The `version`th write of a resource, to be kept for `kept`.
    pub fn new(change: ResourceChange, version: u64, origin: ChangeContext, kept: TimeDelta) -> Self {
        Self {
            change,
            version_after: version,
            event_before: None,
            expires_at: origin.at + kept,
            origin,
            sequence: None,
            numbered_at: None,
            predecessor: None,
        }
    }

    /// The entry after the event with this version of the resource.
    pub fn with_event_before(self, version: Option<u64>) -> Self {
        Self { event_before: version, ..self }
    }

    /// A test event for a webhook, which is kept nowhere. No other event has its version.
    pub fn ping(company: CompanyId, webhook: WebhookId, at: DateTime<Utc>) -> Self {
        let types = vec![EventType::WebhookPing.as_str().to_owned()];
        let resource = ResourceRef::Webhook { webhook };
        let change = ResourceChange { company, resource, types, details: FieldChanges::default() };
        // Writes are numbered from 1, so no other event has this version.
        Self::new(change, 0, ChangeContext::new(ChangeAuthor::System, at), TimeDelta::zero())
    }

    /// Whether it has not expired at `now`.
    pub fn is_kept(&self, now: DateTime<Utc>) -> bool {
        now < self.expires_at
    }

    /// Whether it is an event.
    pub fn is_event(&self) -> bool {
        self.change.is_event()
    }

    /// Whether it is an event that has no number yet.
    pub fn is_unnumbered(&self) -> bool {
        self.sequence.is_none() && self.is_event()
    }

    /// The entry as event number `sequence` since `now`, after the event with the number before.
    pub fn with_number(self, sequence: u64, predecessor: Option<EventMark>, now: DateTime<Utc>) -> Self {
        Self { sequence: Some(sequence), predecessor, numbered_at: Some(now), ..self }
    }

    /// The entry without anything that was said of the resource, which was erased. What an erasure says stays.
    pub fn stripped(mut self) -> Self {
        self.change.details =
            FieldChanges { erasure: self.change.details.erasure, ..FieldChanges::default() };
        self
    }

    /// Whether it tells of an erasure instead of a write.
    pub fn is_erasure(&self) -> bool {
        self.change.details.erasure.is_some()
    }

    /// The identifier of the event.
    pub fn id(&self) -> EventId {
        EventId {
            history: self.change.resource.history_id(&self.change.company),
            version: self.version_after,
            // A restored table gives versions a second time, but not within the same second.
            second: self.origin.at.timestamp(),
        }
    }
}

#[cfg(test)]
mod tests;
