//! The receivers, and how they must be served.

use chrono::{DateTime, TimeDelta, Utc};
use shared::domain::history::HistoryEntry;

use super::{Figures, Receiver, Reply, Simulation, second};

const DAY: f64 = 86_400.0;

fn reply(status: u16) -> Reply {
    Reply { status: Some(status), retry_after: None, after: TimeDelta::milliseconds(50) }
}

/// No response before the timeout.
fn silence() -> Reply {
    Reply { status: None, retry_after: None, after: TimeDelta::seconds(15) }
}

fn ok() -> Reply {
    reply(200)
}

/// One event every `seconds`, starting after one second, for ten resources in turn.
fn every(seconds: f64, until: f64) -> impl Iterator<Item = (f64, u32)> {
    let count = (until / seconds) as u32;
    (0..count).map(move |number| (1.0 + f64::from(number) * seconds, number % 10))
}

/// `count` events at once, for `resources` resources in turn.
fn burst(at: f64, count: u32, resources: u32) -> impl Iterator<Item = (f64, u32)> {
    (0..count).map(move |number| (at, number % resources))
}

fn simulate(
    events: impl IntoIterator<Item = (f64, u32)>,
    receiver: impl FnMut(&HistoryEntry, DateTime<Utc>) -> Reply + Send + 'static,
    end: f64,
) -> (Simulation, Figures) {
    let mut simulation = Simulation::new(events, Box::new(receiver) as Receiver);
    simulation.run_until(end);
    let figures = simulation.figures();
    (simulation, figures)
}

#[expect(clippy::print_stdout, reason = "the table of figures is what the simulation is for")]
fn print(name: &str, figures: &Figures) {
    let seconds = |time: TimeDelta| time.num_milliseconds() as f64 / 1000.0;
    println!(
        "{name:50} events {:5}  lost {}  given up {:4}  doubled {}  median {:8.1} s  latest {:9.1} s  requests {:5}",
        figures.events,
        figures.lost,
        figures.given_up,
        figures.doubled,
        seconds(figures.median_delay),
        seconds(figures.latest_delay),
        figures.requests.len(),
    );
}

#[test]
fn a_dead_endpoint_is_found_out_and_loses_nothing_however_it_answers() {
    for (name, status) in
        [("500", Some(500)), ("404", Some(404)), ("302", Some(302)), ("401", Some(401)), ("no answer", None)]
    {
        // One event an hour, so that events never wait together.
        let mut is_dead = true;
        let mended = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let seen = mended.clone();
        let receiver = move |_: &HistoryEntry, _: DateTime<Utc>| {
            is_dead &= !seen.load(std::sync::atomic::Ordering::Relaxed);
            if is_dead { status.map_or_else(silence, reply) } else { ok() }
        };
        let (mut simulation, early) = simulate(every(3_600.0, 7.0 * DAY), receiver, 3.0);
        assert!(early.is_failing || status.is_none(), "{name}: from the first failure on");
        simulation.run_until(7.0 * DAY);
        let dead = simulation.figures();
        let warned_at = dead.warned_at.unwrap();
        let disabled_at = dead.disabled_at.unwrap();
        assert!(warned_at < second(DAY + 1_800.0) && disabled_at < second(5.0 * DAY + 1_800.0), "{name}");
        assert_eq!(dead.given_up, 0, "{name}: an outage gives nothing up");
        // At most one request every quarter of an hour for five days.
        assert!(dead.requests.len() < 560, "{name}: {} requests", dead.requests.len());
        mended.store(true, std::sync::atomic::Ordering::Relaxed);
        simulation.enable();
        simulation.run_until(7.1 * DAY);
        let alive = simulation.figures();
        print(&format!("dead for seven days: {name}"), &alive);
        assert_eq!((alive.lost, alive.given_up, alive.doubled, alive.stalled), (0, 0, 0, 0), "{name}");
    }
}

#[test]
fn one_bad_event_delays_no_other() {
    for (name, pause, until) in [("quiet", 600.0, 6.0 * DAY), ("busy", 0.1, 300.0)] {
        for (kind, status) in [("502", Some(502)), ("no answer", None), ("400", Some(400))] {
            let is_bad = |event: &HistoryEntry| event.sequence == Some(5);
            let receiver = move |event: &HistoryEntry, _: DateTime<Utc>| {
                if is_bad(event) { status.map_or_else(silence, reply) } else { ok() }
            };
            let (_, figures) = simulate(every(pause, until).take(860), receiver, 9.0 * DAY);
            print(&format!("one bad event, {name}: {kind}"), &figures);
            assert_eq!((figures.lost, figures.given_up, figures.doubled), (0, 1, 0));
            assert!(figures.median_delay < TimeDelta::seconds(3), "{name} {kind}");
            assert_eq!((figures.disabled_at, figures.warned_at), (None, None));
        }
    }
}

