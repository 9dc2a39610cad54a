//! When events are sent, and sent again.

use chrono::{DateTime, TimeDelta, Utc};

use super::lane::Lane;
use super::position::Position;
use super::{DisabledReason, Webhook};
use crate::domain::mail::WebhookMail;

/// The time after each failure until the next try; the last one repeats.
const PAUSES: [TimeDelta; 9] = [
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
/// After as many tries an event that an endpoint refuses is given up.
const MAX_TRIES: u32 = 10;
/// The most lanes of an endpoint. One that refuses events of more resources counts as down.
pub const MAX_LANES: usize = 500;
/// How long a step of a run has an endpoint to itself: longer than the function may run.
const LEASE: TimeDelta = TimeDelta::seconds(75);
/// After as long without a success, the owners are told.
const WARNED_AFTER: TimeDelta = TimeDelta::days(1);
/// After as long without a success, the webhook is disabled.
const DISABLED_AFTER: TimeDelta = TimeDelta::days(5);

/// What a run can do at an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Send what clients have ordered.
    Orders,
    /// Send the events of lanes.
    Lanes,
    /// Send the next events of the feed.
    Feed,
}

/// How long to wait after the `failures`th failure in a row. `wait` is what the endpoint asks for. `chance` adds up to a
/// tenth, so that endpoints that failed together are not tried together.
fn pause(failures: u32, wait: TimeDelta, chance: u8) -> TimeDelta {
    let number = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX);
    let pause = PAUSES[number.min(PAUSES.len() - 1)].max(wait);
    pause + pause / 10 * i32::from(chance) / 255
}

impl Position {
    /// Whether a step has the endpoint to itself.
    pub fn is_leased(&self, now: DateTime<Utc>) -> bool {
        self.leased_until.is_some_and(|until| now < until)
    }

    /// The position of an endpoint that a step has to itself.
    pub fn leased(self, now: DateTime<Utc>) -> Self {
        Self { leased_until: Some(now + LEASE), ..self }
    }

    /// The position after a step, or without one. The schedule starts the next run when there is something to do.
    pub fn released(self, is_enabled: bool, latest: u64, lanes: &[Lane], now: DateTime<Utc>) -> Self {
        let run_at = self.next_step(is_enabled, latest, lanes).map(|(at, _)| at.max(now));
        Self { leased_until: None, run_at, ..self }
    }

    /// What is to be done next, and when. `latest` is the number of the feed's last event.
    ///
    /// An endpoint that is down is tried with the feed, since its lanes are events that it has refused while it was up.
    pub fn next_step(&self, is_enabled: bool, latest: u64, lanes: &[Lane]) -> Option<(DateTime<Utc>, Step)> {
        if !self.orders.is_empty() {
            return Some((DateTime::UNIX_EPOCH, Step::Orders));
        }
        if !is_enabled {
            return None;
        }
        let from = self.next_try_at.unwrap_or(DateTime::UNIX_EPOCH);
        let feed = (self.after < latest).then_some((from, Step::Feed));
        let lane = lanes.iter().map(|lane| lane.next_try_at.max(from)).min().map(|at| (at, Step::Lanes));
        match (lane, feed) {
            (Some(lane), Some(feed)) if self.is_down() || feed.0 < lane.0 => Some(feed),
            (lane, feed) => lane.or(feed),
        }
    }

    /// Whether the endpoint takes nothing, so that single events find out whether it does again.
    pub fn is_down(&self) -> bool {
        self.failures > 0
    }

    /// The position after the endpoint has taken something.
    pub fn succeeded(self, now: DateTime<Utc>) -> Self {
        Self {
            failures: 0,
            failing_since: None,
            next_try_at: None,
            warned_at: None,
            last_delivery_at: Some(now),
            ..self
        }
    }

    /// The position after the endpoint has taken nothing, and asks for nothing for as long as `wait`.
    pub fn failed(self, now: DateTime<Utc>, wait: TimeDelta, chance: u8) -> Self {
        let failures = self.failures.saturating_add(1);
        Self {
            failures,
            failing_since: self.failing_since.or(Some(now)),
            next_try_at: Some(now + pause(failures, wait, chance)),
            ..self
        }
    }

