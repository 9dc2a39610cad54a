//! The resources whose changes the history keeps.

use super::event::{self, EventType};
use super::fields::{self, NamedField};
use super::{FieldChanges, ResourceRef};
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::customer::Customer;
use crate::domain::id::CompanyId;
use crate::domain::label::Label;
use crate::domain::named_token::NamedToken;
use crate::domain::project::Project;
use crate::domain::video::Video;
use crate::domain::webhook::Webhook;

/// A resource whose changes the history keeps.
pub(crate) trait HasHistory {
    /// The event of its deletion; none for resources that are never deleted.
    const DELETED: Option<EventType>;

    fn place(&self) -> (&CompanyId, ResourceRef);

    fn fields(&self) -> Vec<NamedField>;

    /// The events of a change of `before`, which is none for a new resource, to `after`.
    fn events(before: Option<&Self>, after: &Self, details: &FieldChanges) -> Vec<EventType>;
}

impl HasHistory for Candidate {
    const DELETED: Option<EventType> = Some(EventType::CandidateDeleted);

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Candidate { project: self.project, candidate: self.id })
    }

    fn fields(&self) -> Vec<NamedField> {
        fields::of_candidate(self)
    }

    fn events(before: Option<&Self>, after: &Self, details: &FieldChanges) -> Vec<EventType> {
        event::of_candidate(before, after, details)
    }
}

impl HasHistory for Customer {
    const DELETED: Option<EventType> = Some(EventType::CustomerDeleted);

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Customer { customer: self.id })
    }

    fn fields(&self) -> Vec<NamedField> {
        fields::of_customer(self)
    }

    fn events(before: Option<&Self>, after: &Self, details: &FieldChanges) -> Vec<EventType> {
        event::of_customer(before, after, details)
    }
}

impl HasHistory for Project {
    const DELETED: Option<EventType> = None;

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Project { project: self.id })
    }

    fn fields(&self) -> Vec<NamedField> {
        fields::of_project(self)
    }

    fn events(before: Option<&Self>, _: &Self, details: &FieldChanges) -> Vec<EventType> {
        before.map_or_else(|| vec![EventType::ProjectCreated], |_| event::of_project(details))
    }
}

impl HasHistory for Video {
    const DELETED: Option<EventType> = Some(EventType::VideoDeleted);

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Video { video: self.id })
    }

    fn fields(&self) -> Vec<NamedField> {
        fields::of_video(self)
    }

    fn events(before: Option<&Self>, after: &Self, details: &FieldChanges) -> Vec<EventType> {
        before.map_or_else(|| vec![EventType::VideoCreated], |_| event::of_video(after, details))
    }
}

impl HasHistory for Label {
    const DELETED: Option<EventType> = Some(EventType::LabelDeleted);

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Label { label: self.id })
    }

    fn fields(&self) -> Vec<NamedField> {
        fields::of_label(self)
    }

    fn events(before: Option<&Self>, _: &Self, details: &FieldChanges) -> Vec<EventType> {
        event::created_or_updated(before, details, (EventType::LabelCreated, EventType::LabelUpdated))
    }
}

impl HasHistory for NamedToken {
    const DELETED: Option<EventType> = Some(EventType::TokenDeleted);

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Token { token: self.id })
    }

    fn fields(&self) -> Vec<NamedField> {
        fields::of_token(self)
    }

    fn events(_: Option<&Self>, _: &Self, _: &FieldChanges) -> Vec<EventType> {
        vec![EventType::TokenCreated]
    }
}

impl HasHistory for Company {
    const DELETED: Option<EventType> = None;

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.id, ResourceRef::Company)
    }

    fn fields(&self) -> Vec<NamedField> {
        fields::of_company(self)
    }

    fn events(before: Option<&Self>, _: &Self, details: &FieldChanges) -> Vec<EventType> {
        event::created_or_updated(before, details, (EventType::CompanyCreated, EventType::CompanyUpdated))
    }
}

impl HasHistory for Webhook {
    const DELETED: Option<EventType> = Some(EventType::WebhookDeleted);

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Webhook { webhook: self.id })
    }

    fn fields(&self) -> Vec<NamedField> {
        fields::of_webhook(self)
    }

    fn events(before: Option<&Self>, after: &Self, details: &FieldChanges) -> Vec<EventType> {
        before.map_or_else(|| vec![EventType::WebhookCreated], |_| event::of_webhook(after, details))
    }
}