#[test]
fn others_wait_for_a_bad_event_for_seconds_at_most() {
    // Two hanging events are retried again and again while others arrive every ten minutes.
    let is_bad = |event: &HistoryEntry| matches!(event.sequence, Some(5 | 6));
    let receiver = move |event: &HistoryEntry, _: DateTime<Utc>| if is_bad(event) { silence() } else { ok() };
    // Each event has its own resource.
    let events = (0..200_u32).map(|number| (1.0 + f64::from(number) * 600.0, number));
    let (_, figures) = simulate(events, receiver, 6.0 * DAY);
    print("two bad events, quiet: no answer", &figures);
    assert_eq!((figures.lost, figures.given_up, figures.doubled), (0, 2, 0));
    assert!(figures.latest_delay < TimeDelta::minutes(16), "{}", figures.latest_delay);
    assert!(figures.median_delay < TimeDelta::seconds(1));
}

/// Accepts `most` requests per window.
fn limited(
    most: u32,
    window: TimeDelta,
    retry_after: Option<&'static str>,
) -> impl FnMut(&HistoryEntry, DateTime<Utc>) -> Reply {
    let mut start = DateTime::UNIX_EPOCH;
    let mut count = 0;
    move |_, now| {
        if now >= start + window {
            (start, count) = (now, 0);
        }
        count += 1;
        if count <= most { ok() } else { Reply { retry_after, ..reply(429) } }
    }
}

#[test]
fn a_limited_receiver_gets_its_events_as_fast_as_it_takes_them() {
    let second_long = TimeDelta::seconds(1);
    for (name, most, window, retry_after, ideal) in [
        ("10 a second", 10, second_long, None, 30.0),
        ("10 a second, Retry-After: 1", 10, second_long, Some("1"), 30.0),
        ("2 a second", 2, second_long, None, 150.0),
        ("60 a minute, Retry-After: 30", 60, TimeDelta::minutes(1), Some("30"), 300.0),
        ("60 a minute", 60, TimeDelta::minutes(1), None, 300.0),
    ] {
        let (_, figures) = simulate(burst(10.0, 300, 100), limited(most, window, retry_after), DAY);
        print(&format!("limit: {name}"), &figures);
        assert_eq!((figures.lost, figures.given_up, figures.doubled), (0, 0, 0), "{name}");
        let took = (figures.last_accepted_at.unwrap() - second(10.0)).num_milliseconds() as f64 / 1000.0;
        assert!(took <= 1.5 * ideal, "{name}: {took} s of {ideal} s");
    }
}

#[test]
fn a_rejected_type_holds_up_no_other() {
    // A thousand events at once, all rejected, then events that are accepted.
    let events =
        burst(10.0, 1_000, 1_000).chain((0..20).map(|number| (12.0 + f64::from(number), 1_001 + number)));
    let receiver = |event: &HistoryEntry, _: DateTime<Utc>| {
        if event.sequence <= Some(1_000) { reply(400) } else { ok() }
    };
    let (_, figures) = simulate(events, receiver, 5.0 * DAY);
    print("rejected type, a burst of 1,000", &figures);
    assert!(figures.latest_delay < TimeDelta::seconds(60), "{}", figures.latest_delay);
    assert_eq!((figures.lost, figures.given_up, figures.doubled), (0, 1_000, 0));
    assert_eq!((figures.disabled_at, figures.stalled), (None, 0));
}

#[test]
fn requests_that_hang_hold_up_their_own_resource_alone() {
    let is_bad = |event: &HistoryEntry| event.sequence.is_some_and(|number| number % 50 == 7);
    let mut tried = std::collections::BTreeSet::new();
    let receiver = move |event: &HistoryEntry, _: DateTime<Utc>| {
        // Each bad event hangs once.
        if is_bad(event) && tried.insert(event.sequence) { silence() } else { ok() }
    };
    let (_, figures) = simulate(burst(10.0, 2_000, 250), receiver, 2_000.0);
    print("a hanging share of 2 %, a burst of 2,000", &figures);
    assert_eq!((figures.lost, figures.given_up, figures.doubled), (0, 0, 0));
    assert!(figures.latest_delay < TimeDelta::minutes(5), "{}", figures.latest_delay);
}