    /// What a step has made of `before`, after the API has made `meanwhile` of it: both want to be kept. But once a client
    /// has set the position, it does not matter how far the step has come.
    pub fn on_top_of(self, before: &Self, meanwhile: Self) -> Self {
        let mut orders = meanwhile.orders;
        orders.retain(|order| self.orders.contains(order) || !before.orders.contains(order));
        if meanwhile.epoch == before.epoch {
            Self { orders, pinged_at: meanwhile.pinged_at, ..self }
        } else {
            Self { orders, ..meanwhile }
        }
    }
}

impl Webhook {
    /// The webhook after a step that has left its position so, and the mail about that to its owners. `is_gone` says that
    /// the endpoint wants nothing any more.
    pub fn judged(
        self,
        position: &Position,
        is_gone: bool,
        now: DateTime<Utc>,
    ) -> (Self, Option<WebhookMail>) {
        let has_failed_for = |time| position.failing_since.is_some_and(|since| since + time <= now);
        if !self.is_enabled() {
            (self, None)
        } else if is_gone {
            (self.disabled(DisabledReason::Gone), Some(WebhookMail::Disabled))
        } else if has_failed_for(DISABLED_AFTER) {
            (self.disabled(DisabledReason::Failing), Some(WebhookMail::Disabled))
        } else {
            let is_news = position.warned_at.is_none() && has_failed_for(WARNED_AFTER);
            (self, is_news.then_some(WebhookMail::Failing))
        }
    }
}

impl Lane {
    /// A lane for a resource whose event of this version was refused for the first time.
    pub fn new(position: &Position, history: String, version: u64, now: DateTime<Utc>) -> Self {
        let (webhook, epoch) = (position.webhook, position.epoch);
        Self { webhook, epoch, history, next_version: version, attempts: 0, next_try_at: now }
    }

    /// The lane after its event was refused. The endpoint asks for nothing for as long as `wait`.
    pub fn refused(self, now: DateTime<Utc>, wait: TimeDelta, chance: u8) -> Self {
        let attempts = self.attempts.saturating_add(1);
        Self { attempts, next_try_at: now + pause(attempts, wait, chance), ..self }
    }

    /// Whether the next refusal of the event is the last.
    pub fn is_last_try(&self) -> bool {
        self.attempts + 1 >= MAX_TRIES
    }

