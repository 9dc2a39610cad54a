//! Work that one worker at a time takes up, now or later.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// The time at which work is due, and the time until which a worker has it to itself. Part of an item that is in the index by due
/// date.
///
/// A worker leases the work before it does anything, in a write under the version that it has read, so that one worker wins. It
/// ends the lease with its last write. The index shows a leased item at the end of its lease: work whose worker died is due then.
// Tries are not part of it. Some kinds count none, and the others each count something else: failures that are an effect's own,
// attempts at an archive that no erasure has ended.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkState {
    /// The time at which there is something to do next; `None` if there is nothing. While a worker has it, only what has come in
    /// the meantime.
    pub due_at: Option<DateTime<Utc>>,
    /// The end of a worker's lease; `None` if no worker has the work.
    pub leased_until: Option<DateTime<Utc>>,
}

impl WorkState {
    /// There is nothing to do.
    pub const IDLE: Self = Self { due_at: None, leased_until: None };

    /// There is something to do from `due_at` on.
    pub fn due(due_at: DateTime<Utc>) -> Self {
        Self { due_at: Some(due_at), ..Self::IDLE }
    }

    /// A worker has it to itself.
    pub fn leased(until: DateTime<Utc>) -> Self {
        Self { leased_until: Some(until), ..Self::IDLE }
    }

    /// There is something to do from `at` on. A lease goes on.
    pub fn wake(self, at: DateTime<Utc>) -> Self {
        Self { due_at: Some(at), ..self }
    }

    /// The time at which the index by due date has the work; `None` if it is not there.
    pub fn indexed_at(self) -> Option<DateTime<Utc>> {
        // Work that has come during a lease waits for its end: no other worker may do it before.
        self.leased_until.or(self.due_at)
    }

    /// Whether a worker may take it up at `now`.
    pub fn is_due(self, now: DateTime<Utc>) -> bool {
        self.indexed_at().is_some_and(|at| at <= now)
    }

    /// Whether a worker has it to itself at `now`.
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
