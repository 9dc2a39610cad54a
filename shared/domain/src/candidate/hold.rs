//! The hold of a candidate.

use chrono::{DateTime, Utc};

use super::Candidate;
use crate::Refusal;
use crate::privacy::hold::CandidateHold;

/// The candidate is on hold.
pub const ON_HOLD: Refusal = Refusal {
    code: "on_hold",
    detail: "The candidate is on hold and cannot be erased. Delete the hold first.",
};

impl Candidate {
    /// The hold that is in force at `now`.
    pub fn hold_at(&self, now: DateTime<Utc>) -> Option<&CandidateHold> {
        // Computed on read, so that no write is needed when a hold ends.
        self.hold.as_ref().filter(|hold| hold.until.is_none_or(|until| now < until))
    }

    /// Checks that the candidate may be erased. Fails with [`ON_HOLD`].
    pub fn may_be_erased(&self, now: DateTime<Utc>) -> Result<(), Refusal> {
        if self.hold_at(now).is_some() { Err(ON_HOLD) } else { Ok(()) }
    }
}
