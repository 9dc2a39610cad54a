//! Events of one resource, sent one after the other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use shared::Result;
use shared::domain::history::HistoryEntry;
use shared::domain::webhook::{
    DeliveryAttempt, DeliveryRequest, DeliveryVerdict, EndpointHealth, ObservedAttempt, Webhook,
};

/// Why a group is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum GroupOrigin {
    /// A client has asked for it. The answer says nothing about the endpoint, which may treat pings in another way.
    Request(DeliveryRequest),
    /// Its events are the next of the feed.
    Feed,
    /// Its resource has stalled.
    Stalled,
}

/// Events of one resource, in their order.
#[derive(Debug, Clone)]
pub(crate) struct EventGroup {
    /// The identifier of the resource's history; of a request, of the group alone.
    pub(crate) history: String,
    pub(crate) origin: GroupOrigin,
    pub(crate) events: Vec<HistoryEntry>,
    /// How many of them may be sent.
    pub(crate) limit: usize,
    /// The number of the attempt at the first event.
    pub(crate) attempt: u32,
    /// When the first event was tried first; `None` before that.
    pub(crate) first_tried_at: Option<DateTime<Utc>>,
    /// Whether the resource has no event after these up to the cursor.
    pub(crate) is_complete: bool,
}

impl EventGroup {
    /// A group of the feed, all of which may be sent.
    pub(crate) fn new(history: String, events: Vec<HistoryEntry>, attempt: u32) -> Self {
        let (limit, origin) = (events.len(), GroupOrigin::Feed);
        Self { history, origin, events, limit, attempt, first_tried_at: None, is_complete: false }
    }

    pub(crate) fn is_request(&self) -> bool {
        matches!(self.origin, GroupOrigin::Request(_))
    }
}

/// An attempt that was not accepted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupFailure {
    pub(crate) verdict: DeliveryVerdict,
    pub(crate) started_at: DateTime<Utc>,
}

/// What came of sending a group.
#[derive(Debug)]
pub(crate) struct GroupReport {
    pub(crate) group: EventGroup,
    /// How many events the endpoint has accepted.
    pub(crate) accepted: usize,
    /// Why it has not accepted the next one; `None` if that was not tried.
    pub(crate) failure: Option<GroupFailure>,
    pub(crate) attempts: Vec<DeliveryAttempt>,
}

impl GroupReport {
    /// A group none of which was sent.
    pub(crate) fn unsent(group: EventGroup) -> Self {
        Self { group, accepted: 0, failure: None, attempts: Vec::new() }
    }

    /// The numbers of the events that the endpoint has accepted.
    pub(crate) fn accepted_numbers(&self) -> impl Iterator<Item = u64> {
        self.group.events[..self.accepted].iter().filter_map(|event| event.sequence)
    }

    /// The first event that was not accepted.
    pub(crate) fn next(&self) -> Option<&HistoryEntry> {
        self.group.events.get(self.accepted)
    }
}

/// What all groups that are under way at an endpoint know about it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedHealth(Arc<Mutex<EndpointHealth>>);

impl SharedHealth {
    pub(crate) fn lock(&self) -> MutexGuard<'_, EndpointHealth> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends single events, and knows the time.
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
    fn chance(&self) -> u8;

    /// Waits for requests that are under way.
    fn wait(&self, time: Duration) -> impl Future<Output = ()> + Send;

    /// Whether nothing new is to be sent in this run.
    fn is_late(&self) -> bool;
}

/// Sends a group until an event is not accepted, or the endpoint is to be left alone.
pub(crate) async fn send_group(
    transport: &impl EventTransport,
    webhook: &Webhook,
    group: EventGroup,
    health: &SharedHealth,
) -> Result<GroupReport> {
    let mut report = GroupReport::unsent(group);
    let is_request = report.group.is_request();
    while report.accepted < report.group.limit && !transport.is_late() {
        let started_at = transport.now();
        if !is_request && health.lock().is_paused(started_at) {
            break;
        }
        let is_first = report.accepted == 0;
        let number = if is_first { report.group.attempt } else { 1 };
        let event = &report.group.events[report.accepted];
        let (verdict, attempt) = transport.attempt(webhook, event, number).await?;
        if !is_request {
            let first_tried_at = report.group.first_tried_at.filter(|_| is_first).unwrap_or(started_at);
            let (history, ended_at) = (report.group.history.as_str(), transport.now());
            let observed = ObservedAttempt { history, verdict, first_tried_at, ended_at };
            health.lock().observe(observed, transport.chance());
        }
        report.attempts.push(attempt);
        if verdict != DeliveryVerdict::Accepted {
            report.failure = Some(GroupFailure { verdict, started_at });
            break;
        }
        report.accepted += 1;
    }
    Ok(report)
}
