//! Sends the events of a batch: those of one resource one after the other, several resources at once if the endpoint bears it.

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

/// A request that takes longer hangs if nothing else is to be sent. The next steps do not wait for it.
const HANG_TIME: Duration = Duration::from_secs(2);
/// How long a turn that has nothing else to do waits for requests that hang before it looks for new events.
const HANG_WAIT: Duration = Duration::from_millis(300);

/// Sends single events, and knows the time. The simulation replaces it.
pub(crate) trait EventTransport: Sync {
    /// Sends an event, as the `number`th attempt at it.
    fn attempt(
        &self,
        webhook: &Webhook,
        event: &HistoryEntry,
        number: u32,
    ) -> impl Future<Output = Result<(DeliveryVerdict, DeliveryAttempt)>> + Send;

    /// The present moment.
    fn now(&self) -> DateTime<Utc>;

    /// A random byte.
    fn random(&self) -> u8;

    /// Waits while requests are in flight.
    fn wait(&self, time: Duration) -> impl Future<Output = ()> + Send;

    /// Whether the turn is over, so that nothing new is sent.
    fn is_over(&self) -> bool;
}

/// Events of one resource in their order, and what came of sending them.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventGroup {
    /// The identifier of the resource's history; of a request, of the group alone.
    pub(crate) history: String,
    /// The request of a client for the event. The answer says nothing about the endpoint, which may treat pings in another way.
    pub(crate) request: Option<DeliveryRequest>,
    /// Whether the resource has stalled. Other groups without a request are the next of the feed.
    pub(crate) is_stalled: bool,
    pub(crate) events: Vec<HistoryEntry>,
    /// How many of them may be sent.
    pub(crate) limit: usize,
    /// The number of the attempt at the first event.
    pub(crate) attempt: u32,
    /// When the first event was tried first; `None` before that.
    pub(crate) first_tried_at: Option<DateTime<Utc>>,
    /// Whether the resource has no event after these up to the cursor.
    pub(crate) is_complete: bool,
    /// How many events the endpoint has accepted.
    pub(crate) accepted: usize,
    /// Why the endpoint has not accepted the next event; `None` if it was not tried.
    pub(crate) failure: Option<DeliveryVerdict>,
    pub(crate) attempts: Vec<DeliveryAttempt>,
    /// The number of the batch that has started the group.
    pub(super) batch: u32,
}

impl EventGroup {
    /// A group whose events may all be sent: one of the feed, unless the caller says more.
    pub(crate) fn new(history: String, events: Vec<HistoryEntry>, attempt: u32) -> Self {
        Self { history, limit: events.len(), events, attempt, ..Self::default() }
    }

    /// The numbers of the events that the endpoint has accepted.
    pub(crate) fn accepted_numbers(&self) -> impl Iterator<Item = u64> {
        self.events[..self.accepted].iter().filter_map(|event| event.sequence)
    }

    /// The first event that was not accepted.
    pub(crate) fn next(&self) -> Option<&HistoryEntry> {
        self.events.get(self.accepted)
    }
}

/// The end of an attempt at an event of the group with this history.
type AttemptEnd = (String, Result<(DeliveryVerdict, DeliveryAttempt)>);

/// The requests that are in flight at an endpoint, over several steps of a turn.
pub(crate) struct InFlightDeliveries<'a, T> {
    transport: &'a T,
    /// The health of the endpoint by the attempts of the turn, most of them not yet in the table.
    pub(crate) health: EndpointHealth,
    attempts: FuturesUnordered<BoxFuture<'a, AttemptEnd>>,
    /// The groups that wait for these attempts, by history.
    groups: BTreeMap<String, EventGroup>,
    /// The number of batches so far.
    batches: u32,
    /// How many events the endpoint has accepted in this turn.
    accepted: usize,
    /// Whether a batch had to leave requests that hang.
    has_hung: bool,
    is_gone: bool,
}

impl<'a, T: EventTransport> InFlightDeliveries<'a, T> {
    pub(crate) fn new(transport: &'a T, health: EndpointHealth) -> Self {
        let attempts = FuturesUnordered::new();
        let groups = BTreeMap::new();
        Self { transport, health, attempts, groups, batches: 0, accepted: 0, has_hung: false, is_gone: false }
    }

    /// Whether an event of the resource is in flight.
    pub(crate) fn has(&self, history: &str) -> bool {
        self.groups.contains_key(history)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Whether the endpoint has said that it accepts nothing any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Whether the turn was short for what the endpoint takes. A turn at a slow endpoint is not: others wait behind it.
    pub(crate) fn is_worth_another_turn(&self) -> bool {
        self.accepted >= PAGE || self.accepted > 0 && !self.has_hung
    }

    /// Sends groups, and returns those that have ended, of this batch and of earlier ones. Groups that hang stay in flight.
    pub(crate) async fn send(
        &mut self,
        webhook: &Webhook,
        groups: Vec<EventGroup>,
    ) -> Result<Vec<EventGroup>> {
        // A request of a client stays queued until it was tried, so it would be sent twice if a batch left it in flight.
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
            // The turn waits while more may be started once a request ends, and at an endpoint that may be down.
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

    /// Marks resources whose events of the feed hang as stalled, and returns the version to continue at for
    /// each.
    pub(crate) fn mark_hanging_as_stalled(&mut self) -> Vec<(String, u64)> {
        let hanging = self.groups.values_mut();
        let hanging = hanging.filter(|group| group.request.is_none() && !group.is_stalled);
        let stalled = hanging.map(|group| {
            group.is_stalled = true;
            (group.history.clone(), group.events.first().map_or(0, |event| event.version_after))
        });
        stalled.collect()
    }

    /// Waits for one of the groups that are in flight. Returns `None` if none ends soon.
    pub(crate) async fn wait_for_one(&mut self, webhook: &Webhook) -> Result<Option<EventGroup>> {
        self.next_end(webhook, Some(HANG_WAIT)).await
    }

    /// Waits for the requests that are in flight, and returns the attempts. The attempts no longer count for the health of the
    /// endpoint.
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

    /// Starts the next request of a group. Returns the group if it has ended.
    fn send_next(&mut self, webhook: &Webhook, group: EventGroup) -> Option<EventGroup> {
        let is_paused = group.request.is_none() && self.health.is_paused(self.transport.now());
        let has_ended = group.failure.is_some() || group.accepted >= group.limit;
        if has_ended || is_paused || self.transport.is_over() {
            return Some(group);
        }
        let number = if group.accepted == 0 { group.attempt } else { 1 };
        let transport = self.transport;
        let webhook = webhook.clone();
        let history = group.history.clone();
        let event = group.events[group.accepted].clone();
        self.attempts
            .push(Box::pin(async move { (history, transport.attempt(&webhook, &event, number).await) }));
        self.groups.insert(group.history.clone(), group);
        None
    }

    /// The next group that ends. Returns `None` if none does within `patience`.
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
            let Either::Left((Some((history, result)), _)) = next else { return Ok(None) };
            let (verdict, attempt) = result?;
            let Some(mut group) = self.groups.remove(&history) else { continue };
            self.note_attempt(&mut group, verdict, attempt);
            if let Some(mut group) = self.send_next(webhook, group) {
                // The cursor may have passed later events of the resource since.
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
            self.health.observe(&group.history, verdict, first_tried_at, now, random);
        }
        group.attempts.push(attempt);
        match verdict {
            DeliveryVerdict::Accepted => group.accepted += 1,
            failure => group.failure = Some(failure),
        }
    }
}
