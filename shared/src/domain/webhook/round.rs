//! What comes of the events that are sent to an endpoint together.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use super::answer::Verdict;
use super::position::Position;

/// Several events that are sent together, each to find out something about the endpoint.
///
/// An endpoint that refuses single events is up. It is down if it says so, if it does not answer, and if it refuses the
/// events of two resources and takes none.
#[derive(Debug, Default)]
pub struct Round {
    /// Whether it is down already: then one refusal is enough.
    was_down: bool,
    has_taken: bool,
    is_unavailable: bool,
    is_gone: bool,
    refused: BTreeSet<String>,
    wait: TimeDelta,
}

impl Round {
    /// Nothing is sent yet.
    pub fn new(position: &Position) -> Self {
        Self { was_down: position.is_down(), ..Self::default() }
    }

    /// Notes the verdict on an event of the resource with this history.
    pub fn note(&mut self, history: &str, verdict: Verdict) {
        match verdict {
            Verdict::Taken => self.has_taken = true,
            Verdict::Gone => self.is_gone = true,
            Verdict::Down(wait) => {
                self.is_unavailable = true;
                self.wait = self.wait.max(wait);
            }
            Verdict::Refused(wait) => {
                self.refused.insert(history.to_owned());
                self.wait = self.wait.max(wait);
            }
        }
    }

    /// Whether the endpoint takes nothing now.
    pub fn is_down(&self) -> bool {
        let refusals = if self.was_down { 1 } else { 2 };
        self.is_unavailable || (!self.has_taken && self.refused.len() >= refusals)
    }

    /// Whether the endpoint wants nothing any more.
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Whether nothing more is to be sent in this round.
    pub fn is_over(&self) -> bool {
        self.is_gone || self.is_down()
    }

    /// The position of the endpoint after the round.
    pub fn conclude(&self, position: Position, now: DateTime<Utc>, chance: u8) -> Position {
        let position = if self.has_taken { position.succeeded(now) } else { position };
        if self.is_down() { position.failed(now, self.wait, chance) } else { position }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Id;

    const NONE: TimeDelta = TimeDelta::zero();

    fn position() -> Position {
        Position::new(Id::from_bytes([9; 16]), "acme".parse().unwrap(), 5, DateTime::UNIX_EPOCH)
    }

    fn round(position: &Position, verdicts: &[(&str, Verdict)]) -> Round {
        let mut round = Round::new(position);
        verdicts.iter().for_each(|(history, verdict)| round.note(history, *verdict));
        round
    }

    #[test]
    fn an_endpoint_is_down_when_it_refuses_two_resources_and_takes_nothing() {
        let refused = Verdict::Refused(NONE);
        for (verdicts, is_down) in [
            (&[][..], false),
            (&[("a", refused)], false),
            (&[("a", refused), ("a", refused)], false),
            (&[("a", refused), ("b", refused)], true),
            (&[("a", refused), ("b", Verdict::Taken), ("c", refused)], false),
            (&[("a", Verdict::Taken), ("b", Verdict::Down(NONE))], true),
            (&[("a", Verdict::Down(NONE))], true),
        ] {
            let round = round(&position(), verdicts);
            assert_eq!((round.is_down(), round.is_over()), (is_down, is_down), "{verdicts:?}");
        }
        let gone = round(&position(), &[("a", Verdict::Gone)]);
        assert!(gone.is_gone() && gone.is_over() && !gone.is_down());
    }

    #[test]
    fn an_endpoint_that_was_down_stays_so_until_it_takes_something() {
        let (now, wait) = (DateTime::UNIX_EPOCH, TimeDelta::hours(1));
        let down = round(&position(), &[("a", Verdict::Down(NONE))]).conclude(position(), now, 0);
        assert_eq!((down.failures, down.failing_since), (1, Some(now)));
        let still = round(&down, &[("a", Verdict::Refused(wait))]).conclude(down.clone(), now, 0);
        assert_eq!((still.failures, still.next_try_at), (2, Some(now + wait)));
        let up = round(&down, &[("a", Verdict::Taken)]).conclude(down.clone(), now, 0);
        assert_eq!((up.failures, up.next_try_at), (0, None));
        let again = round(&down, &[("a", Verdict::Taken), ("b", Verdict::Down(NONE))]).conclude(down, now, 0);
        assert_eq!(again.failures, 1);
    }
}
