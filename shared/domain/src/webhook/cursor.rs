//! The progress of the deliveries to an endpoint.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::health::EndpointHealth;
use crate::Refusal;
use crate::id::{CompanyId, WebhookId};
use crate::mail::rate::RefusedOrThrottled;
use crate::work::WorkState;

/// The maximum number of clients' requests that are queued for a webhook.
pub const MAX_QUEUED: usize = 10;
/// Ten requests of clients are queued.
pub const QUEUE_FULL: Refusal = Refusal {
    code: "queue_full",
    detail: "Ten pings or repeated events of this webhook are already queued. Try again when they have been sent.",
};
/// The minimum time between two pings.
const PING_PAUSE: TimeDelta = TimeDelta::seconds(10);
/// The minimum time between two changes of the position.
// Each change may cause the whole feed to be sent again.
const MOVE_PAUSE: TimeDelta = TimeDelta::minutes(1);

/// A delivery that a client has requested, in addition to the feed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum DeliveryRequest {
    /// A test event.
    Ping { at: DateTime<Utc> },
    /// An event that was sent before.
    Event {
        /// The identifier of the event.
        event: String,
    },
}

/// The progress of the deliveries to an endpoint: everything that the sender needs besides the webhook itself and the stalled resources.
///
/// The sender writes it while it holds the lease, the API at any time. Every write is conditional on the version that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryCursor {
    /// The endpoint.
    pub webhook: WebhookId,
    pub company: CompanyId,
    /// The number of the last event that the deliveries have passed: it was accepted, given up or not wanted, or its
    /// resource has stalled.
    pub after: u64,
    /// The numbers after `after` of events that were already accepted.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub accepted: BTreeSet<u64>,
    /// How often clients have set `after`. Stalled resources of earlier epochs are void.
    pub position_epoch: u32,
    /// When a client last set `after`.
    pub moved_at: Option<DateTime<Utc>>,
    /// How often clients have had the endpoint tried at once, regardless of earlier failures.
    pub retry_epoch: u32,
    /// Whether the table's stream must start a turn: a client has requested something, or the last turn was too short for
    /// everything that the endpoint would accept.
    pub wakes_sender: bool,
    /// When the schedule starts a turn, unless the stream starts one earlier, and until when a turn has leased the endpoint.
    pub work: WorkState,
    /// The health of the endpoint.
    pub health: EndpointHealth,
    /// The number of stalled resources.
    pub stalled_count: u32,
    /// Whether void stalled resources have yet to be deleted.
    pub has_void_resources: bool,
    /// The deliveries that clients have requested, oldest first.
    pub requests: Vec<DeliveryRequest>,
    /// When the last ping was requested.
    pub pinged_at: Option<DateTime<Utc>>,
}

impl DeliveryCursor {
    /// The cursor of a new endpoint, which gets the events after number `after`.
    pub fn new(webhook: WebhookId, company: CompanyId, after: u64, now: DateTime<Utc>) -> Self {
        Self {
            webhook,
            company,
            after,
            accepted: BTreeSet::new(),
            position_epoch: 0,
            moved_at: None,
            retry_epoch: 0,
            wakes_sender: true,
            work: WorkState::due(now),
            health: EndpointHealth::default(),
            stalled_count: 0,
            has_void_resources: false,
            requests: Vec::new(),
            pinged_at: None,
        }
    }

    /// The cursor of a disabled endpoint that got the events up to number `after` from another deployment.
    pub fn at_rest(webhook: WebhookId, company: CompanyId, after: u64, now: DateTime<Utc>) -> Self {
        Self { wakes_sender: false, work: WorkState::IDLE, ..Self::new(webhook, company, after, now) }
    }

    /// Makes a turn due at `now`, and has the table's stream start it at once.
    fn wake(self, now: DateTime<Utc>) -> Self {
        Self { work: self.work.wake(now), wakes_sender: true, ..self }
    }

    /// Makes the endpoint and its stalled resources due at once, regardless of earlier failures.
    pub fn resume(self, now: DateTime<Utc>) -> Self {
        let last_accepted_at = self.health.last_accepted_at;
        // Failures of the former address neither delay nor disable the new one.
        let health = EndpointHealth { last_accepted_at, ..EndpointHealth::default() };
        Self { retry_epoch: self.retry_epoch + 1, health, ..self }.wake(now)
    }

