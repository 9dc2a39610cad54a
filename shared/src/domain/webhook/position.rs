//! How far the deliveries to an endpoint have come.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::Refusal;
use crate::domain::id::{CompanyId, WebhookId};
use crate::domain::rate::Unsent;

/// The most orders that wait at a time.
pub const MAX_ORDERS: usize = 10;
/// Ten orders are waiting.
pub const TOO_MANY_ORDERS: Refusal = Refusal {
    code: "too_many_orders",
    detail: "Ten pings and repetitions of this webhook are waiting. Try again once they have been sent.",
};
/// The time between two pings.
const PING_PAUSE: TimeDelta = TimeDelta::seconds(10);

/// Something to send to an endpoint besides the feed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Order {
    /// A test event.
    Ping {
        /// When it was asked for.
        at: DateTime<Utc>,
    },
    /// An event that was sent before.
    Event {
        /// Its identifier.
        event: String,
    },
}

/// How far the deliveries to an endpoint have come: everything that they need to know besides the endpoint itself.
///
/// The sender writes it while it holds the lease. The API writes it at any time: every write depends on the version that
/// it has read, so the sender notices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The endpoint.
    pub webhook: WebhookId,
    /// Its company.
    pub company: CompanyId,
    /// The number of the last event that the deliveries have passed.
    pub after: u64,
    /// How often a client has set `after`. Lanes of earlier epochs are void.
    #[serde(default)]
    pub epoch: u32,
    /// How often a client has had the endpoint tried at once, whatever has failed before.
    #[serde(default)]
    pub restarts: u32,
    /// Whether a client has asked for something that no run has taken up. The table's stream starts one then, and for no
    /// write of the sender's own.
    #[serde(default)]
    pub wakes: bool,
    /// Until when a run of the sender has the endpoint to itself.
    pub leased_until: Option<DateTime<Utc>>,
    /// When the schedule starts a run, unless something else does before; none while there is nothing to do.
    pub run_at: Option<DateTime<Utc>>,
    /// The number of failures since the last success of an endpoint that is down.
    #[serde(default)]
    pub failures: u32,
    /// When the first of these was.
    pub failing_since: Option<DateTime<Utc>>,
    /// Before when the endpoint is left alone: while it is down, or because it has asked for a pause.
    pub next_try_at: Option<DateTime<Utc>>,
    /// When the owners were told that it is down.
    pub warned_at: Option<DateTime<Utc>>,
    /// The last success.
    pub last_delivery_at: Option<DateTime<Utc>>,
    /// The number of lanes.
    #[serde(default)]
    pub lanes: u32,
    /// What to send besides, the oldest first.
    #[serde(default)]
    pub orders: Vec<Order>,
    /// The last ping.
    pub pinged_at: Option<DateTime<Utc>>,
}

impl Position {
    /// The position of a new endpoint, which is sent the events after number `after`.
    pub fn new(webhook: WebhookId, company: CompanyId, after: u64, now: DateTime<Utc>) -> Self {
        Self {
            webhook,
            company,
            after,
            epoch: 0,
            restarts: 0,
            wakes: true,
            leased_until: None,
            run_at: Some(now),
            failures: 0,
            failing_since: None,
            next_try_at: None,
            warned_at: None,
            last_delivery_at: None,
            lanes: 0,
            orders: Vec::new(),
            pinged_at: None,
        }
    }

    /// The position with the sender started at `now`.
    fn woken(self, now: DateTime<Utc>) -> Self {
        Self { run_at: Some(now), wakes: true, ..self }
    }

    /// The position of an endpoint that no longer counts as down.
    pub(super) fn calmed(self) -> Self {
        Self { failures: 0, failing_since: None, next_try_at: None, warned_at: None, ..self }
    }

    /// The position of an endpoint that is tried again at once, with its lanes, whatever has failed.
    pub fn resumed(self, now: DateTime<Utc>) -> Self {
        Self { restarts: self.restarts + 1, ..self.calmed() }.woken(now)
    }

    /// The position right after event number `after`, which may have been passed before.
    pub fn set(self, after: u64, now: DateTime<Utc>) -> Self {
        Self { after, epoch: self.epoch + 1, lanes: 0, ..self }.resumed(now)
    }

    /// The position with a ping to send. Fails with [`TOO_MANY_ORDERS`], and within ten seconds of the last ping.
    pub fn pinged(self, now: DateTime<Utc>) -> Result<Self, Unsent> {
        let wait = self.pinged_at.map(|last| last + PING_PAUSE - now);
        match wait.filter(|wait| *wait > TimeDelta::zero()) {
            Some(wait) => Err(Unsent::TooMany(wait)),
            None => Ok(Self { pinged_at: Some(now), ..self }.ordered(Order::Ping { at: now }, now)?),
        }
    }

    /// The position with something to send besides the feed; the same if that waits already. Fails with
    /// [`TOO_MANY_ORDERS`].
    pub fn ordered(mut self, order: Order, now: DateTime<Utc>) -> Result<Self, Refusal> {
        if !self.orders.contains(&order) {
            if self.orders.len() >= MAX_ORDERS {
                return Err(TOO_MANY_ORDERS);
            }
            self.orders.push(order);
        }
        Ok(self.woken(now))
    }

    /// How many events of a feed with this `latest` number the deliveries have not passed.
    pub fn behind(&self, latest: u64) -> u64 {
        latest.saturating_sub(self.after)
    }
}
