//! How an endpoint is doing.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::response::DeliveryVerdict;

/// The most resources whose events are sent at once; those of one resource are sent one after the other.
const MAX_AT_ONCE: u32 = 8;
/// The pause before each probe of an endpoint that may be down, less up to a tenth, unless the endpoint asks for more; the last one
/// repeats. Also the pause before each further try of an event while the endpoint may be at fault. The schedule looks once a minute.
// A probe is one request, and to find out that an endpoint is back must not take as long as it was away.
const PROBE_PAUSES: [TimeDelta; 4] =
    [TimeDelta::seconds(5), TimeDelta::minutes(1), TimeDelta::minutes(5), TimeDelta::minutes(15)];
/// The pause after the first request in a row that an endpoint has throttled; it doubles with each.
const FIRST_THROTTLE: TimeDelta = TimeDelta::seconds(1);
const LONGEST_THROTTLE: TimeDelta = TimeDelta::minutes(1);
/// The throttled requests in a row after which the endpoint counts as failing. They take a minute.
const MAX_THROTTLES: u32 = 6;
/// The owners are warned when the endpoint has failed for this long.
const WARNED_AFTER: TimeDelta = TimeDelta::days(1);
/// The webhook is disabled when the endpoint has failed for this long.
const DISABLED_AFTER: TimeDelta = TimeDelta::days(5);

/// The health of an endpoint, as its attempts have shown it.
///
/// It is *failing* if nothing was accepted since a failure, and *down* if events of two resources failed so. A resource is
/// *stalled* while one of its events waits for its next try.
///
/// An attempt that fails says something about the endpoint only if the endpoint has accepted nothing since the event was
/// tried first. Otherwise the event is at fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointHealth {
    /// When an event was last accepted.
    pub last_accepted_at: Option<DateTime<Utc>>,
    /// The first failure since then; `None` while the endpoint works.
    pub failing_since: Option<DateTime<Utc>>,
    /// Two at most of the resources whose events have failed since then for an unclear reason. With one, the resource may be
    /// at fault; with two, the endpoint is down.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub suspects: BTreeSet<String>,
    /// The number of tries since then that may have failed because the endpoint is down.
    pub failures: u32,
    /// How often in a row the endpoint has asked for fewer requests.
    pub throttles: u32,
    /// The number of resources whose events are sent at once: one after a pause that the endpoint has asked for, then twice as
    /// many with each accepted event.
    pub resources_at_once: u32,
    /// The time before which no events are sent: the endpoint is down, or has asked for a pause.
    #[serde(rename = "next_try_at")]
    pub paused_until: Option<DateTime<Utc>>,
    /// When the owners were told that it fails.
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
    /// Nothing.
    Tolerable,
    /// The owners are told.
    Warn,
    /// The webhook is disabled, and the owners are told.
    Disable,
}

impl EndpointHealth {
    /// Notes the `verdict` on an attempt at an event of the resource with this history that has ended at `now`. The first
    /// attempt at this event began at `first_tried_at`. Call it in the order that attempts end.
    pub fn observe(
        &mut self,
        history: &str,
        verdict: DeliveryVerdict,
        first_tried_at: DateTime<Utc>,
        now: DateTime<Utc>,
        random: u8,
    ) {
        match verdict {
            DeliveryVerdict::Accepted => {
                // A pause that the endpoint has asked for goes on.
                let paused_until = self.paused_until.filter(|_| !self.is_down());
                let resources_at_once = (self.resources_at_once * 2).min(MAX_AT_ONCE);
                *self =
                    Self { last_accepted_at: Some(now), paused_until, resources_at_once, ..Self::default() };
            }
            // Says nothing about the event: no try counts, and the cursor stops before it.
            DeliveryVerdict::Throttled(wait) => self.throttle(wait, now),
            DeliveryVerdict::Rejected(_) | DeliveryVerdict::Unclear(_)
                if self.has_accepted_since(first_tried_at) => {}
            DeliveryVerdict::Rejected(_) => {
                self.failing_since.get_or_insert(now);
                // The endpoint understands requests again, so the feed goes on and shows whether it accepts other events.
                if self.is_down() {
                    (self.failures, self.paused_until) = (0, None);
                    self.suspects.clear();
                }
            }
            DeliveryVerdict::Unclear(wait) => {
                self.failing_since.get_or_insert(now);
                self.suspect(history, wait, now, random);
            }
            // Disables the webhook, which its health need not know.
            DeliveryVerdict::Gone => {}
        }
    }

    fn suspect(&mut self, history: &str, wait: TimeDelta, now: DateTime<Utc>, random: u8) {
        if !self.is_down() {
            self.suspects.insert(history.to_owned());
            self.failures = if self.is_down() { 1 } else { self.failures.saturating_add(1) };
        } else if self.is_paused(now) {
            // Requests that were under way at once count as one probe.
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
        // Requests that were under way at once may each ask for a pause.
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

    /// Whether events of two resources have failed, with no accepted one in between.
    pub fn is_down(&self) -> bool {
        // One event may be at fault itself; two in a row of different resources hardly are.
        self.suspects.len() >= 2
    }

    /// Whether no events are sent at `now`.
    pub fn is_paused(&self, now: DateTime<Utc>) -> bool {
        self.paused_until.is_some_and(|at| now < at)
    }

    /// Whether the endpoint has asked for a pause that goes on at `now`.
    pub fn is_throttling(&self, now: DateTime<Utc>) -> bool {
        !self.is_down() && self.is_paused(now)
    }

    /// The pause before the next probe. `wait` is what the endpoint asks for, `random` a random byte.
    pub fn probe_pause(&self, wait: TimeDelta, random: u8) -> TimeDelta {
        let number = (self.failures.max(1) as usize - 1).min(PROBE_PAUSES.len() - 1);
        let pause = PROBE_PAUSES[number];
        // Up to a tenth less, so that endpoints that failed together are not tried together, and none later than
        // promised.
        (pause - pause / 10 * i32::from(random) / 255).max(wait)
    }

    /// The consequence at `now` of how long the endpoint has accepted nothing.
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

/// Adds up to a tenth.
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

    /// The health after attempts at events of these resources, one a second, each its event's first.
    fn after(attempts: &[(&str, DeliveryVerdict)]) -> EndpointHealth {
        let mut health = EndpointHealth::default();
        for (number, (history, verdict)) in attempts.iter().enumerate() {
            let at = second(number as i64);
            health.observe(history, *verdict, at, at, 0);
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
        for history in ["a", "c"] {
            // The events hung since before the other was accepted, or have failed before.
            health.observe(history, Unclear(NONE), second(1), second(16), 0);
            health.observe(history, Rejected(NONE), second(1), second(16), 0);
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
            // Another request that was under way changes nothing.
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
        // One that was under way asks for longer.
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
