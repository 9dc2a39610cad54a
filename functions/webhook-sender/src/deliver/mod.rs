//! Deliveries to one endpoint.
//!
//! A run takes steps: it reads the endpoint, decides what to send next, sends it, and writes what came of it, all in one
//! transaction. A process may die anywhere: at worst, the events of one step are sent again, under the same identifiers and
//! in the same order.

mod attempt;
mod batch;
mod conclude;
mod group;
mod load;
mod record;
#[cfg(test)]
mod simulation;

use chrono::{DateTime, Utc};
use shared::domain::id::{CompanyId, WebhookId};
use shared::domain::webhook::{DeliveryCursor, DeliveryTask, StalledResource};
use shared::store::WebhookEndpoint;
use shared::{Error, Result};

use crate::sender::{EventSender, RunKind};
use batch::{DeliveryBatch, UnderWay};

/// How often a run looks again for events that the index does not show yet, with about a third of a second in between.
const LOOKS: u32 = 10;
const LOOK_PAUSE: u32 = 6;
/// How often a run reads an endpoint anew after it has lost a write.
const LOST_WRITES: u32 = 10;

/// How a run at an endpoint has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// The cursor says when the next run is due.
    Settled,
    /// Another run has the endpoint, or the API keeps writing it.
    Unserved,
}

/// How a step has ended.
enum StepEnd {
    /// Something was done; there may be more.
    Forward,
    /// The index does not show the next events yet.
    NotYet,
    /// There is something to do at this moment, within the time of the run.
    Waits(DateTime<Utc>),
    /// The run is over.
    Settled,
}

/// A run at one endpoint.
pub(crate) struct EndpointRun<'a> {
    sender: &'a EventSender<'a>,
    company: &'a CompanyId,
    webhook: WebhookId,
    under_way: UnderWay<'a, EventSender<'a>>,
    /// Until when the run has the endpoint; `None` while it has not.
    lease: Option<DateTime<Utc>>,
    /// The restarts of the cursor that the run knows of.
    restarts: Option<u32>,
    last: Option<DeliveryTask>,
    /// Whether all void stalled resources were deleted, which the next write of the cursor notes.
    has_cleaned_up: bool,
}

impl<'a> EndpointRun<'a> {
    pub(crate) fn new(sender: &'a EventSender<'a>, company: &'a CompanyId, webhook: WebhookId) -> Self {
        let under_way = UnderWay::new(sender);
        Self {
            sender,
            company,
            webhook,
            under_way,
            lease: None,
            restarts: None,
            last: None,
            has_cleaned_up: false,
        }
    }

    /// Delivers until nothing is left to do or the time is over.
    pub(crate) async fn run(mut self) -> Result<RunEnd> {
        let (mut looks, mut lost) = (0, 0);
        loop {
            let Some(endpoint) = self.sender.store().endpoint(self.company, self.webhook).await? else {
                return Ok(RunEnd::Settled);
            };
            if self.is_taken(&endpoint.cursor) {
                return Ok(RunEnd::Unserved);
            }
            match self.step(endpoint, looks < LOOKS).await {
                Ok(StepEnd::Forward) => (looks, lost) = (0, 0),
                Ok(StepEnd::NotYet) => {
                    looks += 1;
                    self.sender.store().back_off(LOOK_PAUSE).await;
                }
                Ok(StepEnd::Waits(until)) => self.sender.app.wait_until(until).await,
                Ok(StepEnd::Settled) => return Ok(RunEnd::Settled),
                // The API or another run has written the endpoint.
                Err(Error::Changed | Error::NotFound) if lost < LOST_WRITES => lost += 1,
                Err(error) => return Err(error),
            }
        }
    }

    fn is_taken(&self, cursor: &DeliveryCursor) -> bool {
        let is_own = self.lease.is_some() && cursor.leased_until == self.lease;
        !is_own && cursor.is_leased(self.sender.time())
    }

