//! What events that are sent together tell of their endpoint.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use super::answer::Verdict;
use super::position::Position;

/// Several events that are sent together, each to find out something about the endpoint.
///
/// An endpoint that accepts any of them is up. So is one that rejects those of a single resource, because they may be at
/// fault. It is down if it accepts none, and does not answer, says so itself, or rejects the events of two resources.
#[derive(Debug, Default)]
pub struct Round {
    /// The events have failed before, so they tell nothing if they fail again.
    is_repeated: bool,
    /// It is down after rejecting events of as many resources; none if only one's are sent.
    enough: Option<usize>,
    has_taken: bool,
    is_unavailable: bool,
    is_gone: bool,
    refused: BTreeSet<String>,
    wait: TimeDelta,
}

impl Round {
    /// Sends events of as many resources for the first time. One that is down gets a single event, which must do.
    pub fn of_feed(position: &Position, resources: usize) -> Self {
        let enough = match resources {
            0 | 1 => None,
            _ if position.is_down() => Some(1),
            _ => Some(2),
        };
        Self { enough, ..Self::default() }
    }

    /// Sends events that have failed before.
    pub fn of_lanes() -> Self {
        Self { is_repeated: true, ..Self::default() }
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

    /// Whether the endpoint accepts nothing now.
    pub fn is_down(&self) -> bool {
        let is_enough = self.enough.is_some_and(|enough| self.refused.len() >= enough);
        !self.has_taken && !self.is_repeated && (self.is_unavailable || is_enough)
    }

    /// Whether the endpoint accepts nothing any more.
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Whether nothing more is to be sent in this round.
    pub fn is_over(&self) -> bool {
        self.is_gone || self.is_unavailable || self.is_down()
    }

    /// The position of the endpoint after the round.
    pub fn conclude(&self, position: Position, now: DateTime<Utc>, chance: u8) -> Position {
        let asked = Some(now + self.wait).filter(|_| self.is_unavailable && self.wait > TimeDelta::zero());
        if self.is_down() {
            position.failed(now, self.wait, chance)
        } else if self.has_taken {
            Position { next_try_at: asked, last_delivery_at: Some(now), ..position.calmed() }
        } else if !self.refused.is_empty() {
            position.calmed()
        } else {
            position
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Id;

    const NONE: TimeDelta = TimeDelta::zero();
    const REFUSED: Verdict = Verdict::Refused(NONE);
    const DOWN: Verdict = Verdict::Down(NONE);

    fn position() -> Position {
        Position::new(Id::from_bytes([9; 16]), "acme".parse().unwrap(), 5, DateTime::UNIX_EPOCH)
    }

    fn noted(mut round: Round, verdicts: &[(&str, Verdict)]) -> Round {
        verdicts.iter().for_each(|(history, verdict)| round.note(history, *verdict));
        round
    }

    #[test]
    fn an_endpoint_is_down_when_it_accepts_nothing_and_it_is_not_the_event() {
        let taken = Verdict::Taken;
        for (verdicts, is_down, is_over) in [
            (&[][..], false, false),
            (&[("a", REFUSED)], false, false),
            (&[("a", REFUSED), ("a", REFUSED)], false, false),
            (&[("a", REFUSED), ("b", REFUSED)], true, true),
            (&[("a", REFUSED), ("b", taken), ("c", REFUSED)], false, false),
            (&[("a", DOWN)], true, true),
            (&[("a", taken), ("b", DOWN)], false, true),
            (&[("a", DOWN), ("b", REFUSED), ("c", taken)], false, true),
        ] {
            let round = noted(Round::of_feed(&position(), 3), verdicts);
            assert_eq!((round.is_down(), round.is_over()), (is_down, is_over), "{verdicts:?}");
        }
        let gone = noted(Round::of_feed(&position(), 3), &[("a", Verdict::Gone)]);
        assert!(gone.is_gone() && gone.is_over() && !gone.is_down());
    }

    #[test]
    fn an_endpoint_that_was_down_stays_so_until_it_accepts_something() {
        let (now, wait) = (DateTime::UNIX_EPOCH, TimeDelta::hours(1));
        let after = |position: &Position, verdicts: &[(&str, Verdict)]| {
            noted(Round::of_feed(position, 2), verdicts).conclude(position.clone(), now, 0)
        };
        let down = after(&position(), &[("a", DOWN)]);
        assert_eq!((down.failures, down.failing_since), (1, Some(now)));
        let still = after(&down, &[("a", Verdict::Refused(wait))]);
        assert_eq!((still.failures, still.next_try_at), (2, Some(now + wait)));
        let up = after(&down, &[("a", Verdict::Taken)]);
        assert_eq!((up.failures, up.next_try_at, up.last_delivery_at), (0, None, Some(now)));
    }

    #[test]
    fn a_single_resource_that_is_rejected_does_not_keep_an_endpoint_down() {
        let now = DateTime::UNIX_EPOCH;
        let down = position().failed(now, NONE, 0);
        let round = noted(Round::of_feed(&down, 1), &[("a", REFUSED)]);
        assert!(!round.is_down());
        let up = round.conclude(down.clone(), now, 0);
        assert_eq!((up.failures, up.failing_since, up.last_delivery_at), (0, None, None));
        // Nor do those that were rejected before.
        let round = noted(Round::of_lanes(), &[("a", REFUSED), ("b", REFUSED)]);
        assert_eq!(round.conclude(down.clone(), now, 0).failures, 0);
        let round = noted(Round::of_lanes(), &[("a", DOWN)]);
        assert!(round.is_over() && !round.is_down());
        assert_eq!(round.conclude(position(), now, 0), position());
        // Nothing was sent, nothing is known.
        assert_eq!(Round::of_feed(&down, 0).conclude(down.clone(), now, 0), down);
    }

    #[test]
    fn an_endpoint_that_accepts_events_and_asks_for_a_pause_gets_one() {
        let (now, wait) = (DateTime::UNIX_EPOCH, TimeDelta::minutes(2));
        let round =
            noted(Round::of_feed(&position(), 3), &[("a", Verdict::Taken), ("b", Verdict::Down(wait))]);
        let paused = round.conclude(position(), now, 0);
        assert_eq!((paused.failures, paused.next_try_at), (0, Some(now + wait)));
        let round =
            noted(Round::of_feed(&position(), 3), &[("a", Verdict::Taken), ("b", Verdict::Refused(wait))]);
        assert_eq!(round.conclude(position(), now, 0).next_try_at, None, "the event waits, not the endpoint");
    }
}
