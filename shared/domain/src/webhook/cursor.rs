//! How far the deliveries to an endpoint have come.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::health::EndpointHealth;
use crate::Refusal;
use crate::id::{CompanyId, WebhookId};
use crate::mail::rate::RefusedOrThrottled;
use crate::work::WorkState;

/// The most requests of clients that are queued at a time.
pub const MAX_QUEUED: usize = 10;
/// Ten requests of clients are queued.
pub const QUEUE_FULL: Refusal = Refusal {
    code: "queue_full",
    detail: "Ten pings or repeated events of this webhook are already queued. Try again when they have been sent.",
};
/// The time between two pings.
const PING_PAUSE: TimeDelta = TimeDelta::seconds(10);
/// The time between two changes of the position.
// Each change may send the whole feed again.
const MOVE_PAUSE: TimeDelta = TimeDelta::minutes(1);

/// A delivery that a client has requested, besides the feed.
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

/// How far the deliveries to an endpoint have come: everything that the sender needs to know besides the webhook itself
/// and the stalled resources.
///
/// The sender writes it while it holds the lease, the API at any time. Every write depends on the version that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryCursor {
    /// The endpoint.
    pub webhook: WebhookId,
    pub company: CompanyId,
    /// The number of the last event that the deliveries have passed: it was accepted, given up or not wanted, or its
    /// resource has stalled.
    pub after: u64,
    /// The numbers after that of events that were accepted already.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub accepted: BTreeSet<u64>,
    /// How often a client has set `after`. Stalled resources of earlier epochs are void.
    pub epoch: u32,
    /// The last time that a client moved the position.
    pub moved_at: Option<DateTime<Utc>>,
    /// How often a client has had the endpoint tried at once, whatever has failed before.
    pub restarts: u32,
    /// Whether the table's stream is to start a turn: a client has asked for something, or a turn was too short for what the
    /// endpoint takes.
    pub wakes_sender: bool,
    /// When the schedule starts a turn, unless something else does before, and until when a turn has the endpoint to itself.
    pub work: WorkState,
    /// How the endpoint is doing.
    pub health: EndpointHealth,
    /// The number of stalled resources.
    pub stalled: u32,
    /// Whether void stalled resources are still to be deleted.
    pub has_void_resources: bool,
    /// The deliveries that clients have requested, the oldest first.
    pub requests: Vec<DeliveryRequest>,
    /// The last ping.
    pub pinged_at: Option<DateTime<Utc>>,
}

impl DeliveryCursor {
    /// The cursor of a new endpoint, which is sent the events after number `after`.
    pub fn new(webhook: WebhookId, company: CompanyId, after: u64, now: DateTime<Utc>) -> Self {
        Self {
            webhook,
            company,
            after,
            accepted: BTreeSet::new(),
            epoch: 0,
            moved_at: None,
            restarts: 0,
            wakes_sender: true,
            work: WorkState::due(now),
            health: EndpointHealth::default(),
            stalled: 0,
            has_void_resources: false,
            requests: Vec::new(),
            pinged_at: None,
        }
    }

    /// The cursor of an endpoint that is disabled and was sent the events up to number `after` elsewhere.
    pub fn at_rest(webhook: WebhookId, company: CompanyId, after: u64, now: DateTime<Utc>) -> Self {
        Self { wakes_sender: false, work: WorkState::IDLE, ..Self::new(webhook, company, after, now) }
    }

    /// Makes a turn due at `now`, and has the table's stream start it at once.
    fn wake(self, now: DateTime<Utc>) -> Self {
        Self { work: self.work.wake(now), wakes_sender: true, ..self }
    }

    /// Has the endpoint and its stalled resources tried at once, whatever has failed.
    pub fn resume(self, now: DateTime<Utc>) -> Self {
        let last_accepted_at = self.health.last_accepted_at;
        // Failures of the former address neither delay nor disable the new one.
        let health = EndpointHealth { last_accepted_at, ..EndpointHealth::default() };
        Self { restarts: self.restarts + 1, health, ..self }.wake(now)
    }