    /// Moves the position to event number `after`, which the deliveries may have passed. Fails within a minute of the last change.
    pub fn move_to(self, after: u64, now: DateTime<Utc>) -> Result<Self, RefusedOrThrottled> {
        if let Some(wait) = remaining(self.moved_at, MOVE_PAUSE, now) {
            return Err(RefusedOrThrottled::TooMany(wait));
        }
        let has_void_resources = self.has_void_resources || self.stalled_count > 0;
        // A new `position_epoch` voids the stalled resources. Otherwise, their events would be sent twice: by their retries and by the
        // repeated feed.
        let accepted = BTreeSet::new();
        let position_epoch = self.position_epoch + 1;
        let moved = Self {
            after,
            accepted,
            position_epoch,
            moved_at: Some(now),
            stalled_count: 0,
            has_void_resources,
            ..self
        };
        Ok(moved.resume(now))
    }

    /// Adds a ping. Fails with [`QUEUE_FULL`], and within ten seconds of the last ping.
    pub fn add_ping(self, now: DateTime<Utc>) -> Result<Self, RefusedOrThrottled> {
        match remaining(self.pinged_at, PING_PAUSE, now) {
            Some(wait) => Err(RefusedOrThrottled::TooMany(wait)),
            None => {
                Ok(Self { pinged_at: Some(now), ..self }
                    .add_request(DeliveryRequest::Ping { at: now }, now)?)
            }
        }
    }

    /// Queues a request, unless it is already queued. Fails with [`QUEUE_FULL`].
    pub fn add_request(mut self, request: DeliveryRequest, now: DateTime<Utc>) -> Result<Self, Refusal> {
        if !self.requests.contains(&request) {
            // Requests are in the cursor instead of a queue of their own: the sender's writes are conditional on the cursor's
            // version, so it cannot miss them.
            if self.requests.len() >= MAX_QUEUED {
                return Err(QUEUE_FULL);
            }
            self.requests.push(request);
        }
        Ok(self.wake(now))
    }

    /// Makes a turn due at `now`, unless one is due earlier.
    pub fn wake_by(self, now: DateTime<Utc>) -> Self {
        let due_at = self.work.due_at.map_or(now, |at| at.min(now));
        Self { work: self.work.wake(due_at), ..self }
    }

    /// The number of events that the deliveries have not passed, in a feed whose last event has the number `latest`.
    pub fn behind(&self, latest: u64) -> u64 {
        latest.saturating_sub(self.after)
    }

    /// Leases the endpoint to a turn until `until`.
    pub fn lease(self, until: DateTime<Utc>) -> Self {
        Self { work: WorkState::leased(until), wakes_sender: false, ..self }
    }

    /// Ends the lease. The next turn is due at `next_turn_at`. An overdue turn keeps its due time, so that it is not served last again.
    pub fn release(self, next_turn_at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Self {
        let earliest = self.work.due_at.filter(|due| *due <= now).unwrap_or(now);
        let due_at = next_turn_at.map(|at| at.max(earliest));
        Self { work: WorkState { due_at, ..WorkState::IDLE }, wakes_sender: false, ..self }
    }

    /// Merges the result of a step, which began with `before`, into `meanwhile`: the cursor with the changes that the API made
    /// during the step. If a client has set the position, drops the progress of the step; if a client has had the endpoint tried
    /// at once, drops the health that the step has found.
    pub fn merge_api_changes(self, before: &Self, meanwhile: Self) -> Self {
        let mut requests = meanwhile.requests;
        requests.retain(|request| self.requests.contains(request) || !before.requests.contains(request));
        let is_moved = meanwhile.position_epoch != before.position_epoch;
        let is_retried = meanwhile.retry_epoch != before.retry_epoch;
        Self {
            after: if is_moved { meanwhile.after } else { self.after },
            accepted: if is_moved { meanwhile.accepted } else { self.accepted },
            stalled_count: if is_moved { meanwhile.stalled_count } else { self.stalled_count },
            health: if is_retried { meanwhile.health } else { self.health },
            has_void_resources: if is_moved { meanwhile.has_void_resources } else { self.has_void_resources },
            position_epoch: meanwhile.position_epoch,
            moved_at: meanwhile.moved_at,
            retry_epoch: meanwhile.retry_epoch,
            work: WorkState { due_at: meanwhile.work.due_at, ..self.work },
            pinged_at: meanwhile.pinged_at,
            requests,
            ..self
        }
    }
}

/// The time that remains at `now` of a pause that began at `last`; `None` once it is over.
fn remaining(last: Option<DateTime<Utc>>, pause: TimeDelta, now: DateTime<Utc>) -> Option<TimeDelta> {
    last.map(|last| last + pause - now).filter(|wait| *wait > TimeDelta::zero())
}
