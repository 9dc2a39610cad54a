//! The mails to candidates, by occasion.

use chrono::{DateTime, Utc};

use crate::candidate::{Candidate, CandidateStatus};
use crate::names::named;

named! {
    /// A mail to a candidate.
    pub enum CandidateMail {
        /// You are invited; with the link to register.
        Invitation = "invitation",
        /// Your interview still waits for you.
        Reminder = "reminder",
        /// You have until another time than before.
        DeadlineChanged = "deadline-changed",
        /// Your interview has arrived.
        Completed = "completed",
        /// Your time was over, and your answers have arrived.
        EndedByTime = "ended-by-time",
        /// You can go on with your interview.
        Reopened = "reopened",
        /// Your interview was cancelled.
        Cancelled = "cancelled",
        /// The link that you have asked for.
        LatestLink = "latest-link",
        /// The company has answered what you have asked for.
        HelpAnswered = "help-answered",
    }
}

impl CandidateMail {
    /// Whether the candidate has moved on since the mail was caused, or a newer invitation tells the same.
    pub fn is_outdated(self, candidate: &Candidate, caused_at: DateTime<Utc>) -> bool {
        use CandidateStatus::{Interviewed, Interviewing, Invited, Skipped};
        let is_repeated = candidate.invited_at.is_some_and(|invited_at| invited_at > caused_at);
        let is_reopened = candidate.was_reopened_after(caused_at);
        match self {
            Self::Invitation => candidate.status != Invited || is_repeated,
            // An interview that goes on has another mail at its next completion.
            Self::Completed => candidate.status != Interviewed || is_reopened,
            Self::EndedByTime => {
                candidate.ended_by_time.is_none() || candidate.aborted_at.is_some_and(|at| at > caused_at)
            }
            Self::Reopened => candidate.status != Interviewing || is_reopened,
            Self::Cancelled => candidate.status != Skipped,
            // A further request waits for an answer of its own.
            Self::HelpAnswered => {
                candidate.help_request.as_ref().is_none_or(|request| request.answer.is_none())
            }
            Self::LatestLink => candidate.status != Interviewing && !candidate.status.is_waiting(),
            Self::Reminder | Self::DeadlineChanged => !candidate.status.is_waiting(),
        }
    }
}
