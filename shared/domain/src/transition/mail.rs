//! The mails to candidates, each for one occasion.

use chrono::{DateTime, Utc};

use crate::candidate::{Candidate, CandidateStatus};
use crate::names::named;

named! {
    /// A mail to a candidate.
    pub enum CandidateMail {
        /// The invitation, with the link to register.
        Invitation = "invitation",
        /// A reminder that the interview awaits the candidate.
        Reminder = "reminder",
        /// The new deadline.
        DeadlineChanged = "deadline-changed",
        /// The confirmation that the interview is complete.
        Completed = "completed",
        /// The notice that time has ended the interview, and that the answers have arrived.
        EndedByTime = "ended-by-time",
        /// The notice that the candidate can continue the interview.
        Reopened = "reopened",
        /// The notice that the interview was cancelled.
        Cancelled = "cancelled",
        /// The link that the candidate has requested.
        LatestLink = "latest-link",
        /// The company's answer to the candidate's request for help.
        HelpAnswered = "help-answered",
    }
}

impl CandidateMail {
    /// Whether the mail no longer applies: the candidate has moved on since `caused_at`, or a newer invitation says the same.
    pub fn is_outdated(self, candidate: &Candidate, caused_at: DateTime<Utc>) -> bool {
        use CandidateStatus::{Interviewed, Interviewing, Invited, Skipped};
        let is_repeated = candidate.invited_at.is_some_and(|invited_at| invited_at > caused_at);
        let is_reopened = candidate.was_reopened_after(caused_at);
        match self {
            Self::Invitation => candidate.status != Invited || is_repeated,
            // A reopened interview causes another mail when it is completed again.
            Self::Completed => candidate.status != Interviewed || is_reopened,
            Self::EndedByTime => {
                candidate.ended_by_time.is_none() || candidate.aborted_at.is_some_and(|at| at > caused_at)
            }
            Self::Reopened => candidate.status != Interviewing || is_reopened,
            Self::Cancelled => candidate.status != Skipped,
            // Outdated once the candidate has asked again: the new request has no answer yet.
            Self::HelpAnswered => {
                candidate.help_request.as_ref().is_none_or(|request| request.answer.is_none())
            }
            Self::LatestLink => candidate.status != Interviewing && !candidate.status.is_waiting(),
            Self::Reminder | Self::DeadlineChanged => !candidate.status.is_waiting(),
        }
    }
}
