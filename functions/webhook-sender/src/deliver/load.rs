//! Reads what a step sends.

use std::collections::BTreeSet;

use futures_util::future::try_join_all;
use shared::domain::history::{EventId, HistoryEntry};
use shared::domain::webhook::{DeliveryRequest, DeliveryTask, StalledResource};
use shared::store::WebhookEndpoint;
use shared::{Error, Result};

use super::batch::DeliveryBatch;
use super::group::{EventGroup, GroupOrigin};
use crate::sender::EventSender;

/// The most events of the feed in a step: what a run that breaks off repeats. Their attempts and stalled resources fit into
/// one transaction.
pub(super) const PAGE: usize = 32;
/// The most stalled resources in a step, and events of each.
const STALLED_AT_ONCE: usize = 8;
const EVENTS_OF_STALLED: usize = 4;
/// How far a step looks for events of a stalled resource.
const LOOK: usize = 32;
/// The most requests of clients in a step.
const REQUESTS_AT_ONCE: usize = 4;

impl EventSender<'_> {
    /// Reads what the next step sends; `None` if the index does not show the next events yet. Resources that are
    /// `under_way` are left out.
    pub(crate) async fn load(
        &self,
        task: DeliveryTask,
        endpoint: &WebhookEndpoint,
        under_way: &BTreeSet<String>,
    ) -> Result<Option<DeliveryBatch>> {
        match task {
            DeliveryTask::Requests => self.load_requests(endpoint).await.map(Some),
            DeliveryTask::Probe => self.load_probe(endpoint, under_way).await,
            DeliveryTask::Trial => Ok(self.load_feed(endpoint).await?.map(keep_one_event)),
            DeliveryTask::Feed => self.load_feed(endpoint).await,
            DeliveryTask::Stalled => self.load_stalled(endpoint, under_way).await.map(Some),
            DeliveryTask::CleanUp => Ok(Some(DeliveryBatch::default())),
        }
    }

    async fn load_requests(&self, endpoint: &WebhookEndpoint) -> Result<DeliveryBatch> {
        let (webhook, mut batch) = (&endpoint.webhook, DeliveryBatch::default());
        let requests = endpoint.cursor.requests.iter().take(REQUESTS_AT_ONCE);
        for (number, request) in requests.enumerate() {
            let event = match request {
                DeliveryRequest::Ping { at } => {
                    Some(HistoryEntry::ping(webhook.company.clone(), webhook.id, *at))
                }
                DeliveryRequest::Event { event } => self.find_event(endpoint, event).await?,
            };
            let Some(event) = event else {
                let DeliveryRequest::Event { event } = request else { continue };
                let attempt = self.note_expired(webhook.id, Some(event.clone()));
                batch.expired.push((attempt, Some(request.clone())));
                continue;
            };
            let group = EventGroup::new(format!("request {number}"), vec![event], 1);
            batch.groups.push(EventGroup { origin: GroupOrigin::Request(request.clone()), ..group });
        }
        Ok(batch)
    }

    async fn find_event(&self, endpoint: &WebhookEndpoint, id: &str) -> Result<Option<HistoryEntry>> {
        let Ok(id) = id.parse::<EventId>() else { return Ok(None) };
        let entry = self.store().event(&endpoint.webhook.company, &id, self.time()).await?;
        Ok(entry.map(|entry| HistoryEntry::clone(&entry)))
    }

    async fn load_feed(&self, endpoint: &WebhookEndpoint) -> Result<Option<DeliveryBatch>> {
        let WebhookEndpoint { webhook, cursor, sequence, stalled } = endpoint;
        let stalled: BTreeSet<&str> = stalled.iter().map(|one| one.history.as_str()).collect();
        let is_next = |entry: &HistoryEntry| {
            webhook.wants(entry)
                && !entry.sequence.is_some_and(|number| cursor.accepted.contains(&number))
                && !stalled.contains(entry.id().history.as_str())
        };
        match self.store().events_after(sequence, cursor.after, PAGE, self.time(), is_next).await {
            Ok(feed) if feed.reached == cursor.after => Ok(None),
            Ok(feed) => {
                let events = feed.events.iter().map(|event| HistoryEntry::clone(event)).collect();
                let groups = group_by_resource(events);
                Ok(Some(DeliveryBatch { groups, reached: feed.reached, ..DeliveryBatch::default() }))
            }
            Err(Error::Expired(first)) => {
                tracing::warn!(target: "webhooks", webhook = %webhook.id, after = cursor.after, first, "expired");
                let expired = vec![(self.note_expired(webhook.id, None), None)];
                Ok(Some(DeliveryBatch { reached: first - 1, expired, ..DeliveryBatch::default() }))
            }
            Err(error) => Err(error),
        }
    }

    async fn load_stalled(
        &self,
        endpoint: &WebhookEndpoint,
        under_way: &BTreeSet<String>,
    ) -> Result<DeliveryBatch> {
        let (now, cursor) = (self.time(), &endpoint.cursor);
        let mut due: Vec<_> =
            endpoint.stalled.iter().filter(|one| !under_way.contains(&one.history)).collect();
        due.retain(|one| one.due_at(cursor) <= now);
        due.sort_by_key(|one| one.due_at(cursor));
        let mut batch = DeliveryBatch::default();
        let loaded = due.into_iter().take(STALLED_AT_ONCE).map(|one| self.load_resource(endpoint, one));
        for next in try_join_all(loaded).await? {
            match next {
                NextOfStalled::Events(group) => batch.groups.push(group),
                NextOfStalled::Nothing(history) => batch.caught_up.push(history),
                NextOfStalled::LookFrom(history, version) => batch.skipped.push((history, version)),
            }
        }
        Ok(batch)
    }

    async fn load_resource(
        &self,
        endpoint: &WebhookEndpoint,
        stalled: &StalledResource,
    ) -> Result<NextOfStalled> {
        let WebhookEndpoint { webhook, cursor, .. } = endpoint;
        let history = stalled.history.clone();
        let (entries, may_go_on) =
            self.store().history_from(&webhook.company, &history, stalled.next_version, LOOK).await?;
        let (mut events, mut from, mut is_complete) = (Vec::new(), stalled.next_version, !may_go_on);
        for entry in &entries {
            let is_event = entry.is_event();
            // Those after the cursor are still to be read from the feed.
            if is_event && entry.sequence.is_none_or(|number| number > cursor.after) {
                is_complete = true;
                break;
            }
            if events.len() == EVENTS_OF_STALLED {
                is_complete = false;
                break;
            }
            if is_event && webhook.wants(entry) {
                events.push(HistoryEntry::clone(entry));
            }
            from = entry.version_after + 1;
        }
        if events.is_empty() {
            let nothing = NextOfStalled::Nothing(history.clone());
            return Ok(if is_complete { nothing } else { NextOfStalled::LookFrom(history, from) });
        }
        let attempt = stalled.tries.max(cursor.health.failures) + 1;
        let first_tried_at = stalled.first_tried_at;
        let group = EventGroup::new(history, events, attempt);
        Ok(NextOfStalled::Events(EventGroup {
            origin: GroupOrigin::Stalled,
            first_tried_at,
            is_complete,
            ..group
        }))
    }

    /// One event: in turn the oldest that waits, and the first that waits of the resource that changed last. The oldest may
    /// fail for ever, and the other one is most likely to be fine.
    async fn load_probe(
        &self,
        endpoint: &WebhookEndpoint,
        under_way: &BTreeSet<String>,
    ) -> Result<Option<DeliveryBatch>> {
        let WebhookEndpoint { cursor, sequence, stalled, .. } = endpoint;
        let attempt = cursor.health.failures + 1;
        // In turn: the oldest may fail for ever, and would keep an endpoint down that has recovered.
        let is_other = cursor.health.failures.is_multiple_of(2);
        if is_other && let Some(newest) = self.first_of_newest(endpoint).await? {
            let group = EventGroup::new(newest.id().history, vec![newest], attempt);
            return Ok(Some(DeliveryBatch { groups: vec![group], ..DeliveryBatch::default() }));
        }
        if cursor.after < sequence.last {
            let Some(mut batch) = self.load_feed(endpoint).await? else { return Ok(None) };
            if !batch.expired.is_empty() {
                return Ok(Some(batch));
            }
            if !batch.groups.is_empty() {
                if is_other {
                    // The newest is not to be had, so another than the oldest.
                    let last = batch.groups.len() - 1;
                    batch.groups.swap(0, last);
                }
                batch.groups[0].attempt = attempt;
                return Ok(Some(keep_one_event(batch)));
            }
            if stalled.is_empty() {
                // None of the events is wanted.
                return Ok(Some(batch));
            }
        }
        // Each failure puts off the next try, so all have their turn.
        let idle = stalled.iter().filter(|one| !under_way.contains(&one.history));
        let Some(oldest) = idle.min_by_key(|one| one.next_try_at) else { return Ok(None) };
        let mut batch = DeliveryBatch::default();
        match self.load_resource(endpoint, oldest).await? {
            NextOfStalled::Events(group) => batch.groups.push(EventGroup { limit: 1, ..group }),
            NextOfStalled::Nothing(history) => batch.caught_up.push(history),
            NextOfStalled::LookFrom(history, version) => batch.skipped.push((history, version)),
        }
        Ok(Some(batch))
    }

    /// The first event that waits of the resource with the latest event; `None` if it has stalled, or too much waits to
    /// tell.
    async fn first_of_newest(&self, endpoint: &WebhookEndpoint) -> Result<Option<HistoryEntry>> {
        let WebhookEndpoint { webhook, cursor, sequence, stalled } = endpoint;
        let (company, now) = (&webhook.company, self.time());
        let wants = |entry: &HistoryEntry| webhook.wants(entry);
        let latest = self.store().events_before(company, sequence.last + 1, 1, now, wants).await?;
        let Some(newest) = latest.events.first().map(|event| event.id().history) else { return Ok(None) };
        if stalled.iter().any(|one| one.history == newest) {
            return Ok(None);
        }
        let is_first = |entry: &HistoryEntry| {
            webhook.wants(entry)
                && entry.id().history == newest
                && !entry.sequence.is_some_and(|number| cursor.accepted.contains(&number))
        };
        let found = self.store().events_after(sequence, cursor.after, 1, now, is_first).await;
        match found {
            Ok(feed) => Ok(feed.events.first().map(|event| HistoryEntry::clone(event))),
            Err(Error::Expired(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// What a stalled resource has to send next.
enum NextOfStalled {
    Events(EventGroup),
    /// It has caught up with the cursor.
    Nothing(String),
    /// Nothing before this version.
    LookFrom(String, u64),
}

/// The events by resource, in the order of the first of each.
pub(super) fn group_by_resource(events: Vec<HistoryEntry>) -> Vec<EventGroup> {
    let mut groups: Vec<EventGroup> = Vec::new();
    for event in events {
        let history = event.id().history;
        match groups.iter_mut().find(|group| group.history == history) {
            Some(group) => group.events.push(event),
            None => groups.push(EventGroup::new(history, vec![event], 1)),
        }
    }
    groups.iter_mut().for_each(|group| group.limit = group.events.len());
    groups
}

/// Lets the first event of a batch be sent alone.
pub(super) fn keep_one_event(mut batch: DeliveryBatch) -> DeliveryBatch {
    for (number, group) in batch.groups.iter_mut().enumerate() {
        group.limit = usize::from(number == 0);
    }
    batch
}
