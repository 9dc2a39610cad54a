//! Work that one worker at a time carries out, now or later.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// When work is due, and until when a worker has leased it. Part of an item in the index by due date.
///
/// A worker first leases the work, in a write conditional on the version that it has read, so that only one worker wins. Its last
/// write ends the lease. The index lists leased work at the end of the lease: if the worker died, the work is due again then.
// Attempts are not counted here. Some kinds of work count none; the others count different things: an effect its own failures, an
// archive the attempts that no erasure has ended.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkState {
    /// When the work is due next; `None` if there is nothing to do. During a lease, only work that arrived since the lease began.
    pub due_at: Option<DateTime<Utc>>,
    /// The end of a worker's lease; `None` if no worker holds one.
    pub leased_until: Option<DateTime<Utc>>,
}

impl WorkState {
    /// There is nothing to do.
    pub const IDLE: Self = Self { due_at: None, leased_until: None };

    /// Work that is due at `due_at`.
    pub fn due(due_at: DateTime<Utc>) -> Self {
        Self { due_at: Some(due_at), ..Self::IDLE }
    }

    /// Work that a worker has leased until `until`.
    pub fn leased(until: DateTime<Utc>) -> Self {
        Self { leased_until: Some(until), ..Self::IDLE }
    }

    /// Makes the work due at `at`. A lease stays.
    pub fn wake(self, at: DateTime<Utc>) -> Self {
        Self { due_at: Some(at), ..self }
    }

    /// When the index by due date lists the work; `None` if it does not.
    pub fn indexed_at(self) -> Option<DateTime<Utc>> {
        // Work that arrives during a lease waits until the lease ends: no other worker may start before.
        self.leased_until.or(self.due_at)
    }

    /// Whether a worker may lease the work at `now`.
    pub fn is_due(self, now: DateTime<Utc>) -> bool {
        self.indexed_at().is_some_and(|at| at <= now)
    }

    /// Whether a worker holds a lease at `now`.
    pub fn is_leased(self, now: DateTime<Utc>) -> bool {
        self.leased_until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(number: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(number, 0).unwrap()
    }

    #[test]
    fn work_is_taken_up_once_it_is_due() {
        let work = WorkState::due(second(5));
        assert!(!work.is_due(second(4)) && work.is_due(second(5)) && !work.is_leased(second(5)));
        assert_eq!(work.indexed_at(), Some(second(5)));
        assert!(!WorkState::IDLE.is_due(second(5)));
        assert_eq!((WorkState::IDLE.indexed_at(), WorkState::default()), (None, WorkState::IDLE));
    }

    #[test]
    fn a_lease_keeps_others_away_until_it_ends_whatever_comes_in_the_meantime() {
        let leased = WorkState::leased(second(9));
        let woken = WorkState { due_at: Some(second(5)), ..leased };
        for work in [leased, woken] {
            assert!(work.is_leased(second(8)) && !work.is_due(second(8)));
            assert!(!work.is_leased(second(9)) && work.is_due(second(9)), "its worker has died");
            assert_eq!(work.indexed_at(), Some(second(9)));
        }
    }
}
