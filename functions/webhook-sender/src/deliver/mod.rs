//! Delivers events to one endpoint.
//!
//! A turn takes steps: it reads the endpoint and the [next batch](next_batch), [sends](in_flight) it, and [records](record)
//! the results in one transaction. A process may die at any time: at worst, the events of one step are sent again, with
//! the same identifiers and in the same order.
//!
//! **Lease.** Only one turn at a time sends to an endpoint. The turn [leases](shared::work) the cursor before it sends,
//! for longer than a step can last, renews the lease with each step, and ends it when nothing is in flight or due, or
//! when its time is over.
//!
//! **Position epoch and retry epoch.** A client may change the endpoint during a step, because the API ignores the lease. The
//! step's write then fails, and is repeated after merging its result into the API's changes. Two counters in the cursor
//! tell how much of the result is still valid. `position_epoch` rises when a client sets the position: the position that the
//! step has reached is then void, as are stalled resources of earlier epochs, which a turn deletes before it sends.
//! `retry_epoch` rises when a client requests an immediate attempt, which includes setting the position: what the step has
//! learnt about the endpoint's health is then void, and all stalled resources are due. The turn waits for requests in
//! flight, saves their attempts for clients to see, and starts afresh.
//!
//! **Counts.** `EndpointHealth::failures` counts failures of the endpoint, and is reset when the endpoint accepts an
//! event. `StalledResource::tries` counts failures of one event: each rejection, and other failures only while the
//! endpoint accepts other events. The attempt number that clients see is the larger count plus 1, so it may fall when
//! another event is accepted.
//!
//! **Example:** an event that is answered with 500, 500 and 200. Its number starts a turn, which leases the cursor and
//! sends the event. After the first 500, one transaction moves the cursor past the event, saves the attempt, and saves
//! the resource as stalled with the next attempt after 5 s. Later events of the resource wait; one event of another
//! resource tests whether the endpoint is at fault. The event is sent again by the next turn: one started by another
//! event, or by the schedule up to a minute after the event is due. The second 500 delays it by a minute. After the
//! 200, the health is reset, the waiting events are sent in the order of their versions, and the stalled resource is
//! deleted. If instead the endpoint accepts another event between the two 500s, the event is at fault: its own attempts
//! count, with the pauses of `PAUSES_OF_FAULTY_EVENT`, and it is given up after the tenth. When an endpoint has
//! accepted nothing for a day, the [owners are mailed](owner_mails); after five days the webhook is disabled.

mod attempt;
mod conclude;
mod in_flight;
mod invocation;
mod next_batch;
mod owner_mails;
mod record;
#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};
use shared::domain::id::{CompanyId, WebhookId};
use shared::domain::webhook::{DeliveryCursor, DeliveryTask, EndpointHealth, next_task};
use shared::store::{DeliveryEndpoint, RetryPolicy};
use shared::{Error, Result};

pub(crate) use in_flight::EventTransport;
use in_flight::InFlightDeliveries;
pub(crate) use invocation::{ENDPOINTS, InvocationKind, SenderInvocation};
use next_batch::DeliveryBatch;

/// The maximum number of the feed's events in a step; an interrupted turn sends them again. Their attempts and stalled
/// resources fit into one transaction.
const PAGE: usize = 32;

/// How often a turn retries reading events that the index does not show yet, about every third of a second.
const INDEX_RETRIES: u32 = 10;
// The exponent for `back_off`.
const INDEX_BACK_OFF: u32 = 6;

/// The outcome of a step.
enum StepStatus {
    /// The step made progress; there may be more to do.
    Progressed,
    /// The index does not show the next events yet.
    IndexLags,
    /// The next task is due at this moment, within the turn's time.
    WaitUntil(DateTime<Utc>),
    /// The turn is over; the cursor says when the next one is due.
    Done,
}

pub(crate) struct EndpointTurn<'a> {
    invocation: &'a SenderInvocation<'a>,
    company: &'a CompanyId,
    webhook: WebhookId,
    in_flight: InFlightDeliveries<'a, SenderInvocation<'a>>,
    /// When the turn's lease ends; `None` without a lease.
    lease: Option<DateTime<Utc>>,
    /// The cursor's `retry_epoch`, as last seen by this turn.
    retry_epoch: Option<u32>,
    previous_task: Option<DeliveryTask>,
    /// Whether all void stalled resources were deleted. The next write of the cursor records it.
    has_cleaned_up: bool,
}

impl<'a> EndpointTurn<'a> {
    pub(crate) fn new(
        invocation: &'a SenderInvocation<'a>,
        company: &'a CompanyId,
        webhook: WebhookId,
    ) -> Self {
        let in_flight = InFlightDeliveries::new(invocation, EndpointHealth::default());
        Self {
            invocation,
            company,
            webhook,
            in_flight,
            lease: None,
            retry_epoch: None,
            previous_task: None,
            has_cleaned_up: false,
        }
    }

