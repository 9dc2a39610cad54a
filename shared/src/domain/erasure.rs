//! Who and what was deleted for good, told apart from the table: a table that is restored as it was before must forget it
//! again.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::id::{CandidateId, CompanyId, CustomerId, ProjectId, VideoId};

/// A deletion that holds whatever becomes of the table. Identifiers are never used again, so it holds for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// Whose it was.
    pub company: CompanyId,
    /// What is gone.
    pub erased: Erased,
    /// When it was deleted, to the second.
    pub at: DateTime<Utc>,
}

/// What is about people, and gone when it is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Erased {
    /// A candidate.
    Candidate {
        /// Its project.
        project: ProjectId,
        /// Which.
        candidate: CandidateId,
    },
    /// A staff user.
    Customer {
        /// Which.
        customer: CustomerId,
    },
    /// A welcome video.
    Video {
        /// Which.
        video: VideoId,
    },
}

/// Its identifier, unique in its company.
impl fmt::Display for Erased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Candidate { candidate, .. } => candidate.fmt(f),
            Self::Customer { customer } => customer.fmt(f),
            Self::Video { video } => video.fmt(f),
        }
    }
}