    async fn step(&mut self, mut endpoint: WebhookEndpoint, may_look: bool) -> Result<StepEnd> {
        let now = self.sender.time();
        // While the run has the endpoint, only a client changes what is known about it, and where deliveries go on.
        if self.lease.is_none() || self.restarts != Some(endpoint.cursor.restarts) {
            if !self.under_way.is_empty() {
                // What is under way belongs to the former state.
                let attempts = self.under_way.drain().await?;
                self.sender.store().save_attempts(&attempts).await?;
                return Ok(StepEnd::Forward);
            }
            self.restarts = Some(endpoint.cursor.restarts);
            self.under_way = UnderWay::new(self.sender);
            *self.under_way.health.lock() = endpoint.cursor.health.clone();
        }
        let next = self.next_task(&endpoint, now).filter(|_| !self.sender.is_over());
        if let Some((_, task)) = next.filter(|(at, _)| *at <= now) {
            let under_way = self.under_way.resources();
            match self.sender.load(task, &endpoint, &under_way).await? {
                Some(batch) => return self.deliver(endpoint, task, batch).await,
                None if may_look && self.under_way.is_empty() => return Ok(StepEnd::NotYet),
                None => {}
            }
        }
        if !self.under_way.is_empty() {
            if let Some(ended) = self.under_way.wait_for_one().await? {
                self.record(&endpoint, &DeliveryBatch::default(), vec![ended]).await?;
            }
            return Ok(StepEnd::Forward);
        }
        self.release(&mut endpoint).await?;
        match next {
            Some((at, _)) if at > now && at < self.sender.until && self.may_wait(&endpoint.cursor) => {
                Ok(StepEnd::Waits(at))
            }
            _ => {
                self.sender.judge(endpoint).await?;
                Ok(StepEnd::Settled)
            }
        }
    }

    /// Whether the run waits for what is due within its time. Others wait behind a run of the stream, so it does only for
    /// endpoints that want all events, with pauses.
    fn may_wait(&self, cursor: &DeliveryCursor) -> bool {
        self.sender.kind == RunKind::Schedule || cursor.health.is_throttling(self.sender.time())
    }

    /// What to do next, but with resources whose events are under way.
    fn next_task(
        &self,
        endpoint: &WebhookEndpoint,
        now: DateTime<Utc>,
    ) -> Option<(DateTime<Utc>, DeliveryTask)> {
        if self.under_way.is_empty() {
            return endpoint.next_task(now, self.last);
        }
        let mut idle = endpoint.clone();
        idle.stalled.retain(|one: &StalledResource| !self.under_way.has(&one.history));
        idle.next_task(now, self.last)
    }

    async fn deliver(
        &mut self,
        mut endpoint: WebhookEndpoint,
        task: DeliveryTask,
        mut batch: DeliveryBatch,
    ) -> Result<StepEnd> {
        if self.lease.is_none() {
            let until = self.sender.lease_end();
            let leased = DeliveryCursor::clone(&endpoint.cursor).with_lease(until);
            endpoint.cursor = self.sender.store().save_cursor(&endpoint.cursor, leased).await?;
            self.lease = Some(until);
        }
        if endpoint.cursor.has_void_resources {
            self.has_cleaned_up = self.sender.store().delete_void_resources(&endpoint.cursor).await?;
        }
        self.last = Some(task);
        let groups = std::mem::take(&mut batch.groups);
        let reports = self.under_way.send(&endpoint.webhook, groups).await?;
        self.record(&endpoint, &batch, reports).await?;
        Ok(StepEnd::Forward)
    }

    /// Gives the endpoint back, and notes when the next run is due.
    async fn release(&mut self, endpoint: &mut WebhookEndpoint) -> Result<()> {
        let now = self.sender.time();
        let next_run_at = endpoint.next_task(now, None).map(|(at, _)| at);
        let released = self.give_back(DeliveryCursor::clone(&endpoint.cursor), next_run_at);
        if released != *endpoint.cursor {
            endpoint.cursor = self.sender.store().save_cursor(&endpoint.cursor, released).await?;
        }
        self.lease = None;
        Ok(())
    }

    /// Ends the lease. A run of the stream that was too short has the stream start another one, which lets others in before.
    fn give_back(&self, cursor: DeliveryCursor, next_run_at: Option<DateTime<Utc>>) -> DeliveryCursor {
        let now = self.sender.time();
        let cursor = cursor.without_lease(next_run_at, now);
        let is_cut_off =
            |at: DateTime<Utc>| at.max(now) >= self.sender.until && at < now + RunKind::Stream.time();
        let goes_on = self.sender.kind == RunKind::Stream
            && next_run_at.is_some_and(is_cut_off)
            && self.under_way.is_worth_another_run();
        DeliveryCursor { wakes_sender: goes_on, ..cursor }
    }
}
