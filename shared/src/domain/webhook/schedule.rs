//! When events are sent, and sent again.

use chrono::{DateTime, TimeDelta, Utc};

use super::lane::Lane;
use super::position::Position;
use super::{DisabledReason, Webhook};
use crate::domain::mail::WebhookMail;

/// The time after each failure until the next try, which the schedule starts within a minute; the last one repeats.
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
/// With as many lanes, an endpoint gets no more of the feed until some of them have ended.
const MAX_LANES: usize = 500;
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
        Self { leased_until: Some(now + LEASE), run_at: None, wakes: false, ..self }
    }

    /// The position after a step, or without one. The schedule starts the next run when there is something to do; one that
    /// it has not yet started in time stays due since then.
    pub fn released(self, is_enabled: bool, latest: u64, lanes: &[Lane], now: DateTime<Utc>) -> Self {
        let due = self.run_at.filter(|due| *due <= now).unwrap_or(now);
        let run_at = self.next_step(is_enabled, latest, lanes, now).map(|(at, _)| at.max(due));
        Self { leased_until: None, run_at, wakes: false, ..self }
    }

    /// What is to be done next, and when. `latest` is the number of the feed's last event.
    ///
    /// A lane that is due goes first, because the feed may never end. But an endpoint that is down is tried with the feed,
    /// since its lanes are events that it has refused while it was up.
    pub fn next_step(
        &self,
        is_enabled: bool,
        latest: u64,
        lanes: &[Lane],
        now: DateTime<Utc>,
    ) -> Option<(DateTime<Utc>, Step)> {
        if !self.orders.is_empty() {
            return Some((DateTime::UNIX_EPOCH, Step::Orders));
        }
        if !is_enabled {
            return None;
        }
        let from = self.next_try_at.unwrap_or(DateTime::UNIX_EPOCH);
        let feed = (self.after < latest && lanes.len() < MAX_LANES).then_some((from, Step::Feed));
        let lane = lanes.iter().map(|lane| lane.due_at(self).max(from)).min().map(|at| (at, Step::Lanes));
        match (lane, feed) {
            (Some(lane), Some(_)) if !self.is_down() && lane.0 <= now => Some(lane),
            (lane, feed) => feed.or(lane),
        }
    }

    /// Whether the endpoint accepts nothing, so that single events find out whether it does again.
    pub fn is_down(&self) -> bool {
        self.failures > 0
    }

    /// The position after the endpoint has accepted nothing, and asks for nothing for as long as `wait`.
    pub fn failed(self, now: DateTime<Utc>, wait: TimeDelta, chance: u8) -> Self {
        let failures = self.failures.saturating_add(1);
        Self {
            failures,
            failing_since: self.failing_since.or(Some(now)),
            next_try_at: Some(now + pause(failures, wait, chance)),
            ..self
        }
    }

    /// What a step has made of `before`, after the API has made `meanwhile` of it: both are kept. But once a client has set
    /// the position, it does not matter how far the step has come; and once one has had the endpoint tried at once, what
    /// the step has found out about it.
    pub fn on_top_of(self, before: &Self, meanwhile: Self) -> Self {
        let mut orders = meanwhile.orders;
        orders.retain(|order| self.orders.contains(order) || !before.orders.contains(order));
        let after = if meanwhile.epoch == before.epoch { self.after } else { meanwhile.after };
        let known = if meanwhile.restarts == before.restarts { self.clone() } else { self.clone().calmed() };
        let (epoch, restarts) = (meanwhile.epoch, meanwhile.restarts);
        Self {
            after,
            orders,
            epoch,
            restarts,
            run_at: meanwhile.run_at,
            pinged_at: meanwhile.pinged_at,
            ..known
        }
    }
}

impl Webhook {
    /// The webhook after a step that has turned its position `before` into `after`, and the mail about that to its owners.
    /// `is_gone` says that the endpoint accepts nothing any more.
    pub fn judged(
        self,
        before: &Position,
        after: &Position,
        is_gone: bool,
        now: DateTime<Utc>,
    ) -> (Self, Option<WebhookMail>) {
        let has_failed = after.failures > before.failures;
        let has_failed_for =
            |time| has_failed && after.failing_since.is_some_and(|since| since + time <= now);
        if !self.is_enabled() {
            (self, None)
        } else if is_gone {
            (self.disabled(DisabledReason::Gone), Some(WebhookMail::Disabled))
        } else if has_failed_for(DISABLED_AFTER) {
            (self.disabled(DisabledReason::Failing), Some(WebhookMail::Disabled))
        } else {
            let is_news = after.warned_at.is_none() && has_failed_for(WARNED_AFTER);
            (self, is_news.then_some(WebhookMail::Failing))
        }
    }
}

