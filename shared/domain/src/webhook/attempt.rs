//! Attempts to deliver events.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::id::{AttemptId, WebhookId};
use crate::names::named;

/// How long attempts are kept, with the responses of endpoints.
const KEPT: TimeDelta = TimeDelta::days(7);

named! {
    /// The outcome of an attempt.
    pub enum DeliveryOutcome {
        /// The endpoint has accepted the event.
        Delivered = "delivered",
        /// The endpoint has not accepted the event, which is sent again later.
        Failed = "failed",
        /// The endpoint has not accepted the event, which is not sent again unless a client asks for it.
        GivenUp = "given_up",
        /// Events were deleted because of their age before they could be sent.
        Expired = "expired",
    }
}

/// An attempt to deliver a message to an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryAttempt {
    /// The identifier, which sorts attempts by time.
    pub id: AttemptId,
    /// The endpoint.
    pub webhook: WebhookId,
    /// The identifier of the event; `None` for expired events.
    pub event: Option<String>,
    /// The number of the attempt, from 1: for the event or, while the endpoint accepts nothing, since the last success.
    pub attempt: u32,
    pub outcome: DeliveryOutcome,
    /// The status of the response; `None` without a response.
    pub status_code: Option<u16>,
    /// A code for the error; `None` for responses other than 2xx, because their status says enough.
    pub error: Option<String>,
    /// The duration of the attempt.
    pub milliseconds: u32,
    /// The beginning of the response's body, if the attempt has failed.
    pub response: Option<String>,
    /// When the attempt began.
    pub at: DateTime<Utc>,
    /// When the event is sent again; `None` if it is not.
    pub next_try_at: Option<DateTime<Utc>>,
}

impl DeliveryAttempt {
    /// The first attempt at an event, which began at `at`, without a response.
    pub fn new(
        id: AttemptId,
        webhook: WebhookId,
        event: Option<String>,
        outcome: DeliveryOutcome,
        at: DateTime<Utc>,
    ) -> Self {
        Self {
            id,
            webhook,
            event,
            attempt: 1,
            outcome,
            status_code: None,
            error: None,
            milliseconds: 0,
            response: None,
            at,
            next_try_at: None,
        }
    }

    /// Records when the message is sent again, if the endpoint has not accepted it.
    pub fn repeat_at(&mut self, next_try_at: Option<DateTime<Utc>>) {
        if self.outcome == DeliveryOutcome::Failed {
            self.next_try_at = next_try_at;
        }
    }

    /// The attempt at a message that is not sent again automatically.
    pub fn given_up(self) -> Self {
        let outcome =
            if self.outcome == DeliveryOutcome::Failed { DeliveryOutcome::GivenUp } else { self.outcome };
        Self { outcome, next_try_at: None, ..self }
    }

    /// When the attempt is deleted.
    pub fn expires_at(&self) -> DateTime<Utc> {
        self.at + KEPT
    }

    /// Whether the attempt has not expired at `now`.
    pub fn is_kept(&self, now: DateTime<Utc>) -> bool {
        now < self.expires_at()
    }
}

/// A condition on attempts. Every part that is set must hold.
#[derive(Debug, Clone, Default)]
pub struct AttemptFilter {
    /// The identifier of the event.
    pub event: Option<String>,
    pub outcome: Option<DeliveryOutcome>,
}

impl AttemptFilter {
    /// Whether `attempt` meets the condition.
    pub fn wants(&self, attempt: &DeliveryAttempt) -> bool {
        self.event.as_ref().is_none_or(|event| attempt.event.as_ref() == Some(event))
            && self.outcome.is_none_or(|outcome| outcome == attempt.outcome)
    }
}
