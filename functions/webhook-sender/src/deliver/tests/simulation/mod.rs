//! Simulates receivers as found on the internet, in virtual time. The sender's own code decides what is sent next,
//! judges the endpoint and applies the results; table, network and clock are simulated.
//!
//! `cargo test -p webhook-sender simulation -- --nocapture --test-threads 1` prints one line per receiver.

mod clock;
mod memory;
mod receivers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use shared::Result;
use shared::domain::history::{ChangeAuthor, ChangeOrigin, HistoryEntry, ResourceChange, ResourceRef};
use shared::domain::id::Id;
use shared::domain::outgoing::{AllowedTargets, OutgoingError, OutgoingUrl};
use shared::domain::secret::Sealed;
use shared::domain::webhook::{
    DeliveryAttempt, DeliveryCursor, DeliveryOutcome, DeliveryVerdict, DisabledReason, EndpointResponse,
    HealthJudgement, StalledResource, Webhook, next_task,
};
use shared::store::DeliveryProgress;

use crate::deliver::conclude::{conclude, stall};
use crate::deliver::in_flight::{EventTransport, InFlightDeliveries};
use crate::deliver::next_batch::DeliveryBatch;
use clock::VirtualClock;

/// The delay until the stream delivers a record and the index shows an event.
const STREAM_DELAY: TimeDelta = TimeDelta::milliseconds(300);
/// The duration of a step's DynamoDB calls.
const STEP_TIME: TimeDelta = TimeDelta::milliseconds(30);

/// A response and how long it takes. `status` is `None` if there is no response.
pub(super) struct Reply {
    pub(super) status: Option<u16>,
    pub(super) retry_after: Option<&'static str>,
    pub(super) after: TimeDelta,
}

/// Returns the receiver's reply to an event at a given time.
pub(super) type Receiver = Box<dyn FnMut(&HistoryEntry, DateTime<Utc>) -> Reply + Send>;

/// The events that the receiver has got, and the consequences.
#[derive(Default)]
struct Journal {
    requests: Vec<DateTime<Utc>>,
    /// When each event was accepted, by number.
    accepted: BTreeMap<u64, Vec<DateTime<Utc>>>,
    /// The accepted versions of each resource, in the order of acceptance.
    order: BTreeMap<String, Vec<u64>>,
    given_up: BTreeSet<u64>,
    warned_at: Option<DateTime<Utc>>,
    disabled_at: Option<DateTime<Utc>>,
}

struct Network {
    clock: VirtualClock,
    receiver: Mutex<Receiver>,
    journal: Mutex<Journal>,
    until: Mutex<DateTime<Utc>>,
}

impl EventTransport for Network {
    async fn attempt(
        &self,
        webhook: &Webhook,
        event: &HistoryEntry,
        number: u32,
    ) -> Result<(DeliveryVerdict, DeliveryAttempt)> {
        let at = self.clock.now();
        self.journal.lock().unwrap().requests.push(at);
        let Reply { status, retry_after, after } = (self.receiver.lock().unwrap())(event, at);
        self.clock.wait(after).await;
        let retry_after = retry_after.map(str::to_owned);
        let response = status.map(|status| EndpointResponse { status, retry_after, start: String::new() });
        let verdict = DeliveryVerdict::of(&response.ok_or(OutgoingError::Timeout), self.clock.now());
        let is_accepted = verdict == DeliveryVerdict::Accepted;
        if is_accepted {
            let mut journal = self.journal.lock().unwrap();
            let sequence = event.sequence.unwrap();
            journal.accepted.entry(sequence).or_default().push(self.clock.now());
            journal.order.entry(event.id().history_id).or_default().push(event.version_after);
        }
        let outcome = if is_accepted { DeliveryOutcome::Delivered } else { DeliveryOutcome::Failed };
        let event = Some(event.sequence.unwrap().to_string());
        let attempt = DeliveryAttempt::new(Id::from_bytes([1; 16]), webhook.id, event, outcome, at);
        let attempt = DeliveryAttempt { attempt: number, status_code: status, ..attempt };
        Ok((verdict, attempt))
    }

    fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    fn random(&self) -> u8 {
        128
    }

    async fn wait(&self, time: Duration) {
        self.clock.wait(TimeDelta::from_std(time).unwrap()).await;
    }

    fn is_over(&self) -> bool {
        self.clock.now() >= *self.until.lock().unwrap()
    }
}

/// An endpoint, and its feed with the time of each event.
pub(super) struct Simulation {
    network: Network,
    feed: Vec<(DateTime<Utc>, HistoryEntry)>,
    webhook: Webhook,
    cursor: DeliveryCursor,
    stalled: Vec<StalledResource>,
}

