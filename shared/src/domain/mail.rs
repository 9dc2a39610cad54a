//! The mails that the service sends, by occasion.

use serde::{Deserialize, Serialize};

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
}
