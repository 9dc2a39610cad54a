//! Access patterns of the sender of events: what it reads before each step, and what it writes after.

use chrono::{DateTime, Utc};

use super::Store;
use super::history::Sequence;
use super::item::{self, Entity as _, Versioned};
use super::keys;
use super::transaction::Transaction;
use crate::domain::effect::Effect;
use crate::domain::id::{CompanyId, WebhookId};
use crate::domain::webhook::{Attempt, Lane, Position, Step, Webhook};
use crate::error::{Error, Result};

/// A webhook, as the sender of events needs it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The webhook.
    pub webhook: Versioned<Webhook>,
    /// How far the deliveries have come.
    pub position: Versioned<Position>,
    /// The numbers of the company's feed.
    pub sequence: Sequence,
    /// The lanes.
    pub lanes: Vec<Lane>,
}

impl Endpoint {
    /// What is to be done next, and when.
    pub fn next_step(&self, now: DateTime<Utc>) -> Option<(DateTime<Utc>, Step)> {
        self.position.next_step(self.webhook.is_enabled(), self.sequence.last, &self.lanes, now)
    }
}

/// What a step of the sender has made of an endpoint.
#[derive(Debug, Clone)]
pub struct Progress {
    /// The webhook, which the step may have disabled.
    pub webhook: Webhook,
    /// The position.
    pub position: Position,
    /// All lanes.
    pub lanes: Vec<Lane>,
    /// What was tried.
    pub attempts: Vec<Attempt>,
    /// What else follows.
    pub effects: Vec<Effect>,
}

impl Store {
    /// Reads an endpoint; none once the webhook is deleted.
    pub async fn endpoint(&self, company: &CompanyId, id: WebhookId) -> Result<Option<Endpoint>> {
        let (webhook, position, sequence) =
            (keys::webhook(company, id), keys::position(id), keys::sequence(company));
        let mut batch = self.get([webhook.clone(), position.clone(), sequence.clone()]).await?;
        let (webhook, position) = (batch.take(&webhook)?, batch.take::<Position>(&position)?);
        let (Some(webhook), Some(position)) = (webhook, position) else { return Ok(None) };
        let sequence = batch.take::<Sequence>(&sequence)?;
        let sequence = sequence.ok_or_else(|| Error::internal("a webhook without a feed"))?;
        let mut lanes = Vec::new();
        if position.lanes > 0 {
            let found: Vec<Versioned<Lane>> = self.all(&keys::lanes(id)).await?;
            let valid = found.into_iter().filter(|lane| lane.epoch == position.epoch);
            lanes.extend(valid.map(|lane| Lane::clone(&lane)));
        }
        Ok(Some(Endpoint { webhook, position, sequence: Sequence::clone(&sequence), lanes }))
    }

    /// Writes what a step has made of an endpoint: everything or nothing.
    pub fn note_progress(&self, before: &Endpoint, after: &Progress) -> Transaction {
        let mut transaction = self.replacing(&before.webhook, &after.webhook);
        transaction.replace(&before.position, &after.position);
        for lane in after.lanes.iter().filter(|lane| !before.lanes.contains(lane)) {
            if let Some(mut item) = transaction.or_fault(item::write(lane, 1)) {
                // As long as the events that wait there, whatever happens to the webhook: they are older than the next try.
                let end = lane.next_try_at + self.app.config().event_retention;
                item.insert(item::EXPIRES_AT.to_owned(), item::number(end.timestamp()));
                transaction.put_derived(lane.key(), item);
            }
        }
        let is_left = |lane: &&Lane| !after.lanes.iter().any(|after| after.history == lane.history);
        for lane in before.lanes.iter().filter(is_left) {
            transaction.delete_derived(lane.key());
        }
        for attempt in &after.attempts {
            if let Some(item) = transaction.or_fault(item::write(attempt, 1)) {
                transaction.put_derived(attempt.key(), item);
            }
        }
        for effect in &after.effects {
            transaction.effect(Some(effect.clone()));
        }
        transaction
    }
}