#[test]
fn slow_receivers_get_every_event_once_and_in_order() {
    for (name, milliseconds) in [("0.7 s", 700), ("3 s", 3_000), ("14 s", 14_000)] {
        let slow = TimeDelta::milliseconds(milliseconds);
        // Some events are rejected at first, so that later events of their resources wait, and some responses ask for a
        // pause.
        let mut tried = std::collections::BTreeSet::new();
        let receiver = move |event: &HistoryEntry, _: DateTime<Utc>| match event.sequence {
            Some(number) if number % 17 == 3 && tried.insert(number) => reply(400),
            Some(number) if number % 23 == 5 && tried.insert(number) => reply(429),
            _ => Reply { after: slow, ..ok() },
        };
        let events = burst(10.0, 150, 6).chain((0..150).map(|number| (11.0 + f64::from(number), number % 7)));
        let (_, figures) = simulate(events, receiver, 2.0 * DAY);
        print(&format!("every answer takes {name}"), &figures);
        assert_eq!(
            (figures.lost, figures.given_up, figures.doubled, figures.stalled),
            (0, 0, 0, 0),
            "{name}"
        );
    }
}

#[test]
fn two_that_hang_for_ever_keep_no_endpoint_down() {
    // Both arrive at once, before anything is accepted, and no other event for an hour.
    let receiver =
        |event: &HistoryEntry, _: DateTime<Utc>| if event.sequence <= Some(2) { silence() } else { ok() };
    let events = [(1.0, 1), (1.0, 2), (3_600.0, 3), (7_200.0, 4)];
    let (_, figures) = simulate(events, receiver, 8.0 * DAY);
    print("two that hang for ever, almost nothing else", &figures);
    assert_eq!((figures.lost, figures.given_up, figures.doubled), (0, 2, 0));
    assert!(figures.latest_delay < TimeDelta::minutes(32), "{}", figures.latest_delay);
    assert_eq!(figures.disabled_at, None);
}

#[test]
fn nothing_is_lost_where_a_third_fails_at_random() {
    for status in [500, 503, 400, 429] {
        let mut state = u64::from(status);
        let receiver = move |_: &HistoryEntry, _: DateTime<Utc>| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if (state >> 33) % 10 < 3 { reply(status) } else { ok() }
        };
        let (_, figures) = simulate(every(0.5, 300.0), receiver, 4.0 * DAY);
        print(&format!("three in ten fail: {status}"), &figures);
        assert_eq!((figures.lost, figures.given_up, figures.doubled), (0, 0, 0), "{status}");
    }
}

#[test]
fn after_an_outage_the_first_try_comes_within_sixteen_minutes() {
    let minutes = [1.0, 10.0, 60.0, 180.0, 2_160.0];
    for (feed, pause) in [("quiet", 1_800.0), ("busy", 10.0)] {
        for (kind, status) in [("500", Some(500)), ("503", Some(503)), ("no answer", None)] {
            for minutes in minutes {
                let from = second(100.0);
                let to = second(100.0 + minutes * 60.0);
                let receiver = move |_: &HistoryEntry, now: DateTime<Utc>| {
                    if now >= from && now < to { status.map_or_else(silence, reply) } else { ok() }
                };
                let until = 100.0 + minutes * 60.0 + 3_600.0;
                let (_, figures) = simulate(every(pause, until.min(20_000.0)), receiver, until + 7_200.0);
                assert_eq!((figures.lost, figures.given_up, figures.doubled), (0, 0, 0));
                // Only if a request failed during the outage, so that its event waits when the outage ends.
                let has_failed = figures.requests.iter().any(|at| *at >= from && *at < to);
                let first = figures.requests.iter().find(|at| **at >= to && has_failed);
                let late = first.map_or(TimeDelta::zero(), |at| *at - to);
                let name = format!("outage of {minutes} min, {feed}, {kind}: {} s late", late.num_seconds());
                print(&name, &figures);
                assert!(late <= TimeDelta::minutes(16), "{} s late", late.num_seconds());
            }
        }
    }
}
