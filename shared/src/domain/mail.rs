//! The mails that the service sends, by occasion.

use serde::{Deserialize, Serialize};

use super::candidate::CandidateStatus;

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

    /// Whether a candidate of this status has moved on, so that what the mail would tell is no longer so.
    pub fn is_outdated(self, status: CandidateStatus) -> bool {
        use CandidateStatus::{Confirmed, Invited};
        match self {
            Self::Invitation => status != Invited,
            Self::Reminder | Self::DeadlineChanged => !matches!(status, Invited | Confirmed),
        }
    }
}
