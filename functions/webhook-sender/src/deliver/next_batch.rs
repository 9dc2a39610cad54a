//! Selects and reads the events that a step sends.

use std::collections::BTreeSet;

use futures_util::future::try_join_all;
use shared::domain::history::{EventId, HistoryEntry};
use shared::domain::webhook::{
    DeliveryAttempt, DeliveryCursor, DeliveryRequest, DeliveryTask, StalledResource, Webhook,
};
use shared::store::{DeliveryEndpoint, VersionedItem};
use shared::{Error, Result};

use super::PAGE;
use super::in_flight::{EventGroup, EventTransport as _};
use super::invocation::SenderInvocation;

/// The maximum number of stalled resources in a step, and of events of each.
pub(super) const STALLED_AT_ONCE: usize = 8;
pub(super) const EVENTS_OF_STALLED: usize = 4;
/// The maximum number of history entries that a step reads to find events of a stalled resource.
const HISTORY_ROWS: usize = 32;
/// The maximum number of client requests in a step.
const REQUESTS_AT_ONCE: usize = 4;

/// The events that a step sends, grouped by resource.
#[derive(Debug, Default)]
pub(crate) struct DeliveryBatch {
    pub(crate) groups: Vec<EventGroup>,
    /// The feed has no other wanted events up to this number; 0 if the step does not read the feed.
    pub(crate) reached: u64,
    /// Stalled resources without further events to send.
    pub(crate) caught_up: Vec<String>,
    /// Stalled resources that have nothing to send before this version.
    pub(crate) skipped: Vec<(String, u64)>,
    /// Attempts that record expired events, with the client's request if there was one.
    pub(crate) expired: Vec<(DeliveryAttempt, Option<DeliveryRequest>)>,
}

impl DeliveryBatch {
    /// A batch of events of the feed, which has no other wanted events up to number `reached`.
    pub(super) fn of_feed(events: impl IntoIterator<Item = HistoryEntry>, reached: u64) -> Self {
        let mut groups: Vec<EventGroup> = Vec::new();
        for event in events {
            let history_id = event.id().history_id;
            match groups.iter_mut().find(|group| group.history_id == history_id) {
                Some(group) => group.events.push(event),
                None => groups.push(EventGroup::new(history_id, vec![event], 1)),
            }
        }
        groups.iter_mut().for_each(|group| group.limit = group.events.len());
        Self { groups, reached, ..Self::default() }
    }

    /// Allows only the first event of the batch to be sent. The others stay in the batch, so that the cursor does not
    /// pass them.
    pub(super) fn keep_one_event(mut self) -> Self {
        for (number, group) in self.groups.iter_mut().enumerate() {
            group.limit = usize::from(number == 0);
        }
        self
    }

    /// Adds the next events of a stalled resource, found in `entries` of its history. If `has_more` is false, the
    /// history has no further entries.
    pub(super) fn add_stalled(
        &mut self,
        webhook: &Webhook,
        cursor: &DeliveryCursor,
        stalled: &StalledResource,
        entries: &[impl std::ops::Deref<Target = HistoryEntry>],
        has_more: bool,
    ) {
        let mut events = Vec::new();
        let mut from = stalled.next_version;
        let mut is_complete = !has_more;
        for entry in entries.iter().map(|entry| &**entry) {
            let is_event = entry.is_event();
            // Events after the cursor will be read from the feed.
            if is_event && entry.sequence.is_none_or(|number| number > cursor.after) {
                is_complete = true;
                break;
            }
            if events.len() == EVENTS_OF_STALLED {
                is_complete = false;
                break;
            }
            if is_event && webhook.wants(entry) {
                events.push(entry.clone());
            }
            from = entry.version_after + 1;
        }
        let history_id = stalled.history_id.clone();
        match (events.is_empty(), is_complete) {
            (true, true) => self.caught_up.push(history_id),
            (true, false) => self.skipped.push((history_id, from)),
            (false, _) => {
                let attempt = stalled.tries.max(cursor.health.failures) + 1;
                let group = EventGroup::new(history_id, events, attempt);
                let first_tried_at = stalled.first_tried_at;
                self.groups.push(EventGroup { is_stalled: true, first_tried_at, is_complete, ..group });
            }
        }
    }
}