    /// The lane with the event of this version, or a later one, next.
    pub fn at(self, version: u64, now: DateTime<Utc>) -> Self {
        Self { next_version: version, attempts: 0, next_try_at: now, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Id;
    use crate::domain::webhook::Order;
    use crate::domain::webhook::tests::webhook;

    fn second(number: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(number, 0).unwrap()
    }

    fn position() -> Position {
        let new = Position::new(Id::from_bytes([9; 16]), "acme".parse().unwrap(), 5, second(0));
        Position { run_at: None, ..new }
    }

    fn lane(next_try: i64) -> Lane {
        Lane { next_try_at: second(next_try), ..Lane::new(&position(), "h".to_owned(), 3, second(0)) }
    }

    #[test]
    fn pauses_grow_to_a_day_and_chance_adds_up_to_a_tenth() {
        let hours: Vec<_> =
            (1..=11).map(|failures| pause(failures, TimeDelta::zero(), 0).num_minutes()).collect();
        assert_eq!(hours, [0, 5, 30, 120, 300, 600, 840, 1200, 1440, 1440, 1440]);
        assert_eq!(pause(1, TimeDelta::zero(), 0), TimeDelta::seconds(5));
        assert_eq!(pause(2, TimeDelta::zero(), 255), TimeDelta::seconds(330));
        assert_eq!(pause(2, TimeDelta::hours(1), 0), TimeDelta::hours(1));
        assert_eq!(pause(4, TimeDelta::hours(1), 0), TimeDelta::hours(2));
        assert_eq!(pause(u32::MAX, TimeDelta::zero(), 0), TimeDelta::days(1));
    }

    #[test]
    fn orders_come_first_then_what_is_due_first() {
        let (up, now) = (position(), second(0));
        assert_eq!(up.next_step(true, 5, &[]), None);
        assert_eq!(up.next_step(true, 6, &[]), Some((now, Step::Feed)));
        assert_eq!(up.next_step(true, 6, &[lane(0)]), Some((now, Step::Lanes)));
        assert_eq!(up.next_step(true, 6, &[lane(9)]), Some((now, Step::Feed)));
        assert_eq!(up.next_step(true, 5, &[lane(9), lane(7)]), Some((second(7), Step::Lanes)));
        assert_eq!(up.next_step(false, 6, &[lane(0)]), None);
        let ordered = up.ordered(Order::Ping { at: now }, now).unwrap();
        assert_eq!(ordered.next_step(false, 6, &[lane(0)]), Some((now, Step::Orders)));
    }

    #[test]
    fn an_endpoint_that_is_down_waits_and_is_tried_with_the_feed() {
        let down = position().failed(second(0), TimeDelta::zero(), 0);
        assert_eq!(down.next_step(true, 6, &[lane(0)]), Some((second(5), Step::Feed)));
        assert_eq!(down.next_step(true, 5, &[lane(0)]), Some((second(5), Step::Lanes)));
        assert_eq!(down.next_step(true, 5, &[lane(9)]), Some((second(9), Step::Lanes)));
        let up = down.succeeded(second(7));
        assert_eq!((up.failures, up.failing_since, up.next_try_at), (0, None, None));
        assert_eq!(up.last_delivery_at, Some(second(7)));
    }

    #[test]
    fn a_day_of_failures_is_worth_a_warning_and_five_end_it() {
        let day = 86_400;
        let down =
            position().failed(second(0), TimeDelta::zero(), 0).failed(second(day), TimeDelta::zero(), 0);
        assert_eq!(down.failures, 2);
        let judged = |position: &Position, is_gone, at| {
            let (webhook, mail) = webhook().judged(position, is_gone, second(at));
            (webhook.disabled_reason, mail)
        };
        assert_eq!(judged(&down, false, day - 1), (None, None));
        assert_eq!(judged(&down, false, day), (None, Some(WebhookMail::Failing)));
        let warned = Position { warned_at: Some(second(day)), ..down };
        assert_eq!(judged(&warned, false, 5 * day - 1), (None, None));
        let disabled = |reason| (Some(reason), Some(WebhookMail::Disabled));
        assert_eq!(judged(&warned, false, 5 * day), disabled(DisabledReason::Failing));
        assert_eq!(judged(&position(), true, 0), disabled(DisabledReason::Gone));
        let disabled = webhook().disabled(DisabledReason::Request);
        assert_eq!(disabled.clone().judged(&warned, true, second(9 * day)), (disabled, None));
    }

    #[test]
    fn a_lease_ends_by_itself_and_its_end_returns_to_the_next_step() {
        let leased = position().leased(second(0));
        assert!(leased.is_leased(second(74)) && !leased.is_leased(second(75)));
        let released = leased.clone().released(true, 6, &[], second(3));
        assert_eq!((released.leased_until, released.run_at), (None, Some(second(3))));
        assert_eq!(leased.clone().released(true, 5, &[lane(9)], second(3)).run_at, Some(second(9)));
        assert_eq!(leased.released(true, 5, &[], second(3)).run_at, None);
    }

    #[test]
    fn a_step_keeps_what_the_api_has_ordered_meanwhile() {
        let (ping, event) = (Order::Ping { at: second(0) }, Order::Event { event: "e".to_owned() });
        let before = position().ordered(ping, second(0)).unwrap().leased(second(0));
        let after = Position { after: 9, orders: Vec::new(), ..before.clone() };
        let meanwhile = before.clone().ordered(event.clone(), second(1)).unwrap();
        let both = after.clone().on_top_of(&before, meanwhile);
        assert_eq!((both.after, both.orders), (9, vec![event]));
        let set = after.on_top_of(&before, before.clone().set(2, second(1)));
        assert_eq!((set.after, set.epoch, set.orders), (2, 1, Vec::new()));
    }

    #[test]
    fn a_lane_gives_an_event_up_after_ten_tries() {
        let mut lane = Lane::new(&position(), "h".to_owned(), 3, second(0));
        for tries in 1..=9 {
            assert!(!lane.is_last_try());
            lane = lane.refused(second(0), TimeDelta::zero(), 0);
            assert_eq!(lane.attempts, tries);
        }
        assert!(lane.is_last_try());
        assert_eq!(lane.next_try_at, second(86_400));
        let next = lane.at(4, second(1));
        assert_eq!((next.next_version, next.attempts, next.next_try_at), (4, 0, second(1)));
    }
}
