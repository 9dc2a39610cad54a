//! The history of resources: every change, its author, and its events.

mod change;
mod diff;
mod entry;
pub mod erasure;
mod event_types;
pub(crate) mod facts;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

pub(crate) use change::events_that_apply;
pub use change::{HasHistory, ResourceChange};
pub use diff::{FieldChanges, FieldValue};
pub(crate) use diff::{customers, fact, private};
pub use entry::{EventId, EventMark, HistoryEntry};
pub use event_types::{EventType, TypeFilter};
pub use facts::NoFacts;
pub(crate) use facts::{facts, make_optional};

use super::account::{Account, Principal};
use super::history::erasure::ErasedItem;
use super::id::{
    CandidateId, CompanyId, CustomerId, ExportId, LabelId, ProjectId, TokenId, VideoId, WebhookId,
};

/// The suffix that follows the candidate's identifier in the identifier of the interview's history.
pub const INTERVIEW_HISTORY: &str = "-interview";

/// A resource that has a history. Sorted so that a resource follows those that it may refer to; the company is first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ResourceRef {
    Company,
    /// The retention of the company.
    Retention,
    /// The settings of the provider that staff sign in by.
    SignIn,
    /// A staff user.
    Customer {
        customer: CustomerId,
    },
    Label {
        label: LabelId,
    },
    /// A welcome video.
    Video {
        video: VideoId,
    },
    /// A named token.
    Token {
        token: TokenId,
    },
    /// A project with its questions and criteria.
    Project {
        project: ProjectId,
    },
    Candidate {
        project: ProjectId,
        candidate: CandidateId,
    },
    /// The interview of a candidate: their answers.
    Interview {
        project: ProjectId,
        candidate: CandidateId,
    },
    Webhook {
        webhook: WebhookId,
    },
    /// An export of the company.
    Export {
        export: ExportId,
    },
}

impl ResourceRef {
    /// The identifier of the resource's history within the company.
    pub fn history_id(&self, company: &CompanyId) -> String {
        match self {
            Self::Company => company.to_string(),
            // Upper case, which identifiers of companies cannot contain.
            Self::Retention => "RETENTION".to_owned(),
            Self::SignIn => "SIGN_IN".to_owned(),
            Self::Customer { customer } => customer.to_string(),
            Self::Project { project } => project.to_string(),
            Self::Candidate { candidate, .. } => candidate.to_string(),
            Self::Interview { candidate, .. } => format!("{candidate}{INTERVIEW_HISTORY}"),
            Self::Video { video } => video.to_string(),
            Self::Label { label } => label.to_string(),
            Self::Token { token } => token.to_string(),
            Self::Webhook { webhook } => webhook.to_string(),
            Self::Export { export } => export.to_string(),
        }
    }

    /// The project that the resource is or belongs to.
    pub fn project(&self) -> Option<ProjectId> {
        match self {
            Self::Project { project } | Self::Candidate { project, .. } | Self::Interview { project, .. } => {
                Some(*project)
            }
            Self::Company
            | Self::Retention
            | Self::SignIn
            | Self::Customer { .. }
            | Self::Label { .. }
            | Self::Video { .. }
            | Self::Token { .. }
            | Self::Webhook { .. }
            | Self::Export { .. } => None,
        }
    }
}

impl From<ErasedItem> for ResourceRef {
    fn from(item: ErasedItem) -> Self {
        match item {
            ErasedItem::Candidate { project, candidate } => Self::Candidate { project, candidate },
            ErasedItem::Customer { customer } => Self::Customer { customer },
            ErasedItem::Video { video } => Self::Video { video },
            ErasedItem::Company => Self::Company,
        }
    }
}

/// The author of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ChangeAuthor {
    /// A staff user.
    Customer {
        customer: CustomerId,
    },
    Candidate {
        project: ProjectId,
        candidate: CandidateId,
    },
    NamedToken {
        token: TokenId,
    },
    /// The service itself, by a schedule or an event.
    System,
    /// The operator of the service.
    Operator,
}

impl From<Principal> for ChangeAuthor {
    fn from(principal: Principal) -> Self {
        match principal {
            Principal::Account(Account::Customer { customer }) => Self::Customer { customer },
            Principal::Account(Account::Candidate { project, candidate }) => {
                Self::Candidate { project, candidate }
            }
            Principal::NamedToken(token) => Self::NamedToken { token },
        }
    }
}

/// The author, the moment and the request of changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeOrigin {
    pub by: ChangeAuthor,
    /// The customer who acts on behalf of the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_by: Option<CustomerId>,
    /// The request, or the event of the platform; `None` for a schedule or the operator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The moment of the request.
    pub at: DateTime<Utc>,
}

impl ChangeOrigin {
    /// The origin of changes by `by` at `at` outside any request.
    pub fn new(by: impl Into<ChangeAuthor>, at: DateTime<Utc>) -> Self {
        Self { by: by.into(), on_behalf_by: None, request: None, at }
    }
}

/// A condition on events. Every part that is set must hold.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    /// Types of events. An event must have one of them.
    pub types: Option<TypeFilter>,
    pub resource: Option<ResourceRef>,
    /// The project that the resource is or belongs to.
    pub project: Option<ProjectId>,
    pub by: Option<ChangeAuthor>,
}

impl EventFilter {
    /// Whether `entry` meets the condition.
    pub fn wants(&self, entry: &HistoryEntry) -> bool {
        let resource = entry.change.resource;
        let types = &entry.change.types;
        self.types.as_ref().is_none_or(|wanted| types.iter().any(|name| wanted.fits(name)))
            && self.resource.is_none_or(|wanted| wanted == resource)
            && self.project.is_none_or(|wanted| resource.project() == Some(wanted))
            && self.by.is_none_or(|wanted| wanted == entry.origin.by)
    }
}

#[cfg(test)]
mod tests;
