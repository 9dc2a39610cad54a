//! Actions of managers on a candidate: each has one rule, for a request of its own and for requests about many candidates.

use chrono::{DateTime, Utc};

use super::{Actor, AdvanceTerms, CandidateChange};
use crate::candidate::{Cancellation, Candidate};
use crate::mail::rate::RefusedOrThrottled;
use crate::secret::AccessKey;

/// An action of a manager on a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CandidateAction {
    /// Moves the candidate on, as only managers can: this begins and completes no interview.
    Advance,
    /// Sets the end of the candidate's time for the interview.
    SetDeadline(DateTime<Utc>),
    /// Mails a reminder.
    Remind,
    /// Withdraws the candidate.
    Skip,
    /// Withdraws the candidate, also from an interview that has begun.
    Cancel {
        cancellation: Cancellation,
        /// Whether the candidate is told by a mail.
        notify: bool,
    },
}

impl CandidateAction {
    /// The change that the action makes at `now`; `None` if it changes nothing. `key` is a fresh one, and `terms` are those of
    /// the candidate's project. Fails like [`Candidate::advance`], [`Candidate::after_change`], [`Candidate::remind`],
    /// [`Candidate::skip`] and [`Candidate::cancel`].
    pub fn change(
        self,
        candidate: &Candidate,
        terms: &AdvanceTerms,
        now: DateTime<Utc>,
        key: AccessKey,
    ) -> Result<Option<CandidateChange>, RefusedOrThrottled> {
        let mut after = candidate.clone();
        let change = match self {
            Self::Advance => after.advance(Actor::Manager, terms, now, key)?,
            Self::SetDeadline(deadline) if candidate.profile.deadline == Some(deadline) => return Ok(None),
            Self::SetDeadline(deadline) => {
                after.profile.deadline = Some(deadline);
                after.after_change(candidate, &terms.reminder_days, now, None)?
            }
            Self::Remind => after.remind(now)?,
            Self::Skip => after.skip(now)?,
            Self::Cancel { cancellation, notify } => return Ok(after.cancel(cancellation, notify)?),
        };
        Ok(Some(change))
    }
}
