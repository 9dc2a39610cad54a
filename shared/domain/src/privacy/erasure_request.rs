//! Requests for erasure, which are carried out unless the company answers first.

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::Refusal;

/// Refuses moves and mails of a candidate who has requested erasure.
pub const ERASURE_REQUESTED: Refusal = Refusal {
    code: "erasure_requested",
    detail: "The candidate has requested erasure and gets no more mails. Withdraw the request first.",
};

/// A candidate's request to be erased. While it stands, the candidate gets no mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasureRequest {
    /// When the request was made.
    pub requested_at: DateTime<Utc>,
    /// When the service erases the candidate, in whole seconds. A hold postpones this by a day at a time.
    pub due_at: DateTime<Utc>,
}

impl ErasureRequest {
    /// A request that is made at `now` and carried out after this number of days.
    pub fn new(days: u32, now: DateTime<Utc>) -> Self {
        // Whole seconds, as in the index by due date: the request is due as soon as the index lists it.
        let due_at = (now + TimeDelta::days(days.into())).trunc_subsecs(0);
        Self { requested_at: now, due_at }
    }

    /// Postpones the request of a candidate who is on hold at `now` to the same time of the next day.
    #[must_use]
    pub fn postponed(self, now: DateTime<Utc>) -> Self {
        let days = (now - self.due_at).num_days().max(0) + 1;
        Self { due_at: self.due_at + TimeDelta::days(days), ..self }
    }
}
