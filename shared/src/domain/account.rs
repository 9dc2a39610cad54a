//! Who can log in.

use serde::{Deserialize, Serialize};

use super::id::{CandidateId, CustomerId, ProjectId};

/// Somebody of a company who can log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "account", rename_all = "kebab-case")]
pub enum Account {
    /// A staff user.
    Customer {
        /// Which.
        customer: CustomerId,
    },
    /// A candidate.
    Candidate {
        /// Its project.
        project: ProjectId,
        /// Which.
        candidate: CandidateId,
    },
}
