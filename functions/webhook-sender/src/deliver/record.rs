//! Writes what a step has made of an endpoint.

use chrono::{DateTime, Utc};
use shared::domain::effect::Effect;
use shared::domain::mail::WebhookMail;
use shared::domain::webhook::{DeliveryCursor, DisabledReason, HealthJudgement, Webhook, next_task};
use shared::store::{DeliveryProgress, WebhookEndpoint};
use shared::{Error, Result};

use super::EndpointRun;
use super::batch::{DeliveryBatch, UnderWay};
use super::conclude::StepResult;
use super::group::GroupReport;
use crate::sender::EventSender;

/// How often the result of a step is written anew after writes of the API.
const WRITES: usize = 10;
/// The most attempts in the transaction of a step. With 40 stalled resources, of a page and of what was under way, cursor,
/// webhook, its history and 20 mails to owners, it has less than 100 writes.
const MAX_ATTEMPTS: usize = 30;

impl EndpointRun<'_> {
    /// Writes what came of a step that has read `before`. Keeps the endpoint while something is under way or due. Fails with
    /// [`Error::Changed`] if another run has the endpoint.
    pub(super) async fn record(
        &mut self,
        before: &WebhookEndpoint,
        batch: &DeliveryBatch,
        reports: Vec<GroupReport>,
    ) -> Result<()> {
        let (now, health) = (self.sender.time(), self.under_way.health.lock().clone());
        let cursor = DeliveryCursor::clone(&before.cursor);
        let mut result = StepResult::new(cursor, before.stalled.clone(), health, now, self.sender.random());
        result.conclude(batch, reports);
        // Groups of earlier steps may have ended as well, and a transaction has 100 writes.
        let more = result.attempts.split_off(result.attempts.len().min(MAX_ATTEMPTS));
        self.sender.store().save_attempts(&more).await?;
        for (history, version) in self.under_way.set_aside() {
            result.set_aside(history, version);
        }
        result.cursor.has_void_resources &= !std::mem::take(&mut self.has_cleaned_up);
        let mut present = before.clone();
        for _ in 0..WRITES {
            let mut progress = progress(before, &present, &result, self.under_way.is_gone(), now);
            progress.cursor = self.keep_or_give_back(&progress, present.sequence.last);
            if progress.webhook.disabled_reason != present.webhook.disabled_reason {
                let webhook = &progress.webhook;
                progress.effects = self.sender.mails(&present, webhook, WebhookMail::Disabled).await?;
            }
            let lease = progress.cursor.leased_until;
            match self.sender.system.commit(self.sender.store().record_progress(&present, &progress)).await {
                Err(Error::Changed | Error::NotFound) => {}
                settled => {
                    settled?;
                    self.lease = lease;
                    return Ok(());
                }
            }
            // The API has changed something, or the lease has ended and another run has the endpoint.
            match self.sender.store().endpoint(self.company, self.webhook).await? {
                Some(fresh) if fresh.cursor.leased_until == before.cursor.leased_until => present = fresh,
                _ => break,
            }
        }
        // What is under way is not what the table says.
        (self.lease, self.under_way) = (None, UnderWay::new(self.sender));
        Err(Error::Changed)
    }

    /// Keeps the endpoint while something is under way or due.
    fn keep_or_give_back(&self, progress: &DeliveryProgress, latest: u64) -> DeliveryCursor {
        let (now, cursor) = (self.sender.time(), progress.cursor.clone());
        let next = next_task(&progress.webhook, &cursor, &progress.stalled, latest, now, self.last);
        let goes_on = !self.under_way.is_empty() || next.is_some_and(|(at, _)| at <= now);
        if goes_on && !self.sender.is_over() {
            cursor.with_lease(self.sender.lease_end())
        } else if self.under_way.is_empty() {
            self.give_back(cursor, next.map(|(at, _)| at))
        } else {
            cursor
        }
    }
}

/// What the step's `result` makes of the `present` state, which the API may have changed since the step has read `before`.
fn progress(
    before: &WebhookEndpoint,
    present: &WebhookEndpoint,
    result: &StepResult,
    is_gone: bool,
    now: DateTime<Utc>,
) -> DeliveryProgress {
    let is_moved = before.cursor.epoch != present.cursor.epoch;
    let is_restarted = before.cursor.restarts != present.cursor.restarts;
    let stalled = if is_moved { present.stalled.clone() } else { result.stalled.clone() };
    let meanwhile = DeliveryCursor::clone(&present.cursor);
    let cursor = result.cursor.clone().merge_api_changes(&before.cursor, meanwhile);
    let mut webhook = Webhook::clone(&present.webhook).without_ended_secret(now);
    if is_gone && !is_restarted {
        webhook = webhook.disabled(DisabledReason::Gone);
    }
    DeliveryProgress { webhook, cursor, stalled, attempts: result.attempts.clone(), effects: Vec::new() }
}

impl EventSender<'_> {
    /// Tells the owners about an endpoint that has accepted nothing for long, and disables it in the end.
    pub(crate) async fn judge(&self, endpoint: WebhookEndpoint) -> Result<()> {
        let (now, health) = (self.time(), &endpoint.cursor.health);
        let judgement = health.judge(now);
        // An endpoint for which nothing waits fails no more.
        let has_waiting = endpoint.cursor.after < endpoint.sequence.last || !endpoint.stalled.is_empty();
        let is_due = self.judges && endpoint.webhook.is_enabled() && has_waiting;
        if !is_due || judgement == HealthJudgement::Tolerable || !self.can_reach_out().await {
            return Ok(());
        }
        let (mut webhook, mut cursor) =
            (Webhook::clone(&endpoint.webhook), DeliveryCursor::clone(&endpoint.cursor));
        let mail = if judgement == HealthJudgement::Disable {
            webhook = webhook.disabled(DisabledReason::Failing);
            let next = next_task(&webhook, &cursor, &endpoint.stalled, endpoint.sequence.last, now, None);
            cursor.run_at = next.map(|(at, _)| at);
            WebhookMail::Disabled
        } else {
            cursor.health.warned_at = Some(now);
            WebhookMail::Failing
        };
        let effects = self.mails(&endpoint, &webhook, mail).await?;
        let stalled = endpoint.stalled.clone();
        let progress = DeliveryProgress { webhook, cursor, stalled, attempts: Vec::new(), effects };
        self.system.commit(self.store().record_progress(&endpoint, &progress)).await
    }

    /// The mails about a webhook to the owners of its company.
    async fn mails(
        &self,
        endpoint: &WebhookEndpoint,
        webhook: &Webhook,
        mail: WebhookMail,
    ) -> Result<Vec<Effect>> {
        let customers = self.store().all_customers(&webhook.company).await?;
        let customers = customers.iter().map(|customer| &**customer);
        Ok(Effect::of_webhook(webhook, mail, customers, endpoint.cursor.version() + 1, self.time()))
    }
}
