//! The health of an endpoint.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::response::DeliveryVerdict;

/// The maximum number of resources whose events are sent concurrently. Those of one resource are sent one after the other.
const MAX_AT_ONCE: u32 = 8;
/// The pauses before the probes of an endpoint that may be down, less up to a tenth, unless the endpoint asks for more; the last
/// pause repeats. They also apply between the tries of an event while the endpoint may be at fault. The schedule runs once a minute.
// A probe is only one request, and noticing that an endpoint is back must not take as long as the outage.
const PROBE_PAUSES: [TimeDelta; 4] =
    [TimeDelta::seconds(5), TimeDelta::minutes(1), TimeDelta::minutes(5), TimeDelta::minutes(15)];
/// The pause after the first throttled request in a row. Each further one doubles it.
const FIRST_THROTTLE: TimeDelta = TimeDelta::seconds(1);
const LONGEST_THROTTLE: TimeDelta = TimeDelta::minutes(1);
/// The number of throttled requests in a row after which the endpoint counts as failing. With their pauses, they take about a minute.
const MAX_THROTTLES: u32 = 6;
/// How long an endpoint has failed when the owners are warned.
const WARNED_AFTER: TimeDelta = TimeDelta::days(1);
/// How long an endpoint has failed when the webhook is disabled.
const DISABLED_AFTER: TimeDelta = TimeDelta::days(5);

/// The health of an endpoint, derived from its attempts.
///
/// An endpoint is *failing* if it has accepted nothing since a failure, and *down* if events of two resources have failed in that
/// time. A resource is *stalled* while one of its events waits for its next try.
///
/// A failed attempt says something about the endpoint only if the endpoint has accepted nothing since the event's first try.
/// Otherwise, the event is at fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointHealth {
    /// When an event was last accepted.
    pub last_accepted_at: Option<DateTime<Utc>>,
    /// The first failure since an event was last accepted; `None` while the endpoint works.
    pub failing_since: Option<DateTime<Utc>>,
    /// At most two of the resources whose events have failed since `failing_since` for an unclear reason. A single resource may
    /// itself be at fault; with two, the endpoint is down.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub suspects: BTreeSet<String>,
    /// The number of tries since `failing_since` that may have failed because the endpoint is down.
    pub failures: u32,
    /// The number of times in a row that the endpoint has asked for fewer requests.
    pub throttles: u32,
    /// The number of resources whose events are sent concurrently: one after a pause that the endpoint has requested, doubled
    /// with each accepted event.
    pub resources_at_once: u32,
    /// Until when no events are sent, because the endpoint is down or has requested a pause.
    #[serde(rename = "next_try_at")]
    pub paused_until: Option<DateTime<Utc>>,
    /// When the owners were warned.
    pub warned_at: Option<DateTime<Utc>>,
}

impl Default for EndpointHealth {
    fn default() -> Self {
        Self {
            last_accepted_at: None,
            failing_since: None,
            suspects: BTreeSet::new(),
            failures: 0,
            throttles: 0,
            resources_at_once: MAX_AT_ONCE,
            paused_until: None,
            warned_at: None,
        }
    }
}

/// The consequence of how long an endpoint has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealthJudgement {
    /// No consequence.
    Tolerable,
    /// Warn the owners.
    Warn,
    /// Disable the webhook, and tell the owners.
    Disable,
}

impl EndpointHealth {
    /// Records the `verdict` on an attempt, which ended at `now`, at an event of the resource with this history. The event's
    /// first attempt began at `first_tried_at`. Call it in the order in which attempts end.
    pub fn observe(
        &mut self,
        history_id: &str,
        verdict: DeliveryVerdict,
        first_tried_at: DateTime<Utc>,
        now: DateTime<Utc>,
        random: u8,
    ) {
        match verdict {
            DeliveryVerdict::Accepted => {
                // A pause that the endpoint has requested continues.
                let paused_until = self.paused_until.filter(|_| !self.is_down());
                let resources_at_once = (self.resources_at_once * 2).min(MAX_AT_ONCE);
                *self =
                    Self { last_accepted_at: Some(now), paused_until, resources_at_once, ..Self::default() };
            }
            // Throttling says nothing about the event: the try does not count, and the cursor stops before the event.
            DeliveryVerdict::Throttled(wait) => self.throttle(wait, now),
            DeliveryVerdict::Rejected(_) | DeliveryVerdict::Unclear(_)
                if self.has_accepted_since(first_tried_at) => {}
            DeliveryVerdict::Rejected(_) => {
                self.failing_since.get_or_insert(now);
                // The endpoint understands requests again, so continue the feed, which shows whether it accepts other events.
                if self.is_down() {
                    (self.failures, self.paused_until) = (0, None);
                    self.suspects.clear();
                }
            }
            DeliveryVerdict::Unclear(wait) => {
                self.failing_since.get_or_insert(now);
                self.suspect(history_id, wait, now, random);
            }
            // The sender disables the webhook, so its health does not matter.
            DeliveryVerdict::Gone => {}
        }
    }

