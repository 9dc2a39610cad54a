//! The simulated table: selects what [`next_batch`](crate::deliver::next_batch) reads.

use std::collections::BTreeSet;

use shared::domain::history::HistoryEntry;
use shared::domain::webhook::{DeliveryCursor, DeliveryTask, StalledResource};

use super::Simulation;
use crate::deliver::PAGE;
use crate::deliver::in_flight::{EventGroup, EventTransport as _};
use crate::deliver::next_batch::{DeliveryBatch, STALLED_AT_ONCE};

impl Simulation {
    /// The batch that the sender would read for `task`. `idle` are the stalled resources without an event in flight.
    pub(super) fn load(
        &self,
        task: DeliveryTask,
        cursor: &DeliveryCursor,
        stalled: &[StalledResource],
        idle: &[StalledResource],
    ) -> DeliveryBatch {
        match task {
            DeliveryTask::Feed => self.load_feed(cursor, stalled),
            DeliveryTask::ProbeResource => self.load_feed(cursor, stalled).keep_one_event(),
            DeliveryTask::Stalled => {
                let now = self.network.now();
                let mut due: Vec<_> = idle.iter().filter(|one| one.due_at(cursor) <= now).collect();
                due.sort_by_key(|one| one.due_at(cursor));
                let mut batch = DeliveryBatch::default();
                due.into_iter()
                    .take(STALLED_AT_ONCE)
                    .for_each(|one| self.load_resource(cursor, one, &mut batch));
                batch
            }
            DeliveryTask::ProbeEndpoint => self.load_probe(cursor, stalled),
            DeliveryTask::Requests | DeliveryTask::CleanUp => DeliveryBatch::default(),
        }
    }

    /// The events after the cursor that are not accepted and whose resource has not stalled.
    fn waiting(
        &self,
        cursor: &DeliveryCursor,
        stalled: &[StalledResource],
    ) -> impl Iterator<Item = &HistoryEntry> {
        let after = cursor.after as usize;
        let stalled: BTreeSet<String> = stalled.iter().map(|one| one.history_id.clone()).collect();
        let accepted = cursor.accepted.clone();
        let feed = self.feed[after..(self.latest() as usize).max(after)].iter().map(|(_, entry)| entry);
        feed.filter(move |entry| {
            !accepted.contains(&entry.sequence.unwrap()) && !stalled.contains(&entry.id().history_id)
        })
    }

    fn load_feed(&self, cursor: &DeliveryCursor, stalled: &[StalledResource]) -> DeliveryBatch {
        let events: Vec<HistoryEntry> = self.waiting(cursor, stalled).take(PAGE).cloned().collect();
        let is_whole = events.len() < PAGE;
        let reached = if is_whole { self.latest() } else { events.last().unwrap().sequence.unwrap() };
        DeliveryBatch::of_feed(events, reached)
    }

    fn load_resource(&self, cursor: &DeliveryCursor, stalled: &StalledResource, batch: &mut DeliveryBatch) {
        let entries = self.feed[..self.latest() as usize].iter().map(|(_, entry)| entry);
        let left = entries.filter(|entry| {
            entry.id().history_id == stalled.history_id && entry.version_after >= stalled.next_version
        });
        batch.add_stalled(&self.webhook, cursor, stalled, &left.collect::<Vec<_>>(), false);
    }

    fn load_probe(&self, cursor: &DeliveryCursor, stalled: &[StalledResource]) -> DeliveryBatch {
        let newest = &self.feed[self.latest() as usize - 1].1;
        let of_newest =
            self.waiting(cursor, stalled).find(|entry| entry.id().history_id == newest.id().history_id);
        if let Some(first) = of_newest.filter(|_| cursor.health.failures.is_multiple_of(2)) {
            let group = EventGroup::new(first.id().history_id, vec![first.clone()], 1);
            return DeliveryBatch { groups: vec![group], ..DeliveryBatch::default() };
        }
        let mut batch = self.load_feed(cursor, stalled);
        if cursor.health.failures.is_multiple_of(2) && !batch.groups.is_empty() {
            let last = batch.groups.len() - 1;
            batch.groups.swap(0, last);
        }
        let batch = batch.keep_one_event();
        if !batch.groups.is_empty() || stalled.is_empty() {
            return batch;
        }
        let mut batch = DeliveryBatch::default();
        let oldest = stalled.iter().min_by_key(|one| one.next_try_at).unwrap();
        self.load_resource(cursor, oldest, &mut batch);
        batch.keep_one_event()
    }
}