impl Lane {
    /// A lane for a resource whose event of this version was refused for the first time.
    pub fn new(position: &Position, history: String, version: u64, now: DateTime<Utc>) -> Self {
        let (webhook, epoch, restarts) = (position.webhook, position.epoch, position.restarts);
        let (next_version, attempts) = (version, 0);
        Self { webhook, epoch, history, next_version, attempts, tried_at: now, next_try_at: now, restarts }
    }

    /// When it is tried again.
    pub fn due_at(&self, position: &Position) -> DateTime<Utc> {
        if self.restarts == position.restarts { self.next_try_at } else { DateTime::UNIX_EPOCH }
    }

    /// The lane after its event was refused. The endpoint asks for nothing for as long as `wait`.
    pub fn refused(self, now: DateTime<Utc>, wait: TimeDelta, chance: u8) -> Self {
        let attempts = self.attempts.saturating_add(1);
        Self { attempts, tried_at: now, next_try_at: now + pause(attempts, wait, chance), ..self }
    }

    /// Whether its event is given up if it fails now. Not as long as the endpoint may be at fault: if it `is_unavailable`
    /// and has accepted nothing since the last try.
    pub fn gives_up(&self, is_unavailable: bool, position: &Position) -> bool {
        let works = || position.last_delivery_at.is_some_and(|last| self.tried_at <= last);
        self.attempts + 1 >= MAX_TRIES && (!is_unavailable || works())
    }