    fn suspect(&mut self, history_id: &str, wait: TimeDelta, now: DateTime<Utc>, random: u8) {
        if !self.is_down() {
            self.suspects.insert(history_id.to_owned());
            self.failures = if self.is_down() { 1 } else { self.failures.saturating_add(1) };
        } else if self.is_paused(now) {
            // Concurrent requests count as one probe.
            return;
        } else {
            self.failures = self.failures.saturating_add(1);
        }
        if self.is_down() {
            self.paused_until = Some(now + self.probe_pause(wait, random));
        }
    }

    fn throttle(&mut self, wait: TimeDelta, now: DateTime<Utc>) {
        let mut pause = wait;
        if !self.is_paused(now) {
            self.throttles = self.throttles.saturating_add(1);
            let doubled = FIRST_THROTTLE * (1 << (self.throttles - 1).min(6));
            pause = pause.max(doubled.min(LONGEST_THROTTLE));
        }
        // Concurrent requests may each ask for a pause: the longest counts.
        self.paused_until = self.paused_until.max(Some(now + pause));
        self.resources_at_once = 1;
        if self.throttles >= MAX_THROTTLES {
            self.failing_since.get_or_insert(now);
        }
    }

    /// Whether the endpoint has accepted an event after `moment`.
    pub fn has_accepted_since(&self, moment: DateTime<Utc>) -> bool {
        self.last_accepted_at.is_some_and(|last| last > moment)
    }

    /// Whether events of two resources have failed without an accepted event in between.
    pub fn is_down(&self) -> bool {
        // A single event may itself be at fault; two in a row, of different resources, hardly are.
        self.suspects.len() >= 2
    }

    /// Whether no events are sent at `now`.
    pub fn is_paused(&self, now: DateTime<Utc>) -> bool {
        self.paused_until.is_some_and(|at| now < at)
    }

    /// Whether a pause that the endpoint has requested continues at `now`.
    pub fn is_throttling(&self, now: DateTime<Utc>) -> bool {
        !self.is_down() && self.is_paused(now)
    }

    /// The pause before the next probe. `wait` is the pause that the endpoint requests, `random` a random byte.
    pub fn probe_pause(&self, wait: TimeDelta, random: u8) -> TimeDelta {
        let number = (self.failures.max(1) as usize - 1).min(PROBE_PAUSES.len() - 1);
        let pause = PROBE_PAUSES[number];
        // Up to a tenth less, so that endpoints that failed together are not tried together, and none is tried later than promised.
        (pause - pause / 10 * i32::from(random) / 255).max(wait)
    }

    /// The consequence at `now` of the time in which the endpoint has accepted nothing.
    pub fn judge(&self, now: DateTime<Utc>) -> HealthJudgement {
        let failed_for = self.failing_since.map(|since| now - since);
        if failed_for >= Some(DISABLED_AFTER) {
            HealthJudgement::Disable
        } else if failed_for >= Some(WARNED_AFTER) && self.warned_at.is_none() {
            HealthJudgement::Warn
        } else {
            HealthJudgement::Tolerable
        }
    }
}

/// Adds up to a tenth to a pause.
pub(super) fn add_jitter(pause: TimeDelta, random: u8) -> TimeDelta {
    // Resources that failed together must not be tried together.
    pause + pause / 10 * i32::from(random) / 255
}

#[cfg(test)]
mod tests {
    use super::DeliveryVerdict::{Accepted, Rejected, Throttled, Unclear};
    use super::*;
    use crate::webhook::tests::second;

    const NONE: TimeDelta = TimeDelta::zero();

    /// The health after attempts at events of these resources, one per second. Each attempt is the first at its event.
    fn after(attempts: &[(&str, DeliveryVerdict)]) -> EndpointHealth {
        let mut health = EndpointHealth::default();
        for (number, (history_id, verdict)) in attempts.iter().enumerate() {
            let at = second(number as i64);
            health.observe(history_id, *verdict, at, at, 0);
        }
        health
    }