/// The figures that judge a simulation.
#[derive(Debug)]
pub(super) struct Figures {
    pub(super) events: usize,
    /// Events neither accepted nor given up.
    pub(super) lost: usize,
    pub(super) given_up: usize,
    /// Events accepted more than once.
    pub(super) doubled: usize,
    pub(super) median_delay: TimeDelta,
    pub(super) latest_delay: TimeDelta,
    pub(super) requests: Vec<DateTime<Utc>>,
    pub(super) last_accepted_at: Option<DateTime<Utc>>,
    pub(super) warned_at: Option<DateTime<Utc>>,
    pub(super) disabled_at: Option<DateTime<Utc>>,
    pub(super) is_failing: bool,
    pub(super) stalled: usize,
}

pub(super) fn second(number: f64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::milliseconds((number * 1000.0) as i64)
}

impl Simulation {
    /// Creates a feed from the time in seconds and the resource of each event.
    pub(super) fn new(events: impl IntoIterator<Item = (f64, u32)>, receiver: Receiver) -> Self {
        let url = OutgoingUrl::parse("https://hooks.example/in", AllowedTargets::Public).unwrap();
        let secret = Sealed::new("sealed".to_owned());
        let company: shared::domain::id::CompanyId = "acme".parse().unwrap();
        let start = DateTime::UNIX_EPOCH;
        let webhook = Webhook::new(Id::from_bytes([9; 16]), company.clone(), url, secret, None, start);
        let mut versions = BTreeMap::<u32, u64>::new();
        let feed = events.into_iter().enumerate().map(|(number, (at, resource))| {
            let version = versions.entry(resource).or_default();
            *version += 1;
            let label = ResourceRef::Label { label: Id::from_bytes(u128::from(resource + 1).to_be_bytes()) };
            let types = vec!["label.updated".to_owned()];
            let change = ResourceChange {
                company: company.clone(),
                resource: label,
                types,
                external_id: None,
                project_external_id: None,
                details: Default::default(),
            };
            let origin = ChangeOrigin::new(ChangeAuthor::System, second(at));
            let entry = HistoryEntry::new(change, *version, origin, TimeDelta::days(400));
            (second(at), entry.with_number(number as u64 + 1, None, second(at)))
        });
        let feed: Vec<_> = feed.collect();
        assert!(feed.is_sorted_by_key(|(at, _)| *at));
        let cursor = DeliveryCursor::new(webhook.id, company, 0, start).release(None, start);
        let network = Network {
            clock: VirtualClock::default(),
            receiver: Mutex::new(receiver),
            journal: Mutex::default(),
            until: Mutex::new(start),
        };
        Self { network, feed, webhook, cursor, stalled: Vec::new() }
    }

    fn latest(&self) -> u64 {
        let now = self.network.now();
        self.feed.partition_point(|(at, _)| *at + STREAM_DELAY <= now) as u64
    }

    /// Starts turns like the stream and the schedule, until nothing is left to do or `end`, in seconds.
    pub(super) fn run_until(&mut self, end: f64) {
        let clock = self.network.clock.clone();
        let end = second(end);
        loop {
            let now = clock.now();
            let woken = self.cursor.wakes_sender.then_some(now + STREAM_DELAY);
            let numbered = self.feed.get(self.latest() as usize).map(|(at, _)| *at + STREAM_DELAY);
            let minute = |at: DateTime<Utc>| {
                let seconds = at.timestamp() + i64::from(at.timestamp_subsec_nanos() > 0);
                DateTime::from_timestamp((seconds + 59).div_euclid(60) * 60, 0).unwrap()
            };
            let scheduled = self.cursor.work.due_at.map(|at| minute(at.max(now)));
            let (at, is_schedule) = match (numbered.into_iter().chain(woken).min(), scheduled) {
                (Some(event), Some(schedule)) if event < schedule => (event, false),
                (_, Some(schedule)) => (schedule, true),
                (Some(event), None) => (event, false),
                (None, None) => break,
            };
            if at > end {
                break;
            }
            clock.advance_to(at);
            let time = if is_schedule { TimeDelta::seconds(40) } else { TimeDelta::seconds(10) };
            *self.network.until.lock().unwrap() = clock.now() + time;
            self.run(is_schedule);
        }
        clock.advance_to(end);
    }

    /// Enables the webhook, as a client would.
    pub(super) fn enable(&mut self) {
        self.webhook.disabled_reason = None;
        self.cursor = self.cursor.clone().resume(self.network.now());
    }

