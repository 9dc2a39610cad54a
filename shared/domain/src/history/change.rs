//! The change that one write makes, and the trait of resources with a history.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{EventType, FieldChanges, FieldValue, ResourceRef};
use crate::history::erasure::{CopyRetention, ErasureDetails};
use crate::id::CompanyId;
use crate::text::ExternalId;

/// A resource that has a history. The file of its type holds the implementation.
pub trait HasHistory {
    const CREATED: EventType;
    /// The event type of changes that have no specific one; `None` if the resource never changes.
    const UPDATED: Option<EventType>;
    /// The event type of the deletion; `None` if the resource is never deleted.
    const DELETED: Option<EventType>;

    fn place(&self) -> (&CompanyId, ResourceRef);

    /// The client's key of the resource; `None` if it has none.
    fn external_id(&self) -> Option<&ExternalId> {
        None
    }

    /// Returns the fields by their names in the API. Implementations destructure the whole value, so that a new field does not
    /// compile until it is listed or explicitly left out.
    fn history_fields(&self) -> Vec<(&'static str, FieldValue)>;

    /// The event types of a write, the most informative first, without those of creation and deletion; `before` is `None` for a
    /// new resource.
    fn events(_before: Option<&Self>, _after: &Self, changes: &FieldChanges) -> Vec<EventType> {
        Self::UPDATED.into_iter().filter(|_| changes.has_other_than(&[])).collect()
    }
}

/// The events whose condition holds.
pub(crate) fn events_that_apply<const N: usize>(events: [(bool, EventType); N]) -> Vec<EventType> {
    events.into_iter().filter(|(holds, _)| *holds).map(|(_, event)| event).collect()
}

/// One write of a resource, as its history keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceChange {
    /// The company of the resource.
    pub company: CompanyId,
    pub resource: ResourceRef,
    /// The names of the event types, the most informative first; empty for a change without an event.
    // Strings instead of `EventType`, because newer releases may have stored types that this one lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// The client's key of the resource at the time of this change. For an interview: the candidate's key when the event was
    /// numbered. `None` if there was none, and once the candidate is erased.
    // A deletion also carries the key, so that consumers of the feed know which of their records is meant. The erasure removes
    // the key from all entries of the candidate, the deletion's included; later readers get identifiers only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<ExternalId>,
    /// The client's key of the project when the event of a candidate or an interview was numbered; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_external_id: Option<ExternalId>,
    /// The effect of the write on the resource's fields.
    pub details: FieldChanges,
}

impl ResourceChange {
    /// Whether the change is an event of the feed. Other changes are in the history only.
    pub fn is_event(&self) -> bool {
        !self.types.is_empty()
    }

    /// The change from `before` to `after`. `before` is `None` for a new resource, `after` for a deleted one. Returns `None` if
    /// both are.
    pub fn of<T: HasHistory>(before: Option<&T>, after: Option<&T>) -> Option<Self> {
        let written = after.or(before)?;
        let (company, resource) = written.place();
        let external_id = written.external_id().cloned();
        let Some(after) = after else {
            let types = T::DELETED.into_iter().collect();
            let deletion = Self::new(company, resource, types, FieldChanges::default());
            return Some(deletion.with_external_id(external_id));
        };
        let details = FieldChanges::between(before.map(T::history_fields), after.history_fields());
        let created = before.is_none().then_some(T::CREATED);
        let types = created.into_iter().chain(T::events(before, after, &details)).collect();
        Some(Self::new(company, resource, types, details).with_external_id(external_id))
    }

    pub fn new(
        company: &CompanyId,
        resource: ResourceRef,
        types: Vec<EventType>,
        details: FieldChanges,
    ) -> Self {
        let types = types.into_iter().map(|event_type| event_type.as_str().to_owned()).collect();
        Self {
            company: company.clone(),
            resource,
            types,
            external_id: None,
            project_external_id: None,
            details,
        }
    }

    /// The change of a resource with this key.
    pub(crate) fn with_external_id(self, external_id: Option<ExternalId>) -> Self {
        Self { external_id, ..self }
    }

    /// Adds the keys of the owners to a change: to a candidate's change that of the project, to an interview's change those of
    /// the candidate and the project. Other changes stay as they are.
    pub fn with_keys_of_owners(self, candidate: Option<ExternalId>, project: Option<ExternalId>) -> Self {
        match self.resource {
            ResourceRef::Candidate { .. } => Self { project_external_id: project, ..self },
            ResourceRef::Interview { .. } => {
                Self { external_id: candidate, project_external_id: project, ..self }
            }
            _ => self,
        }
    }

    /// The erasure of everything that the deletion of a candidate at `deleted_at` has left behind. `copies` says how long copies
    /// last.
    pub fn of_erasure(
        company: &CompanyId,
        resource: ResourceRef,
        erasure: ErasureDetails,
        deleted_at: DateTime<Utc>,
        copies: CopyRetention,
    ) -> Self {
        let erasure = Some(erasure);
        let deleted_at = Some(deleted_at);
        let copies = Some(copies);
        let details = FieldChanges { erasure, deleted_at, copies, ..FieldChanges::default() };
        Self::new(company, resource, vec![EventType::CandidateErased], details)
    }
}
