//! Access patterns of the webhook sender: its reads before each step, and its writes after.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};

use crate::domain::effect::Effect;
use crate::domain::id::{CompanyId, WebhookId};
use crate::domain::webhook::{
    DeliveryAttempt, DeliveryCursor, DeliveryTask, StalledResource, Webhook, next_task,
};
use crate::error::{Error, Result};
use crate::store::history::EventSequence;
use crate::store::table::handle::Store;
use crate::store::table::item::{self, StoredEntity as _, VersionedItem};
use crate::store::table::keys;
use crate::store::table::write::transaction::Transaction;

/// The most void stalled resources that one step deletes.
const VOID_AT_ONCE: usize = 100;
/// The most attempts in one transaction of [`Store::save_attempts`].
const ATTEMPTS_AT_ONCE: usize = 100;

/// A webhook with everything that the sender needs to deliver events to it.
#[derive(Debug, Clone)]
pub struct DeliveryEndpoint {
    pub webhook: VersionedItem<Webhook>,
    /// The position that the deliveries have reached.
    pub cursor: VersionedItem<DeliveryCursor>,
    /// The sequence of the company's event numbers.
    pub sequence: EventSequence,
    pub stalled: Vec<StalledResource>,
}

impl DeliveryEndpoint {
    /// The next task and when it is due; `None` if there is none. `last` is the last task that this turn has done.
    pub fn next_task(
        &self,
        now: DateTime<Utc>,
        last: Option<DeliveryTask>,
    ) -> Option<(DateTime<Utc>, DeliveryTask)> {
        next_task(&self.webhook, &self.cursor, &self.stalled, self.sequence.last, now, last)
    }
}

/// The state of an endpoint after a step of the sender.
#[derive(Debug, Clone)]
pub struct DeliveryProgress {
    /// The webhook, which the step may have disabled.
    pub webhook: Webhook,
    pub cursor: DeliveryCursor,
    pub stalled: Vec<StalledResource>,
    /// The attempts of the step.
    pub attempts: Vec<DeliveryAttempt>,
    /// The mails to the owners.
    pub effects: Vec<Effect>,
}

impl DeliveryProgress {
    /// The state before the step.
    pub fn of(endpoint: &DeliveryEndpoint) -> Self {
        Self {
            webhook: Webhook::clone(&endpoint.webhook),
            cursor: DeliveryCursor::clone(&endpoint.cursor),
            stalled: endpoint.stalled.clone(),
            attempts: Vec::new(),
            effects: Vec::new(),
        }
    }
}

impl Transaction {
    fn put_attempts(&mut self, attempts: &[DeliveryAttempt]) {
        for attempt in attempts {
            if let Some(item) = self.or_fault(item::write(attempt, 1)) {
                self.put_derived(attempt.key(), item);
            }
        }
    }
}

impl Store {
    /// Reads an endpoint; `None` once the webhook is deleted.
    pub async fn endpoint(&self, company: &CompanyId, id: WebhookId) -> Result<Option<DeliveryEndpoint>> {
        let webhook = keys::webhook(company, id);
        let cursor = keys::cursor(id);
        let sequence = keys::sequence(company);
        let mut batch = self.get([webhook.clone(), cursor.clone(), sequence.clone()]).await?;
        let webhook = batch.take(&webhook)?;
        let cursor = batch.take::<DeliveryCursor>(&cursor)?;
        let (Some(webhook), Some(cursor)) = (webhook, cursor) else { return Ok(None) };
        let sequence = batch.take::<EventSequence>(&sequence)?;
        let sequence = sequence.ok_or_else(|| Error::internal("a webhook without a feed"))?;
        let mut stalled = Vec::new();
        // Most endpoints have no stalled resources, and need no query.
        if cursor.stalled_count > 0 {
            let found: Vec<VersionedItem<StalledResource>> = self.all(&keys::stalled_resources(id)).await?;
            let valid = found.into_iter().filter(|resource| resource.position_epoch == cursor.position_epoch);
            stalled.extend(valid.map(|resource| StalledResource::clone(&resource)));
        }
        Ok(Some(DeliveryEndpoint { webhook, cursor, sequence: EventSequence::clone(&sequence), stalled }))
    }

    /// Deletes stalled resources of earlier epochs, and returns whether none are left.
    pub async fn delete_void_resources(&self, cursor: &DeliveryCursor) -> Result<bool> {
        let found: Vec<VersionedItem<StalledResource>> =
            self.all(&keys::stalled_resources(cursor.webhook)).await?;
        // Only the worker that has leased the endpoint may call this: resources that stall again get the same keys.
        let void: Vec<_> =
            found.iter().filter(|resource| resource.position_epoch < cursor.position_epoch).collect();
        // Few enough to finish before the lease ends, even if DynamoDB is slow.
        for one in void.iter().take(VOID_AT_ONCE) {
            self.delete_alone(&one.key()).await?;
        }
        Ok(void.len() <= VOID_AT_ONCE)
    }

    /// Writes only attempts. [`record_progress`](Self::record_progress) writes those of its step itself.
    pub async fn save_attempts(&self, attempts: &[DeliveryAttempt]) -> Result<()> {
        for some in attempts.chunks(ATTEMPTS_AT_ONCE) {
            let mut transaction = self.transaction();
            transaction.put_attempts(some);
            self.commit(transaction).await?;
        }
        Ok(())
    }

    /// Writes the state of an endpoint after a step, in one transaction.
    pub fn record_progress(&self, before: &DeliveryEndpoint, after: &DeliveryProgress) -> Transaction {
        let mut transaction = self.replacing(&before.webhook, &after.webhook);
        // Write the cursor even if it is unchanged, so that a concurrent turn at the endpoint fails.
        transaction.replace(&before.cursor, &after.cursor);
        let known: HashMap<&str, _> =
            before.stalled.iter().map(|resource| (resource.history_id.as_str(), resource)).collect();
        let left: HashSet<&str> = after.stalled.iter().map(|resource| resource.history_id.as_str()).collect();
        for stalled in
            after.stalled.iter().filter(|resource| known.get(resource.history_id.as_str()) != Some(resource))
        {
            if let Some(mut item) = transaction.or_fault(item::write(stalled, 1)) {
                // The item outlives the events that wait there, even if the webhook is deleted: they are older than the next attempt.
                let end = stalled.next_try_at + self.app.config().event_retention;
                item.insert(item::EXPIRES_AT.to_owned(), item::number(end.timestamp()));
                transaction.put_derived(stalled.key(), item);
            }
        }
        for stalled in before.stalled.iter().filter(|resource| !left.contains(resource.history_id.as_str())) {
            transaction.delete_derived(stalled.key());
        }
        transaction.put_attempts(&after.attempts);
        for effect in &after.effects {
            transaction.effect(Some(effect.clone()));
        }
        transaction
    }
}