    fn run(&mut self, is_schedule: bool) {
        let clock = self.network.clock.clone();
        // Clone and take the state, because requests in flight borrow the network.
        let mut cursor = self.cursor.clone();
        let mut stalled = std::mem::take(&mut self.stalled);
        let mut in_flight = InFlightDeliveries::new(&self.network, cursor.health.clone());
        let mut previous_task = None;
        clock.run(async {
            loop {
                let now = clock.now();
                let mut idle = stalled.clone();
                idle.retain(|one: &StalledResource| !in_flight.has(&one.history_id));
                let next = next_task(&self.webhook, &cursor, &idle, self.latest(), now, previous_task);
                let is_late = self.network.is_over();
                let batch = match next.filter(|(at, _)| *at <= now && !is_late) {
                    Some((_, task)) => {
                        previous_task = Some(task);
                        Some(self.load(task, &cursor, &stalled, &idle))
                    }
                    None => None,
                };
                let (batch, ended) = match batch {
                    Some(mut batch) => {
                        let groups = std::mem::take(&mut batch.groups);
                        let ended = in_flight.send(&self.webhook, groups).await.unwrap();
                        (batch, ended)
                    }
                    None if !in_flight.is_empty() => {
                        let one = in_flight.wait_for_one(&self.webhook).await.unwrap();
                        (DeliveryBatch::default(), one.into_iter().collect())
                    }
                    None => {
                        match next {
                            Some((at, _))
                                if at > now
                                    && at < *self.network.until.lock().unwrap()
                                    && (is_schedule || cursor.health.is_throttling(now)) =>
                            {
                                clock.wait(at - now).await;
                                continue;
                            }
                            _ => {}
                        }
                        let next = next.map(|(at, _)| at);
                        cursor = cursor.clone().release(next, now);
                        let until = *self.network.until.lock().unwrap();
                        let is_cut_off =
                            next.is_some_and(|at| at.max(now) >= until && at < now + TimeDelta::seconds(10));
                        cursor.wakes_sender = !is_schedule && is_cut_off && in_flight.is_worth_another_turn();
                        break;
                    }
                };
                clock.wait(STEP_TIME).await;
                let mut result = DeliveryProgress {
                    webhook: self.webhook.clone(),
                    cursor: DeliveryCursor { health: in_flight.health.clone(), ..cursor.clone() },
                    stalled: stalled.clone(),
                    attempts: Vec::new(),
                    effects: Vec::new(),
                };
                conclude(&mut result, &batch, ended, clock.now(), 128);
                for (history_id, version) in in_flight.mark_hanging_as_stalled() {
                    stall(&mut result, history_id, version, clock.now());
                }
                let given_up = result.attempts.iter().filter(|one| one.outcome == DeliveryOutcome::GivenUp);
                let mut journal = self.network.journal.lock().unwrap();
                journal.given_up.extend(given_up.filter_map(|one| one.event.as_ref()?.parse::<u64>().ok()));
                (cursor, stalled) = (result.cursor, result.stalled);
                if in_flight.is_gone() {
                    break;
                }
            }
        });
        drop(in_flight);
        (self.cursor, self.stalled) = (cursor, stalled);
        if is_schedule && self.webhook.is_enabled() {
            let now = clock.now();
            let mut journal = self.network.journal.lock().unwrap();
            match self.cursor.health.judge(now) {
                HealthJudgement::Tolerable => {}
                HealthJudgement::Warn => {
                    self.cursor.health.warned_at = Some(now);
                    journal.warned_at = Some(now);
                }
                HealthJudgement::Disable => {
                    journal.disabled_at = Some(now);
                    self.webhook = self.webhook.clone().disabled(DisabledReason::Failing);
                    self.cursor.work.due_at = None;
                }
            }
        }
    }

    pub(super) fn figures(&self) -> Figures {
        let journal = self.network.journal.lock().unwrap();
        for (resource, versions) in &journal.order {
            let mut firsts = Vec::new();
            versions.iter().for_each(|version| {
                if !firsts.contains(version) {
                    firsts.push(*version);
                }
            });
            assert!(firsts.is_sorted(), "events of {resource} out of order: {versions:?}");
        }
        let mut delays: Vec<TimeDelta> = Vec::new();
        let mut lost = 0;
        let mut doubled = 0;
        for (at, entry) in &self.feed[..self.latest() as usize] {
            let sequence = entry.sequence.unwrap();
            match journal.accepted.get(&sequence) {
                Some(times) => {
                    doubled += times.len() - 1;
                    delays.push(times[0] - *at);
                }
                None => lost += usize::from(!journal.given_up.contains(&sequence)),
            }
        }
        delays.sort();
        Figures {
            events: self.latest() as usize,
            lost,
            given_up: journal.given_up.len(),
            doubled,
            median_delay: delays.get(delays.len() / 2).copied().unwrap_or_default(),
            latest_delay: delays.last().copied().unwrap_or_default(),
            requests: journal.requests.clone(),
            last_accepted_at: journal.accepted.values().flatten().max().copied(),
            warned_at: journal.warned_at,
            disabled_at: journal.disabled_at,
            is_failing: self.cursor.health.failing_since.is_some(),
            stalled: self.stalled.len(),
        }
    }
}