    /// Delivers until nothing is left or the time is over. Returns false if another turn holds the lease.
    pub(crate) async fn run(mut self) -> Result<bool> {
        let mut index_retries = 0;
        let mut lost = 0;
        loop {
            let Some(endpoint) = self.invocation.store().endpoint(self.company, self.webhook).await? else {
                return Ok(true);
            };
            let is_own = self.lease.is_some() && endpoint.cursor.work.leased_until == self.lease;
            if !is_own && endpoint.cursor.work.is_leased(self.invocation.now()) {
                return Ok(false);
            }
            match self.step(endpoint, index_retries < INDEX_RETRIES).await {
                Ok(StepStatus::Progressed) => (index_retries, lost) = (0, 0),
                Ok(StepStatus::IndexLags) => {
                    index_retries += 1;
                    self.invocation.store().back_off(INDEX_BACK_OFF).await;
                }
                Ok(StepStatus::WaitUntil(until)) => self.invocation.app.wait_until(until).await,
                Ok(StepStatus::Done) => return Ok(true),
                // The API or another turn has written the endpoint; read it again.
                Err(Error::Changed | Error::NotFound) if lost < RetryPolicy::CHANGE.attempts => lost += 1,
                Err(error) => return Err(error),
            }
        }
    }

    async fn step(&mut self, mut endpoint: DeliveryEndpoint, may_retry_index: bool) -> Result<StepStatus> {
        let now = self.invocation.now();
        // While the turn holds the lease, only clients reset the health and the position.
        if self.lease.is_none() || self.retry_epoch != Some(endpoint.cursor.retry_epoch) {
            let has_in_flight = !self.in_flight.is_empty();
            let former = self.take_in_flight(endpoint.cursor.health.clone());
            if has_in_flight {
                // The results belong to the former state, so save only the attempts.
                self.invocation.store().save_attempts(&former.drain().await?).await?;
                return Ok(StepStatus::Progressed);
            }
            self.retry_epoch = Some(endpoint.cursor.retry_epoch);
        }
        let idle = endpoint
            .stalled
            .iter()
            .filter(|resource| !self.in_flight.has(&resource.history_id))
            .cloned()
            .collect::<Vec<_>>();
        let DeliveryEndpoint { webhook, cursor, sequence, .. } = &endpoint;
        let next = next_task(webhook, cursor, &idle, sequence.last, now, self.previous_task);
        let next = next.filter(|_| !self.invocation.is_over());
        if let Some((_, task)) = next.filter(|(at, _)| *at <= now) {
            match self.invocation.next_batch(task, &endpoint, &idle).await? {
                Some(batch) => return self.deliver(endpoint, task, batch).await,
                None if may_retry_index && self.in_flight.is_empty() => return Ok(StepStatus::IndexLags),
                None => {}
            }
        }
        if !self.in_flight.is_empty() {
            if let Some(ended) = self.in_flight.wait_for_one(&endpoint.webhook).await? {
                self.record(&endpoint, &DeliveryBatch::default(), vec![ended]).await?;
            }
            return Ok(StepStatus::Progressed);
        }
        self.release(&mut endpoint).await?;
        // Others wait behind a turn of the stream, so it waits only for endpoints that want all events, with pauses.
        let may_wait = self.invocation.kind == InvocationKind::Schedule
            || endpoint.cursor.health.is_throttling(self.invocation.now());
        match next {
            Some((at, _)) if may_wait && at > now && at < self.invocation.until => {
                Ok(StepStatus::WaitUntil(at))
            }
            _ => {
                self.invocation.warn_or_disable(&endpoint).await?;
                Ok(StepStatus::Done)
            }
        }
    }

    /// Returns the requests in flight, and starts afresh without any.
    fn take_in_flight(&mut self, health: EndpointHealth) -> InFlightDeliveries<'a, SenderInvocation<'a>> {
        std::mem::replace(&mut self.in_flight, InFlightDeliveries::new(self.invocation, health))
    }

    async fn deliver(
        &mut self,
        mut endpoint: DeliveryEndpoint,
        task: DeliveryTask,
        mut batch: DeliveryBatch,
    ) -> Result<StepStatus> {
        if !batch.groups.is_empty() {
            // Decrypt the secrets before taking the lease: a turn that cannot decrypt them would hold it in vain, and
            // the endpoint is not at fault.
            self.invocation.store().open_signing_secrets(&endpoint.webhook, self.invocation.now()).await?;
        }
        if self.lease.is_none() {
            let until = self.invocation.lease_until();
            let leased = DeliveryCursor::clone(&endpoint.cursor).lease(until);
            endpoint.cursor = self.invocation.store().save_cursor(&endpoint.cursor, leased).await?;
            self.lease = Some(until);
        }
        if endpoint.cursor.has_void_resources {
            self.has_cleaned_up = self.invocation.store().delete_void_resources(&endpoint.cursor).await?;
        }
        self.previous_task = Some(task);
        let groups = std::mem::take(&mut batch.groups);
        let ended = self.in_flight.send(&endpoint.webhook, groups).await?;
        self.record(&endpoint, &batch, ended).await?;
        Ok(StepStatus::Progressed)
    }
}
