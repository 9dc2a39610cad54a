//! Access patterns of webhooks. A webhook is in the partition of its company; its cursor, attempts and stalled
//! resources have a partition of their own.

pub(super) mod delivery;

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use chrono::{DateTime, Utc};

use super::company::counts::CompanyCount;
use super::due::DueQueue;
use super::history::EventSequence;
use super::table::handle::Store;
use super::table::item::{self, DueEntry, StoredEntity, VersionedItem};
use super::table::keys::{self, ItemKey};
use super::table::read::query::Query;
use super::table::write::condition::{AttributeUpdate, WriteCondition};
use super::table::write::transaction::Transaction;
use crate::domain::history;
use crate::domain::id::{AttemptId, CompanyId, WebhookId};
use crate::domain::webhook::{AttemptFilter, DeliveryAttempt, DeliveryCursor, StalledResource, Webhook};
use crate::error::{Error, Result};

/// The most attempts that one request examines, however few its filter selects.
const MAX_LOOKED_AT: usize = 500;

impl StoredEntity for Webhook {
    const INTERNAL_FIELDS: &'static [&'static str] = &["secret"];

    fn history_change(before: Option<&Self>, after: Option<&Self>) -> Option<history::ResourceChange> {
        history::ResourceChange::of(before, after)
    }

    fn key(&self) -> ItemKey {
        keys::webhook(&self.company, self.id)
    }
}

impl StoredEntity for DeliveryCursor {
    fn key(&self) -> ItemKey {
        keys::cursor(self.webhook)
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let shard = DueQueue::Webhooks.shard_of(self.webhook);
        Some(DueEntry { shard, at: self.work.indexed_at()?, company: &self.company })
    }
}

impl StoredEntity for StalledResource {
    fn key(&self) -> ItemKey {
        keys::stalled_resources(self.webhook).key(&self.history_id)
    }
}

impl StoredEntity for DeliveryAttempt {
    fn key(&self) -> ItemKey {
        keys::attempts(self.webhook).key(self.id)
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        Some(Self::expires_at(self))
    }
}

/// The feed or cursor that the webhook sender must read because an item was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StreamTrigger {
    /// The company has new events.
    Company(CompanyId),
    /// The cursor of this webhook was written, by the API or by the sender.
    Webhook(WebhookId),
}

impl StreamTrigger {
    /// The trigger of a write of the item with this partition and sort key; `None` for other items.
    pub fn parse(pk: &str, sk: &str) -> Option<Self> {
        match sk {
            "SEQUENCE" => keys::in_company(pk).map(Self::Company),
            "CURSOR" => keys::in_webhook(pk).map(Self::Webhook),
            _ => None,
        }
    }
}

/// Attempts to deliver events to a webhook, the newest first.
#[derive(Debug)]
pub struct DeliveryAttempts {
    /// The attempts that the filter selects.
    pub rows: Vec<VersionedItem<DeliveryAttempt>>,
    /// The last attempt that was examined, if there may be more; `None` at the end.
    pub next: Option<AttemptId>,
}

impl Transaction {
    /// Notes in the company's sequence that it has webhooks. Creates the sequence if the company has no events yet.
    fn has_webhooks(&mut self, company: &CompanyId, now: DateTime<Utc>) {
        let Some(none) = self.or_fault(item::attributes_of(&EventSequence::new(company.clone(), now))) else {
            return;
        };
        let kept = ["company", "last", "at"];
        let names = kept.map(|name| (format!("#{name}"), name.to_owned()));
        // The update sets only what is missing, because the company may get its first event at the same time.
        let set = kept.map(|name| format!("#{name} = if_not_exists(#{name}, :{name})")).join(", ");
        let values = kept.iter().filter_map(|name| Some((format!(":{name}"), none.get(*name)?.clone())));
        let has_webhooks = [(":true", AttributeValue::Bool(true))];
        let mut change = AttributeUpdate::set(&format!("SET has_webhooks = :true, {set}"), has_webhooks);
        change.values.extend(values);
        change.names.extend(names);
        self.update(keys::sequence(company), change, Error::internal("an unconditional write failed"));
    }

    /// Requires that projects exist if only `after` names them. Fails with a message on `projects` otherwise.
    fn webhook_projects(&mut self, before: Option<&Webhook>, after: &Webhook) {
        let known = before.map(|before| &before.projects);
        for project in after.projects.iter().filter(|id| known.is_none_or(|known| !known.contains(id))) {
            let missing = Error::field("projects", format!("Project {project} does not exist."));
            self.require(keys::project(&after.company, *project), WriteCondition::Present, missing);
        }
    }
}

impl Store {
    /// Creates a webhook. Its deliveries begin immediately. Fails with `TOO_MANY_WEBHOOKS` at the limit, and with a
    /// message on `projects` if a project does not exist.
    pub fn create_webhook(
        &self,
        webhook: &Webhook,
        cursor: &DeliveryCursor,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        transaction.create(webhook);
        transaction.create(cursor);
        transaction.has_webhooks(&webhook.company, now);
        transaction.webhook_projects(None, webhook);
        transaction.require_creator(&webhook.company, webhook.created_by);
        transaction.change_company_counts(&webhook.company, &[(CompanyCount::Webhooks, 1)]);
        transaction
    }

