//! The mails that the service sends, by occasion.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, CandidateStatus};

/// A mail to a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CandidateMail {
    /// You are invited; with the link to register.
    Invitation,
    /// Your interview still waits for you.
    Reminder,
    /// You have until another time than before.
    DeadlineChanged,
}

impl CandidateMail {
    /// The name in keys and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invitation => "invitation",
            Self::Reminder => "reminder",
            Self::DeadlineChanged => "deadline-changed",
        }
    }

    /// Whether the candidate has moved on since the mail was caused, or a newer invitation tells the same.
    pub fn is_outdated(self, candidate: &Candidate, caused_at: DateTime<Utc>) -> bool {
        use CandidateStatus::{Confirmed, Invited};
        let is_repeated = || candidate.invited_at.is_some_and(|invited_at| invited_at > caused_at);
        match self {
            Self::Invitation => candidate.status != Invited || is_repeated(),
            Self::Reminder | Self::DeadlineChanged => !matches!(candidate.status, Invited | Confirmed),
        }
    }
}