impl SenderInvocation<'_> {
    /// Reads what the next step sends; `None` if the index does not show the next events yet. `idle` are the stalled
    /// resources without an event in flight.
    pub(crate) async fn next_batch(
        &self,
        task: DeliveryTask,
        endpoint: &DeliveryEndpoint,
        idle: &[StalledResource],
    ) -> Result<Option<DeliveryBatch>> {
        match task {
            DeliveryTask::Requests => self.next_requests(endpoint).await.map(Some),
            DeliveryTask::ProbeEndpoint => self.next_probe(endpoint, idle).await,
            DeliveryTask::ProbeResource => {
                Ok(self.next_of_feed(endpoint).await?.map(DeliveryBatch::keep_one_event))
            }
            DeliveryTask::Feed => self.next_of_feed(endpoint).await,
            DeliveryTask::Stalled => self.next_of_stalled(endpoint, idle).await.map(Some),
            DeliveryTask::CleanUp => Ok(Some(DeliveryBatch::default())),
        }
    }

    async fn next_requests(&self, endpoint: &DeliveryEndpoint) -> Result<DeliveryBatch> {
        let webhook = &endpoint.webhook;
        let mut batch = DeliveryBatch::default();
        for (number, request) in endpoint.cursor.requests.iter().take(REQUESTS_AT_ONCE).enumerate() {
            let event = match request {
                DeliveryRequest::Ping { at } => HistoryEntry::ping(webhook.company.clone(), webhook.id, *at),
                DeliveryRequest::Event { event } => match self.find_event(endpoint, event).await? {
                    Some(found) => HistoryEntry::clone(&found),
                    None => {
                        let attempt = self.note_expired(webhook.id, Some(event.clone()));
                        batch.expired.push((attempt, Some(request.clone())));
                        continue;
                    }
                },
            };
            let group = EventGroup::new(format!("request {number}"), vec![event], 1);
            batch.groups.push(EventGroup { request: Some(request.clone()), ..group });
        }
        Ok(batch)
    }

    async fn find_event(
        &self,
        endpoint: &DeliveryEndpoint,
        id: &str,
    ) -> Result<Option<VersionedItem<HistoryEntry>>> {
        let Ok(id) = id.parse::<EventId>() else { return Ok(None) };
        let found = self.store().event(&endpoint.webhook.company, &id, self.now()).await?;
        // The webhook may have been limited to fewer projects since the event was queued.
        Ok(found.filter(|entry| endpoint.webhook.reaches(entry)))
    }

    async fn next_of_feed(&self, endpoint: &DeliveryEndpoint) -> Result<Option<DeliveryBatch>> {
        let DeliveryEndpoint { webhook, cursor, sequence, stalled } = endpoint;
        let stalled: BTreeSet<&str> = stalled.iter().map(|resource| resource.history_id.as_str()).collect();
        let feed = self.store().events_after(sequence, cursor.after, PAGE, self.now(), |entry| {
            is_waiting(endpoint, entry) && !stalled.contains(entry.id().history_id.as_str())
        });
        match feed.await {
            Ok(feed) if feed.reached == cursor.after => Ok(None),
            Ok(feed) => {
                let events = feed.events.iter().map(|event| HistoryEntry::clone(event));
                Ok(Some(DeliveryBatch::of_feed(events, feed.reached)))
            }
            Err(Error::Expired(first)) => {
                tracing::warn!(target: "webhooks", webhook = %webhook.id, after = cursor.after, first, "expired");
                let expired = vec![(self.note_expired(webhook.id, None), None)];
                Ok(Some(DeliveryBatch { reached: first - 1, expired, ..DeliveryBatch::default() }))
            }
            Err(error) => Err(error),
        }
    }

    async fn next_of_stalled(
        &self,
        endpoint: &DeliveryEndpoint,
        idle: &[StalledResource],
    ) -> Result<DeliveryBatch> {
        let now = self.now();
        let cursor = &endpoint.cursor;
        let mut due: Vec<_> = idle.iter().filter(|resource| resource.due_at(cursor) <= now).collect();
        due.sort_by_key(|resource| resource.due_at(cursor));
        due.truncate(STALLED_AT_ONCE);
        self.read_stalled(endpoint, &due).await
    }

    async fn read_stalled(
        &self,
        endpoint: &DeliveryEndpoint,
        stalled: &[&StalledResource],
    ) -> Result<DeliveryBatch> {
        let DeliveryEndpoint { webhook, cursor, .. } = endpoint;
        let company = &webhook.company;
        let read = stalled.iter().map(|resource| {
            self.store().history_from(company, &resource.history_id, resource.next_version, HISTORY_ROWS)
        });
        let mut batch = DeliveryBatch::default();
        for (one, (entries, has_more)) in stalled.iter().zip(try_join_all(read).await?) {
            batch.add_stalled(webhook, cursor, one, &entries, has_more);
        }
        Ok(batch)
    }

    /// One event to test the endpoint: alternately the oldest waiting event, and the first waiting event of the
    /// resource that changed last.
    async fn next_probe(
        &self,
        endpoint: &DeliveryEndpoint,
        idle: &[StalledResource],
    ) -> Result<Option<DeliveryBatch>> {
        let DeliveryEndpoint { cursor, sequence, stalled, .. } = endpoint;
        let attempt = cursor.health.failures + 1;
        // Alternate: the oldest event may always fail, and would keep a recovered endpoint marked as down.
        let is_other = cursor.health.failures.is_multiple_of(2);
        if is_other && let Some(newest) = self.first_of_newest(endpoint).await? {
            let group = EventGroup::new(newest.id().history_id, vec![newest], attempt);
            return Ok(Some(DeliveryBatch { groups: vec![group], ..DeliveryBatch::default() }));
        }
        if cursor.after < sequence.last {
            let Some(mut batch) = self.next_of_feed(endpoint).await? else { return Ok(None) };
            if let Some(last) = batch.groups.len().checked_sub(1) {
                if is_other {
                    // The first event of the newest resource is unavailable, so take any event except the oldest.
                    batch.groups.swap(0, last);
                }
                batch.groups[0].attempt = attempt;
                return Ok(Some(batch.keep_one_event()));
            }
            // All events are unwanted or expired.
            if !batch.expired.is_empty() || stalled.is_empty() {
                return Ok(Some(batch));
            }
        }
        // Each failure postpones the resource's next attempt, so all resources get their turn.
        let Some(oldest) = idle.iter().min_by_key(|resource| resource.next_try_at) else { return Ok(None) };
        Ok(Some(self.read_stalled(endpoint, &[oldest]).await?.keep_one_event()))
    }

    /// The first waiting event of the resource with the latest event; `None` if the resource has stalled, or too many
    /// events wait to find it.
    async fn first_of_newest(&self, endpoint: &DeliveryEndpoint) -> Result<Option<HistoryEntry>> {
        let DeliveryEndpoint { webhook, cursor, sequence, stalled } = endpoint;
        let company = &webhook.company;
        let now = self.now();
        let latest = self
            .store()
            .events_before(company, sequence.last + 1, 1, now, |entry| webhook.wants(entry))
            .await?;
        let Some(newest) = latest.events.first().map(|event| event.id().history_id) else { return Ok(None) };
        if stalled.iter().any(|resource| resource.history_id == newest) {
            return Ok(None);
        }
        let first = self.store().events_after(sequence, cursor.after, 1, now, |entry| {
            is_waiting(endpoint, entry) && entry.id().history_id == newest
        });
        match first.await {
            Ok(feed) => Ok(feed.events.first().map(|event| HistoryEntry::clone(event))),
            Err(Error::Expired(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Whether the endpoint wants the event and has not accepted it.
fn is_waiting(endpoint: &DeliveryEndpoint, entry: &HistoryEntry) -> bool {
    let accepted = &endpoint.cursor.accepted;
    endpoint.webhook.wants(entry) && entry.sequence.is_none_or(|number| !accepted.contains(&number))
}
