//! Sends the events of a batch: events of one resource sequentially, several resources concurrently if the endpoint can
//! take it.

use std::collections::{BTreeMap, VecDeque};
use std::future::pending;
use std::pin::pin;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::future::{BoxFuture, Either, select};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use shared::Result;
use shared::domain::history::HistoryEntry;
use shared::domain::webhook::{DeliveryAttempt, DeliveryRequest, DeliveryVerdict, EndpointHealth, Webhook};

use super::PAGE;

/// After this time, a request counts as hanging if nothing else is left to send. The next steps do not wait for it.
const HANG_TIME: Duration = Duration::from_secs(2);
/// How long an idle turn waits for hanging requests before it looks for new events.
const HANG_WAIT: Duration = Duration::from_millis(300);

/// Sends events and provides time and chance; replaced in the simulation.
pub(crate) trait EventTransport: Sync {
    /// Sends an event. `number` is the number of the attempt.
    fn attempt(
        &self,
        webhook: &Webhook,
        event: &HistoryEntry,
        number: u32,
    ) -> impl Future<Output = Result<(DeliveryVerdict, DeliveryAttempt)>> + Send;

    /// The current time.
    fn now(&self) -> DateTime<Utc>;

    /// A random byte.
    fn random(&self) -> u8;

    /// Pauses while requests are in flight.
    fn wait(&self, time: Duration) -> impl Future<Output = ()> + Send;

    /// Whether the turn's time is over: then nothing new is sent.
    fn is_over(&self) -> bool;
}

/// Events of one resource, in the order of their versions, with the results of sending them.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventGroup {
    /// The identifier of the resource's history; for a client's request, a unique identifier of the group.
    pub(crate) history_id: String,
    /// The client's request for the event, if there is one. Its result does not affect the endpoint's health: endpoints
    /// may treat pings differently.
    pub(crate) request: Option<DeliveryRequest>,
    /// Whether the resource has stalled. Other groups without a request contain the next events of the feed.
    pub(crate) is_stalled: bool,
    pub(crate) events: Vec<HistoryEntry>,
    /// The maximum number of events to send.
    pub(crate) limit: usize,
    /// The attempt number of the first event.
    pub(crate) attempt: u32,
    /// When the first event was first attempted; `None` if it was not.
    pub(crate) first_tried_at: Option<DateTime<Utc>>,
    /// Whether the resource has no further events up to the cursor.
    pub(crate) is_complete: bool,
    /// The number of events that the endpoint has accepted.
    pub(crate) accepted: usize,
    /// Why the endpoint has not accepted the next event; `None` if it was not attempted.
    pub(crate) failure: Option<DeliveryVerdict>,
    pub(crate) attempts: Vec<DeliveryAttempt>,
    /// The number of the batch that started the group.
    pub(super) batch: u32,
}

impl EventGroup {
    /// A group of the feed whose events may all be sent.
    pub(crate) fn new(history_id: String, events: Vec<HistoryEntry>, attempt: u32) -> Self {
        Self { history_id, limit: events.len(), events, attempt, ..Self::default() }
    }

    /// The numbers of the accepted events.
    pub(crate) fn accepted_numbers(&self) -> impl Iterator<Item = u64> {
        self.events[..self.accepted].iter().filter_map(|event| event.sequence)
    }

    /// The first event that was not accepted.
    pub(crate) fn next(&self) -> Option<&HistoryEntry> {
        self.events.get(self.accepted)
    }
}

/// The result of an attempt, with the history of its group.
type AttemptEnd = (String, Result<(DeliveryVerdict, DeliveryAttempt)>);

/// The requests in flight to an endpoint, across the steps of a turn.
pub(crate) struct InFlightDeliveries<'a, T> {
    transport: &'a T,
    /// The endpoint's health after this turn's attempts. Most of them are not saved yet.
    pub(crate) health: EndpointHealth,
    attempts: FuturesUnordered<BoxFuture<'a, AttemptEnd>>,
    /// The groups with an attempt in flight, by history.
    groups: BTreeMap<String, EventGroup>,
    /// The number of batches so far.
    batches: u32,
    /// The number of events that the endpoint has accepted in this turn.
    accepted: usize,
    /// Whether a batch has left hanging requests in flight.
    has_hung: bool,
    is_gone: bool,
}

impl<'a, T: EventTransport> InFlightDeliveries<'a, T> {
    pub(crate) fn new(transport: &'a T, health: EndpointHealth) -> Self {
        let attempts = FuturesUnordered::new();
        let groups = BTreeMap::new();
        Self { transport, health, attempts, groups, batches: 0, accepted: 0, has_hung: false, is_gone: false }
    }