    #[test]
    fn two_resources_that_fail_with_nothing_accepted_in_between_take_the_endpoint_down() {
        let unclear = Unclear(NONE);
        let rejected = Rejected(NONE);
        let slower = Throttled(NONE);
        for (attempts, is_failing, is_down) in [
            (&[][..], false, false),
            (&[("a", Accepted)], false, false),
            (&[("a", unclear)], true, false),
            (&[("a", unclear), ("a", unclear), ("a", unclear)], true, false),
            (&[("a", unclear), ("b", unclear)], true, true),
            (&[("a", unclear), ("b", unclear), ("c", Accepted)], false, false),
            (&[("a", unclear), ("b", Accepted), ("c", unclear)], true, false),
            (&[("a", rejected)], true, false),
            (&[("a", rejected), ("b", rejected), ("c", rejected)], true, false),
            (&[("a", rejected), ("b", unclear)], true, false),
            (&[("a", unclear), ("b", rejected), ("c", unclear)], true, true),
            (&[("a", unclear), ("b", unclear), ("c", rejected)], true, false),
            (&[("a", slower), ("b", slower)], false, false),
            (&[("a", unclear), ("b", slower), ("c", unclear)], true, true),
        ] {
            let health = after(attempts);
            assert_eq!(
                (health.failing_since.is_some(), health.is_down()),
                (is_failing, is_down),
                "{attempts:?}"
            );
        }
    }

    #[test]
    fn an_event_that_fails_while_others_are_accepted_says_nothing_about_the_endpoint() {
        let mut health = EndpointHealth::default();
        health.observe("b", Accepted, second(1), second(2), 0);
        let working = health.clone();
        for history_id in ["a", "c"] {
            // The events' first tries began before the other event was accepted: they took longer, or had failed before.
            health.observe(history_id, Unclear(NONE), second(1), second(16), 0);
            health.observe(history_id, Rejected(NONE), second(1), second(16), 0);
        }
        assert_eq!(health, working);
    }

    #[test]
    fn probes_come_after_five_seconds_one_five_and_fifteen_minutes() {
        let mut health = after(&[("a", Unclear(NONE))]);
        assert_eq!((health.failures, health.paused_until), (1, None), "others are tried at once");
        let mut at = second(1);
        for pause in [5, 60, 300, 900, 900] {
            health.observe("b", Unclear(NONE), at, at, 0);
            // A concurrent request changes nothing.
            health.observe("c", Unclear(NONE), at, at, 0);
            assert_eq!(health.paused_until, Some(at + TimeDelta::seconds(pause)));
            at += TimeDelta::seconds(pause);
        }
        assert_eq!(health.suspects, BTreeSet::from(["a".to_owned(), "b".to_owned()]));
        assert_eq!(health.probe_pause(NONE, 255), TimeDelta::seconds(810));
        assert_eq!(health.probe_pause(TimeDelta::hours(1), 255), TimeDelta::hours(1));
        health.observe("b", Accepted, at, at, 0);
        assert_eq!(health, EndpointHealth { last_accepted_at: Some(at), ..EndpointHealth::default() });
    }

    #[test]
    fn an_endpoint_that_asks_for_fewer_requests_gets_a_pause_and_then_more_and_more_at_once() {
        let mut health = after(&[("a", Throttled(NONE))]);
        assert_eq!((health.paused_until, health.resources_at_once), (Some(second(1)), 1));
        // The endpoint asks for a longer pause in its response to a concurrent request.
        health.observe("b", Throttled(TimeDelta::seconds(3)), second(0), second(0), 0);
        assert_eq!((health.throttles, health.paused_until), (1, Some(second(3))));
        // An event that is accepted in the meantime does not end the pause.
        health.observe("c", Accepted, second(0), second(1), 0);
        assert_eq!(
            (health.throttles, health.paused_until, health.resources_at_once),
            (0, Some(second(3)), 2)
        );
        for expected in [4, 8, 8] {
            health.observe("c", Accepted, second(3), second(4), 0);
            assert_eq!(health.resources_at_once, expected);
        }
        let mut at = second(10);
        let mut pauses = Vec::new();
        for _ in 0..8 {
            health.observe("d", Throttled(NONE), at, at, 0);
            pauses.push((health.paused_until.unwrap() - at).num_seconds());
            assert_eq!(
                health.failing_since.is_some(),
                pauses.len() >= 6,
                "a minute of nothing else is a failure"
            );
            at = health.paused_until.unwrap();
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
    }

    #[test]
    fn a_day_of_failures_is_told_once_and_five_days_disable() {
        let day = |days| second(0) + TimeDelta::days(days);
        let mut health = after(&[("a", Unclear(NONE))]);
        assert_eq!(health.judge(day(1) - TimeDelta::seconds(1)), HealthJudgement::Tolerable);
        assert_eq!(health.judge(day(1)), HealthJudgement::Warn);
        health.warned_at = Some(day(1));
        assert_eq!(health.judge(day(4)), HealthJudgement::Tolerable);
        assert_eq!(health.judge(day(5)), HealthJudgement::Disable);
        assert_eq!(EndpointHealth::default().judge(day(5)), HealthJudgement::Tolerable);
    }
}
