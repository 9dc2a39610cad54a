//! Resources with an event that an endpoint has not accepted.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::cursor::DeliveryCursor;
use super::health::{EndpointHealth, add_jitter};
use super::response::DeliveryVerdict;
use crate::id::WebhookId;

/// The pauses after the counted tries of an event that is itself at fault; the last one repeats. While the endpoint may be at
/// fault, `EndpointHealth::probe_pause` applies instead.
const PAUSES_OF_FAULTY_EVENT: [TimeDelta; 9] = [
    TimeDelta::seconds(5),
    TimeDelta::minutes(5),
    TimeDelta::minutes(30),
    TimeDelta::hours(2),
    TimeDelta::hours(5),
    TimeDelta::hours(10),
    TimeDelta::hours(14),
    TimeDelta::hours(20),
    TimeDelta::hours(24),
];
/// The number of counted tries after which an event is given up.
const MAX_TRIES: u32 = 10;

/// A resource with an event that an endpoint has not accepted, although the endpoint may be fine. Later events of the resource
/// wait for that one, so that they keep their order. Events of other resources do not wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StalledResource {
    /// The endpoint.
    pub webhook: WebhookId,
    /// The cursor's `position_epoch` when the resource stalled.
    pub position_epoch: u32,
    /// The identifier of the resource's history.
    pub history_id: String,
    /// The version whose event is sent next. Not called `version`, which items have already.
    pub next_version: u64,
    /// How often the endpoint rejected the next event, or did not accept it while it accepted others.
    pub tries: u32,
    /// When the first try of the next event began; `None` before.
    pub first_tried_at: Option<DateTime<Utc>>,
    /// When the next event is tried again.
    pub next_try_at: DateTime<Utc>,
    /// The cursor's `retry_epoch` when `next_try_at` was set. With a later one, the event is due at once.
    pub retry_epoch: u32,
}

impl StalledResource {
    /// A resource whose event of this version is tried at `next_try_at`.
    pub fn new(
        cursor: &DeliveryCursor,
        history_id: String,
        version: u64,
        next_try_at: DateTime<Utc>,
    ) -> Self {
        Self {
            webhook: cursor.webhook,
            position_epoch: cursor.position_epoch,
            history_id,
            next_version: version,
            tries: 0,
            first_tried_at: None,
            next_try_at,
            retry_epoch: cursor.retry_epoch,
        }
    }

    /// When the event is tried again.
    pub fn due_at(&self, cursor: &DeliveryCursor) -> DateTime<Utc> {
        // If a client has had the endpoint tried at once, all stalled resources are due, without a write to each.
        if self.retry_epoch == cursor.retry_epoch { self.next_try_at } else { DateTime::UNIX_EPOCH }
    }

    /// Continues with the event of this version, or with the first one after it.
    pub fn advance_to(&mut self, version: u64, now: DateTime<Utc>) {
        (self.next_version, self.tries, self.first_tried_at, self.next_try_at) = (version, 0, None, now);
    }

    /// Records that the endpoint has not accepted a try of the event that began at `started_at`. Returns whether the event is
    /// given up, so that the resource continues with its next one.
    pub fn note_failure(
        &mut self,
        verdict: DeliveryVerdict,
        started_at: DateTime<Utc>,
        health: &EndpointHealth,
        now: DateTime<Utc>,
        random: u8,
    ) -> bool {
        let first = *self.first_tried_at.get_or_insert(started_at);
        // An outage must not make events be given up, however the endpoint responds meanwhile.
        let is_events_fault = health.has_accepted_since(first);
        let pause = match verdict {
            DeliveryVerdict::Rejected(wait) => self.count_try().max(wait),
            DeliveryVerdict::Unclear(wait) if is_events_fault => self.count_try().max(wait),
            // The endpoint may be down, so this event serves to find out when it is back.
            DeliveryVerdict::Unclear(wait) => {
                self.next_try_at = now + health.probe_pause(wait, random);
                return false;
            }
            DeliveryVerdict::Accepted | DeliveryVerdict::Throttled(_) | DeliveryVerdict::Gone => {
                return false;
            }
        };
        self.next_try_at = now + add_jitter(pause, random);
        if self.tries < MAX_TRIES || !is_events_fault {
            return false;
        }
        self.advance_to(self.next_version + 1, now);
        true
    }

    /// Counts a try, and returns the pause after it.
    fn count_try(&mut self) -> TimeDelta {
        self.tries = self.tries.saturating_add(1);
        PAUSES_OF_FAULTY_EVENT[(self.tries as usize - 1).min(PAUSES_OF_FAULTY_EVENT.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhook::tests::{cursor, second};

    const NONE: TimeDelta = TimeDelta::zero();
    const REJECTED: DeliveryVerdict = DeliveryVerdict::Rejected(NONE);
    const UNCLEAR: DeliveryVerdict = DeliveryVerdict::Unclear(NONE);

    fn stalled() -> StalledResource {
        StalledResource::new(&cursor(), "h".to_owned(), 3, second(0))
    }

    /// An endpoint that has accepted an event at this second.
    fn accepted_at(at: i64) -> EndpointHealth {
        EndpointHealth { last_accepted_at: Some(second(at)), ..EndpointHealth::default() }
    }

    #[test]
    fn an_event_is_given_up_after_ten_tries_at_an_endpoint_that_accepts_others() {
        for verdict in [REJECTED, UNCLEAR] {
            let mut one = stalled();
            let health = accepted_at(1);
            for tries in 1..=9 {
                assert!(!one.note_failure(verdict, second(0), &health, second(10), 0));
                assert_eq!(one.tries, tries);
            }
            assert_eq!(one.next_try_at, second(10 + 86_400), "{verdict:?}");
            assert!(one.note_failure(verdict, second(0), &health, second(10), 0));
            let next = StalledResource { next_version: 4, next_try_at: second(10), ..stalled() };
            assert_eq!(one, next, "it goes on with the next event");
        }
    }

    #[test]
    fn no_outage_gives_an_event_up() {
        for (verdict, pause) in [(REJECTED, 86_400), (UNCLEAR, 5)] {
            for health in [EndpointHealth::default(), accepted_at(4), accepted_at(5)] {
                let mut one = stalled();
                for _ in 0..30 {
                    assert!(!one.note_failure(verdict, second(5), &health, second(10), 0));
                }
                assert_eq!((one.next_version, one.first_tried_at), (3, Some(second(5))));
                assert_eq!(one.next_try_at, second(10 + pause), "{verdict:?}");
            }
        }
    }

    #[test]
    fn a_pause_is_as_long_as_the_endpoint_asks_and_up_to_a_tenth_longer() {
        let hour = TimeDelta::hours(1);
        let mut one = stalled();
        one.note_failure(DeliveryVerdict::Rejected(hour), second(0), &accepted_at(1), second(10), 255);
        assert_eq!(one.next_try_at, second(10 + 3_960));
        let mut throttled = stalled();
        assert!(!throttled.note_failure(
            DeliveryVerdict::Throttled(hour),
            second(0),
            &accepted_at(1),
            second(9),
            0
        ));
        assert_eq!(
            (throttled.tries, throttled.next_try_at),
            (0, second(0)),
            "the endpoint waits, not the event"
        );
    }

    #[test]
    fn a_retry_makes_a_stalled_resource_due_at_once() {
        let mut one = stalled();
        one.note_failure(REJECTED, second(0), &accepted_at(1), second(10), 0);
        assert_eq!(one.due_at(&cursor()), second(15));
        assert_eq!(one.due_at(&cursor().resume(second(11))), DateTime::UNIX_EPOCH);
    }
}