    /// Whether an event of this resource is in flight.
    pub(crate) fn has(&self, history_id: &str) -> bool {
        self.groups.contains_key(history_id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether the endpoint has answered that it is gone and accepts no more events.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Whether the endpoint could have taken more in this turn. Not true for a slow endpoint: others wait for its turn.
    pub(crate) fn is_worth_another_turn(&self) -> bool {
        self.accepted >= PAGE || self.accepted > 0 && !self.has_hung
    }

    /// Sends groups. Returns the groups that have ended, from this and earlier batches. Hanging groups stay in flight.
    pub(crate) async fn send(
        &mut self,
        webhook: &Webhook,
        groups: Vec<EventGroup>,
    ) -> Result<Vec<EventGroup>> {
        // Wait for client requests: they stay queued until they were attempted, and would be sent twice if left in
        // flight.
        let has_requests = groups.iter().any(|group| group.request.is_some());
        let mut waiting = VecDeque::from(groups);
        let mut ended = Vec::new();
        self.batches += 1;
        loop {
            while let Some(mut group) = waiting.pop_front_if(|group| self.may_start(group)) {
                group.batch = self.batches;
                ended.extend(self.send_next(webhook, group));
            }
            let is_full = !waiting.is_empty() && !self.is_stopped();
            if !is_full && !self.groups.values().any(|group| group.batch == self.batches) {
                break;
            }
            // Keep waiting if the end of a request allows more to start, and if the endpoint may be down.
            let is_working = self.health.failing_since.is_none();
            let may_leave = is_working && !is_full && !has_requests;
            match self.next_end(webhook, may_leave.then_some(HANG_TIME)).await? {
                Some(group) => ended.push(group),
                None => {
                    self.has_hung = true;
                    break;
                }
            }
        }
        ended.extend(waiting);
        Ok(ended)
    }

    /// Marks resources with hanging events of the feed as stalled. Returns the version at which each continues.
    pub(crate) fn mark_hanging_as_stalled(&mut self) -> Vec<(String, u64)> {
        let hanging = self.groups.values_mut();
        let hanging = hanging.filter(|group| group.request.is_none() && !group.is_stalled);
        let stalled = hanging.map(|group| {
            group.is_stalled = true;
            (group.history_id.clone(), group.events.first().map_or(0, |event| event.version_after))
        });
        stalled.collect()
    }

    /// Waits for a group in flight to end. Returns `None` if none ends soon.
    pub(crate) async fn wait_for_one(&mut self, webhook: &Webhook) -> Result<Option<EventGroup>> {
        self.next_end(webhook, Some(HANG_WAIT)).await
    }

    /// Waits for all requests in flight and returns their attempts, which do not affect the endpoint's health.
    pub(crate) async fn drain(self) -> Result<Vec<DeliveryAttempt>> {
        let ended: Vec<AttemptEnd> = self.attempts.collect().await;
        let mut attempts: Vec<_> = self.groups.into_values().flat_map(|group| group.attempts).collect();
        for (_, result) in ended {
            attempts.push(result?.1);
        }
        Ok(attempts)
    }

    fn may_start(&self, group: &EventGroup) -> bool {
        let at_once = self.health.resources_at_once as usize;
        group.request.is_some() || self.groups.len() < at_once && !self.is_stopped()
    }

    fn is_stopped(&self) -> bool {
        self.is_gone || self.transport.is_over() || self.health.is_paused(self.transport.now())
    }

    /// Sends the next event of a group. Returns the group if it has ended.
    fn send_next(&mut self, webhook: &Webhook, group: EventGroup) -> Option<EventGroup> {
        let is_paused = group.request.is_none() && self.health.is_paused(self.transport.now());
        let has_ended = group.failure.is_some() || group.accepted >= group.limit;
        if has_ended || is_paused || self.transport.is_over() {
            return Some(group);
        }
        let number = if group.accepted == 0 { group.attempt } else { 1 };
        let transport = self.transport;
        let webhook = webhook.clone();
        let history_id = group.history_id.clone();
        let event = group.events[group.accepted].clone();
        self.attempts
            .push(Box::pin(async move { (history_id, transport.attempt(&webhook, &event, number).await) }));
        self.groups.insert(group.history_id.clone(), group);
        None
    }

    /// Returns the next group that ends; `None` if none does within `patience`.
    async fn next_end(
        &mut self,
        webhook: &Webhook,
        patience: Option<Duration>,
    ) -> Result<Option<EventGroup>> {
        let transport = self.transport;
        let mut timeout = pin!(async move {
            match patience {
                Some(time) => transport.wait(time).await,
                None => pending().await,
            }
        });
        loop {
            let next = select(self.attempts.next(), timeout.as_mut()).await;
            let Either::Left((Some((history_id, result)), _)) = next else { return Ok(None) };
            let (verdict, attempt) = result?;
            let Some(mut group) = self.groups.remove(&history_id) else { continue };
            self.note_attempt(&mut group, verdict, attempt);
            if let Some(mut group) = self.send_next(webhook, group) {
                // In a later batch, the cursor may have passed further events of the resource.
                group.is_complete &= group.batch == self.batches;
                self.accepted += group.accepted;
                self.is_gone |= group.failure == Some(DeliveryVerdict::Gone) && group.request.is_none();
                return Ok(Some(group));
            }
        }
    }

    fn note_attempt(&mut self, group: &mut EventGroup, verdict: DeliveryVerdict, attempt: DeliveryAttempt) {
        if group.request.is_none() {
            let first_tried_at = group.first_tried_at.filter(|_| group.accepted == 0).unwrap_or(attempt.at);
            let now = self.transport.now();
            let random = self.transport.random();
            self.health.observe(&group.history_id, verdict, first_tried_at, now, random);
        }
        group.attempts.push(attempt);
        match verdict {
            DeliveryVerdict::Accepted => group.accepted += 1,
            failure => group.failure = Some(failure),
        }
    }
}