    /// The lane with the event of this version, or a later one, next.
    pub fn at(self, version: u64, now: DateTime<Utc>) -> Self {
        Self { next_version: version, attempts: 0, tried_at: now, next_try_at: now, ..self }
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

    /// The next step at second 8 of an enabled endpoint whose feed has this `latest` number.
    fn next_step(position: &Position, latest: u64, lanes: &[Lane]) -> Option<(DateTime<Utc>, Step)> {
        position.next_step(true, latest, lanes, second(8))
    }

    #[test]
    fn orders_come_first_then_lanes_that_are_due_then_the_feed() {
        let (up, start) = (position(), second(0));
        assert_eq!(next_step(&up, 5, &[]), None);
        assert_eq!(next_step(&up, 6, &[]), Some((start, Step::Feed)));
        assert_eq!(next_step(&up, 6, &[lane(7)]), Some((second(7), Step::Lanes)));
        assert_eq!(next_step(&up, 6, &[lane(9)]), Some((start, Step::Feed)));
        assert_eq!(next_step(&up, 5, &[lane(11), lane(9)]), Some((second(9), Step::Lanes)));
        assert_eq!(up.next_step(false, 6, &[lane(0)], second(8)), None);
        let ordered = up.ordered(Order::Ping { at: start }, start).unwrap();
        assert_eq!(ordered.next_step(false, 6, &[lane(0)], second(8)), Some((start, Step::Orders)));
    }

    #[test]
    fn an_endpoint_that_is_down_waits_and_is_tried_with_the_feed() {
        let down = position().failed(second(0), TimeDelta::zero(), 0);
        assert_eq!(next_step(&down, 6, &[lane(0)]), Some((second(5), Step::Feed)));
        assert_eq!(next_step(&down, 5, &[lane(0)]), Some((second(5), Step::Lanes)));
        assert_eq!(next_step(&down, 5, &[lane(9)]), Some((second(9), Step::Lanes)));
        let paused = Position { next_try_at: Some(second(9)), ..position() };
        assert_eq!(next_step(&paused, 6, &[lane(0)]), Some((second(9), Step::Feed)));
    }

    #[test]
    fn an_endpoint_with_the_most_lanes_goes_on_with_these_alone() {
        let full = vec![lane(9); MAX_LANES];
        assert_eq!(next_step(&position(), 6, &full), Some((second(9), Step::Lanes)));
        assert_eq!(next_step(&position(), 6, &full[1..]), Some((second(0), Step::Feed)));
        let down = position().failed(second(0), TimeDelta::zero(), 0);
        assert_eq!(next_step(&down, 6, &full), Some((second(9), Step::Lanes)));
    }

    #[test]
    fn an_endpoint_that_is_tried_at_once_is_tried_with_its_lanes() {
        let resumed = position().failed(second(0), TimeDelta::zero(), 0).resumed(second(1));
        let lane = lane(9);
        assert_eq!(lane.due_at(&position()), second(9));
        assert_eq!(next_step(&resumed, 5, &[lane]), Some((second(0), Step::Lanes)));
    }

    #[test]
    fn a_day_of_failures_is_worth_a_warning_and_five_end_it() {
        let day = 86_400;
        let down =
            position().failed(second(0), TimeDelta::zero(), 0).failed(second(day), TimeDelta::zero(), 0);
        assert_eq!(down.failures, 2);
        let judged = |position: &Position, is_gone, at| {
            let before = Position { failures: position.failures - 1, ..position.clone() };
            let (webhook, mail) = webhook().judged(&before, position, is_gone, second(at));
            (webhook.disabled_reason, mail)
        };
        assert_eq!(judged(&down, false, day - 1), (None, None));
        assert_eq!(judged(&down, false, day), (None, Some(WebhookMail::Failing)));
        let warned = Position { warned_at: Some(second(day)), ..down.clone() };
        assert_eq!(judged(&warned, false, 5 * day - 1), (None, None));
        let disabled = |reason| (Some(reason), Some(WebhookMail::Disabled));
        assert_eq!(judged(&warned, false, 5 * day), disabled(DisabledReason::Failing));
        assert_eq!(judged(&warned, true, day), disabled(DisabledReason::Gone));
        // A step that has not failed itself changes nothing.
        assert_eq!(webhook().judged(&warned, &warned, false, second(9 * day)), (webhook(), None));
        assert_eq!(webhook().judged(&down, &down, false, second(9 * day)), (webhook(), None));
        let disabled = webhook().disabled(DisabledReason::Request);
        assert_eq!(disabled.clone().judged(&position(), &warned, true, second(9 * day)), (disabled, None));
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
    fn what_is_due_already_stays_due_since_then_until_a_step_is_taken() {
        let late = Position { run_at: Some(second(1)), wakes: true, ..position() };
        let rested = late.clone().released(true, 6, &[], second(3));
        assert_eq!((rested.run_at, rested.wakes), (Some(second(1)), false));
        let leased = late.leased(second(3));
        assert_eq!((leased.run_at, leased.wakes), (None, false));
        assert_eq!(leased.released(true, 6, &[], second(4)).run_at, Some(second(4)));
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
    fn a_step_overwrites_nothing_that_the_api_has_reset_meanwhile() {
        let before = position().failed(second(0), TimeDelta::zero(), 0).leased(second(6));
        let after = Position { after: 9, warned_at: Some(second(7)), ..before.clone() };
        let after = after.failed(second(7), TimeDelta::zero(), 0);
        assert_eq!(after.clone().on_top_of(&before, before.clone()), after);
        for reset in [before.clone().resumed(second(6)), before.clone().set(5, second(6))] {
            let kept = after.clone().on_top_of(&before, reset.clone());
            assert_eq!((kept.failures, kept.failing_since, kept.next_try_at), (0, None, None));
            assert_eq!((kept.warned_at, kept.restarts, kept.run_at), (None, 1, Some(second(6))));
            assert_eq!(kept.after, if reset.epoch == 0 { 9 } else { 5 });
        }
    }

    #[test]
    fn a_lane_gives_an_event_up_after_ten_tries() {
        let mut lane = Lane::new(&position(), "h".to_owned(), 3, second(0));
        for tries in 1..=9 {
            assert!(!lane.gives_up(false, &position()));
            lane = lane.refused(second(0), TimeDelta::zero(), 0);
            assert_eq!(lane.attempts, tries);
        }
        assert!(lane.gives_up(false, &position()));
        let accepted_at = |at| Position { last_delivery_at: Some(second(at)), ..position() };
        let tried = Lane { tried_at: second(5), ..lane.clone() };
        assert!(!tried.gives_up(true, &position()) && !tried.gives_up(true, &accepted_at(4)));
        assert!(tried.gives_up(true, &accepted_at(5)));
        assert_eq!(lane.next_try_at, second(86_400));
        let next = lane.at(4, second(1));
        assert_eq!((next.next_version, next.attempts, next.next_try_at), (4, 0, second(1)));
    }
}
