//! Records of deletions, stored apart from the table: a restored table must repeat them.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::history::Resource;
use super::id::{CandidateId, CompanyId, CustomerId, ProjectId, VideoId};

/// The record of a deletion. Valid for ever, because identifiers are never reused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// The company of the item.
    pub company: CompanyId,
    /// The deleted item.
    pub erased: Erased,
    /// The time of the deletion, to the second.
    pub at: DateTime<Utc>,
}

/// An item with personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Erased {
    /// A candidate.
    Candidate {
        /// Their project.
        project: ProjectId,
        /// Their identifier.
        candidate: CandidateId,
    },
    /// A staff user.
    Customer {
        /// Their identifier.
        customer: CustomerId,
    },
    /// A welcome video.
    Video {
        /// Its identifier.
        video: VideoId,
    },
}

impl Erased {
    /// The item as a resource with a history.
    pub fn resource(self) -> Resource {
        match self {
            Self::Candidate { project, candidate } => Resource::Candidate { project, candidate },
            Self::Customer { customer } => Resource::Customer { customer },
            Self::Video { video } => Resource::Video { video },
        }
    }
}

/// The identifier, unique in the company.
impl fmt::Display for Erased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Candidate { candidate, .. } => candidate.fmt(f),
            Self::Customer { customer } => customer.fmt(f),
            Self::Video { video } => video.fmt(f),
        }
    }
}