    /// Goes on right after event number `after`, which may have been passed before. Fails within a minute of the last
    /// change.
    pub fn move_to(self, after: u64, now: DateTime<Utc>) -> Result<Self, RefusedOrThrottled> {
        if let Some(wait) = remaining(self.moved_at, MOVE_PAUSE, now) {
            return Err(RefusedOrThrottled::TooMany(wait));
        }
        let has_void_resources = self.has_void_resources || self.stalled > 0;
        // A new epoch voids the stalled resources, or their events would be sent by these and by the repetition.
        let accepted = BTreeSet::new();
        let epoch = self.epoch + 1;
        let moved =
            Self { after, accepted, epoch, moved_at: Some(now), stalled: 0, has_void_resources, ..self };
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

    /// Adds something to send besides the feed, unless it waits already. Fails with [`QUEUE_FULL`].
    pub fn add_request(mut self, request: DeliveryRequest, now: DateTime<Utc>) -> Result<Self, Refusal> {
        if !self.requests.contains(&request) {
            // Requests are in the cursor instead of a queue of their own: each write depends on the version, so the sender cannot
            // miss them.
            if self.requests.len() >= MAX_QUEUED {
                return Err(QUEUE_FULL);
            }
            self.requests.push(request);
        }
        Ok(self.wake(now))
    }

    /// Starts the sender at `now` unless it starts earlier.
    pub fn wake_by(self, now: DateTime<Utc>) -> Self {
        let due_at = self.work.due_at.map_or(now, |at| at.min(now));
        Self { work: self.work.wake(due_at), ..self }
    }

    /// How many events of a feed with this `latest` number the deliveries have not passed.
    pub fn behind(&self, latest: u64) -> u64 {
        latest.saturating_sub(self.after)
    }

    /// Leases the endpoint to a turn until a moment.
    pub fn lease(self, until: DateTime<Utc>) -> Self {
        Self { work: WorkState::leased(until), wakes_sender: false, ..self }
    }

    /// Ends the lease. The next turn is due at `next_turn_at`. An overdue turn keeps its due time, so that it is
    /// not served last again.
    pub fn release(self, next_turn_at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Self {
        let earliest = self.work.due_at.filter(|due| *due <= now).unwrap_or(now);
        let due_at = next_turn_at.map(|at| at.max(earliest));
        Self { work: WorkState { due_at, ..WorkState::IDLE }, wakes_sender: false, ..self }
    }

    /// Merges what a step has made of `before` into `meanwhile`, what the API has made of it during the step. Once a
    /// client has set the position, it does not matter how far the step has come; and once a client has had the endpoint
    /// tried at once, what the step has found out about it.
    pub fn merge_api_changes(self, before: &Self, meanwhile: Self) -> Self {
        let mut requests = meanwhile.requests;
        requests.retain(|request| self.requests.contains(request) || !before.requests.contains(request));
        let is_moved = meanwhile.epoch != before.epoch;
        let is_restarted = meanwhile.restarts != before.restarts;
        Self {
            after: if is_moved { meanwhile.after } else { self.after },
            accepted: if is_moved { meanwhile.accepted } else { self.accepted },
            stalled: if is_moved { meanwhile.stalled } else { self.stalled },
            health: if is_restarted { meanwhile.health } else { self.health },
            has_void_resources: if is_moved { meanwhile.has_void_resources } else { self.has_void_resources },
            epoch: meanwhile.epoch,
            moved_at: meanwhile.moved_at,
            restarts: meanwhile.restarts,
            work: WorkState { due_at: meanwhile.work.due_at, ..self.work },
            pinged_at: meanwhile.pinged_at,
            requests,
            ..self
        }
    }
}

/// The rest at `now` of a pause that began at `last`; `None` once it is over.
fn remaining(last: Option<DateTime<Utc>>, pause: TimeDelta, now: DateTime<Utc>) -> Option<TimeDelta> {
    last.map(|last| last + pause - now).filter(|wait| *wait > TimeDelta::zero())
}
