//! Writes the results of a step to the table.

use chrono::{DateTime, Utc};
use shared::domain::webhook::{DeliveryCursor, DisabledReason, Webhook, WebhookMail, next_task};
use shared::store::{DeliveryEndpoint, DeliveryProgress, RetryPolicy};
use shared::{Error, Result};

use super::EndpointTurn;
use super::conclude::{conclude, stall};
use super::in_flight::{EventGroup, EventTransport as _};
use super::invocation::InvocationKind;
use super::next_batch::DeliveryBatch;

/// The maximum number of attempts in a step's transaction. It also holds up to 40 stalled resources (of a page and of
/// requests in flight), the cursor, the webhook, its history and 20 mails to owners: less than 100 writes together.
const MAX_ATTEMPTS: usize = 30;

impl EndpointTurn<'_> {
    /// Writes the results of a step that has read `before`. Renews the lease while a request is in flight or an event
    /// is due. Fails with [`Error::Changed`] if another turn holds the lease.
    pub(super) async fn record(
        &mut self,
        before: &DeliveryEndpoint,
        batch: &DeliveryBatch,
        ended: Vec<EventGroup>,
    ) -> Result<()> {
        let now = self.invocation.now();
        let mut result = DeliveryProgress::of(before);
        result.cursor.health = self.in_flight.health.clone();
        conclude(&mut result, batch, ended, now, self.invocation.random());
        // Save the rest separately: groups of earlier steps may have ended too, and a transaction is limited to 100
        // writes.
        let more = result.attempts.split_off(result.attempts.len().min(MAX_ATTEMPTS));
        self.invocation.store().save_attempts(&more).await?;
        for (history_id, version) in self.in_flight.mark_hanging_as_stalled() {
            stall(&mut result, history_id, version, now);
        }
        result.cursor.has_void_resources &= !std::mem::take(&mut self.has_cleaned_up);
        let mut present = before.clone();
        for _ in 0..RetryPolicy::CHANGE.attempts {
            let mut progress = merge_api_changes(&result, before, &present, now);
            if self.in_flight.is_gone() && before.cursor.retry_epoch == present.cursor.retry_epoch {
                progress.webhook = progress.webhook.disabled(DisabledReason::Gone);
            }
            progress.cursor = self.renew_or_end_lease(&progress, present.sequence.last);
            if progress.webhook.disabled_reason != present.webhook.disabled_reason {
                progress.effects = self
                    .invocation
                    .mails_to_owners(&present, &progress.webhook, WebhookMail::Disabled)
                    .await?;
            }
            let lease = progress.cursor.work.leased_until;
            match self
                .invocation
                .system
                .commit(self.invocation.store().record_progress(&present, &progress))
                .await
            {
                Err(Error::Changed | Error::NotFound) => {}
                settled => {
                    settled?;
                    self.lease = lease;
                    return Ok(());
                }
            }
            // The API has written the endpoint, or the lease has ended and another turn holds it.
            match self.invocation.store().endpoint(self.company, self.webhook).await? {
                Some(fresh) if fresh.cursor.work.leased_until == before.cursor.work.leased_until => {
                    present = fresh
                }
                _ => break,
            }
        }
        // The requests in flight belong to a state that the table no longer holds.
        self.lease = None;
        self.take_in_flight(before.cursor.health.clone());
        Err(Error::Changed)
    }

    /// Renews the lease while a request is in flight or an event is due; otherwise ends it.
    fn renew_or_end_lease(&self, progress: &DeliveryProgress, latest: u64) -> DeliveryCursor {
        let now = self.invocation.now();
        let cursor = progress.cursor.clone();
        let next = next_task(&progress.webhook, &cursor, &progress.stalled, latest, now, self.previous_task);
        let goes_on = !self.in_flight.is_empty() || next.is_some_and(|(at, _)| at <= now);
        if goes_on && !self.invocation.is_over() {
            cursor.lease(self.invocation.lease_until())
        } else if self.in_flight.is_empty() {
            self.end_lease(cursor, next.map(|(at, _)| at))
        } else {
            cursor
        }
    }

    /// Ends the lease in the table, and saves when the next turn is due.
    pub(super) async fn release(&mut self, endpoint: &mut DeliveryEndpoint) -> Result<()> {
        let next = endpoint.next_task(self.invocation.now(), None).map(|(at, _)| at);
        let released = self.end_lease(DeliveryCursor::clone(&endpoint.cursor), next);
        if released != *endpoint.cursor {
            endpoint.cursor = self.invocation.store().save_cursor(&endpoint.cursor, released).await?;
        }
        self.lease = None;
        Ok(())
    }

    /// Ends the lease. If a turn of the stream ran out of time, its write makes the stream start another turn, after
    /// waiting records.
    fn end_lease(&self, cursor: DeliveryCursor, next_turn_at: Option<DateTime<Utc>>) -> DeliveryCursor {
        let now = self.invocation.now();
        let until = self.invocation.until;
        let is_cut_off =
            next_turn_at.is_some_and(|at| at.max(now) >= until && at < now + InvocationKind::Stream.time());
        let wakes_sender = self.invocation.kind == InvocationKind::Stream
            && is_cut_off
            && self.in_flight.is_worth_another_turn();
        DeliveryCursor { wakes_sender, ..cursor.release(next_turn_at, now) }
    }
}

/// Merges the result of a step that has read `before` into the `present` state, with the API's changes since then.
fn merge_api_changes(
    result: &DeliveryProgress,
    before: &DeliveryEndpoint,
    present: &DeliveryEndpoint,
    now: DateTime<Utc>,
) -> DeliveryProgress {
    let is_moved = before.cursor.position_epoch != present.cursor.position_epoch;
    let meanwhile = DeliveryCursor::clone(&present.cursor);
    DeliveryProgress {
        webhook: Webhook::clone(&present.webhook).without_ended_secret(now),
        cursor: result.cursor.clone().merge_api_changes(&before.cursor, meanwhile),
        stalled: if is_moved { present.stalled.clone() } else { result.stalled.clone() },
        ..result.clone()
    }
}