    /// Replaces a webhook by `after` and its cursor by `moved`. Fails also with a message on `projects` if a new project does not exist.
    pub fn update_webhook(
        &self,
        before: &VersionedItem<Webhook>,
        after: &Webhook,
        cursor: &VersionedItem<DeliveryCursor>,
        moved: &DeliveryCursor,
    ) -> Transaction {
        let mut transaction = self.replacing(before, after);
        transaction.webhook_projects(Some(before), after);
        if **cursor != *moved {
            transaction.replace(cursor, moved);
        }
        transaction
    }

    pub fn update_cursor(
        &self,
        before: &VersionedItem<DeliveryCursor>,
        after: &DeliveryCursor,
    ) -> Transaction {
        self.replacing(before, after)
    }

    /// Deletes a webhook. Only deliveries that are already in progress are still sent. Its stalled resources and attempts expire.
    pub fn delete_webhook(&self, webhook: &VersionedItem<Webhook>) -> Transaction {
        let mut transaction = self.transaction();
        transaction.delete(webhook);
        // Without the cursor, the sender stops. Clients cannot see the items that remain.
        transaction.delete_derived(keys::cursor(webhook.id));
        transaction.change_company_counts(&webhook.company, &[(CompanyCount::Webhooks, -1)]);
        transaction
    }

    /// All webhooks of a company, the oldest first.
    pub async fn webhooks(&self, company: &CompanyId) -> Result<Vec<VersionedItem<Webhook>>> {
        self.all(&keys::webhooks(company)).await
    }

    pub async fn webhook(
        &self,
        company: &CompanyId,
        id: WebhookId,
    ) -> Result<Option<VersionedItem<Webhook>>> {
        self.one(keys::webhook(company, id)).await
    }

    /// The position that the deliveries to a webhook have reached; `None` if it is deleted.
    pub async fn cursor(&self, id: WebhookId) -> Result<Option<VersionedItem<DeliveryCursor>>> {
        self.one(keys::cursor(id)).await
    }

    /// The positions that the deliveries to these webhooks have reached.
    pub async fn cursors(
        &self,
        ids: impl IntoIterator<Item = WebhookId>,
    ) -> Result<HashMap<WebhookId, VersionedItem<DeliveryCursor>>> {
        let cursors = self.listed::<DeliveryCursor>(ids.into_iter().map(keys::cursor).collect()).await?;
        Ok(cursors.into_iter().map(|cursor| (cursor.webhook, cursor)).collect())
    }

    /// Writes a cursor with a single write, at half the price of a transaction. Fails with [`Error::Changed`] after a
    /// concurrent write, and if the webhook is deleted.
    pub async fn save_cursor(
        &self,
        before: &VersionedItem<DeliveryCursor>,
        after: DeliveryCursor,
    ) -> Result<VersionedItem<DeliveryCursor>> {
        self.replace(before, after).await
    }

    /// The sequence of a company's event numbers; `None` if it has had neither an event nor a webhook.
    pub async fn sequence(&self, company: &CompanyId) -> Result<Option<VersionedItem<EventSequence>>> {
        self.one(keys::sequence(company)).await
    }

    /// Notes that all webhooks of a company have been started after `sequence` was read, or that it has none. Fails
    /// with [`Error::Changed`] if an event was numbered or a webhook created in the meantime.
    pub async fn note_deliveries_started(
        &self,
        sequence: &VersionedItem<EventSequence>,
        has_webhooks: bool,
    ) -> Result<()> {
        let settled = EventSequence { has_webhooks, delivery_due_at: None, ..EventSequence::clone(sequence) };
        self.replace(sequence, settled).await.map(drop)
    }

    /// Up to `most` wanted attempts before `before`, or the latest ones if it is `None`, that have not expired at `now`.
    pub async fn attempts_before(
        &self,
        id: WebhookId,
        before: Option<AttemptId>,
        most: usize,
        filter: &AttemptFilter,
        now: DateTime<Utc>,
    ) -> Result<DeliveryAttempts> {
        let all = keys::attempts(id);
        let mut query = Query::of(&all);
        query.start = before.map(|before| all.key(before).into_attributes());
        query.backwards = true;
        let mut found = DeliveryAttempts { rows: Vec::new(), next: None };
        let mut looked_at = 0;
        while looked_at < MAX_LOOKED_AT {
            let rows = self.query_rows(query.clone(), most).await?;
            let is_last = rows.len() < most;
            query.start = rows.last().map(item::key_of).transpose()?.map(ItemKey::into_attributes);
            looked_at += rows.len();
            for attempt in
                item::readable::<DeliveryAttempt>(rows)?.into_iter().filter(|attempt| attempt.is_kept(now))
            {
                found.next = Some(attempt.id);
                found.rows.extend(Some(attempt).filter(|attempt| filter.wants(attempt)));
                if found.rows.len() == most {
                    return Ok(found);
                }
            }
            if is_last {
                found.next = None;
                break;
            }
        }
        Ok(found)
    }
}
