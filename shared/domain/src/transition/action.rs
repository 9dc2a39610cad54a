//! Actions of managers on a candidate. Requests about one candidate and requests about many apply the same rules.

use chrono::{DateTime, Utc};

use super::{Actor, AdvanceTerms, CandidateChange};
use crate::candidate::{Cancellation, Candidate};
use crate::mail::rate::RefusedOrThrottled;
use crate::secret::AccessKey;

/// An action of a manager on a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CandidateAction {
    /// Advances the candidate as only managers can: never begins or completes an interview.
    Advance,
    /// Sets the end of the candidate's time for the interview.
    SetDeadline(DateTime<Utc>),
    /// Mails a reminder.
    Remind,
    /// Withdraws the candidate.
    Skip,
    /// Withdraws the candidate, even from an interview in progress.
    Cancel {
        cancellation: Cancellation,
        /// Whether the candidate gets a mail about the cancellation.
        notify: bool,
    },
}

impl CandidateAction {
    /// The change that the action makes at `now`; `None` if it changes nothing. `key` is a new key, and `terms` are those of the
    /// candidate's project. Fails like [`Candidate::advance`], [`Candidate::after_change`], [`Candidate::remind`],
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
