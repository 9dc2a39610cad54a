//! Access patterns of recordings that wait for their conversion: a queue for each company, and the list of these queues.

use std::pin::pin;

use chrono::{DateTime, Utc};
use futures_util::stream::TryStreamExt as _;

use crate::domain::id::CompanyId;
use crate::domain::media::conversion::queue::{ConversionQueue, WaitingRecording};
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::read::query::Query;
use crate::store::table::retry::RetryPolicy;

impl StoredEntity for WaitingRecording {
    fn key(&self) -> ItemKey {
        keys::waiting_recordings(&self.company).key(self.place())
    }
}

impl StoredEntity for ConversionQueue {
    fn key(&self) -> ItemKey {
        keys::conversion_queues().key(&self.company)
    }
}

impl Store {
    /// Adds a recording to the conversion queue of its company. Idempotent.
    pub async fn queue_recording(&self, waiting: &WaitingRecording) -> Result<()> {
        self.put(waiting.key(), item::write(waiting, 1)?).await?;
        // Write the recording before the queue: `remove_queue` looks for recordings after it has deleted the queue, so
        // one of the two sees the other's write.
        self.ensure_queue(&waiting.company).await
    }

    /// Creates the queue of a company unless it exists.
    // Usually the queue is only read, so thousands of recordings at one deadline do not compete for it.
    async fn ensure_queue(&self, company: &CompanyId) -> Result<()> {
        let queue = ConversionQueue::of(company.clone());
        if self.item(&queue.key()).await?.is_some() {
            return Ok(());
        }
        match self.create_alone(queue).await {
            Ok(_) | Err(Error::Changed) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Claims for `event` the recording whose turn it is: the one that has waited longest, of the company whose
    /// [turn](ConversionQueue::sort_by_turn) it is. If the event is delivered again, returns the same recording.
    /// Returns `None` if no recording waits. Fails with [`Error::Changed`] after too many conflicts with other claims.
    pub async fn claim_recording(&self, event: &str, now: DateTime<Utc>) -> Result<Option<WaitingRecording>> {
        let mut lost = 0;
        loop {
            match self.try_to_claim(event, now).await {
                Err(Error::Changed) if RetryPolicy::CLAIM.may_retry(lost + 1, self.usage.elapsed()) => {
                    lost += 1
                }
                settled => return settled,
            }
            self.back_off(lost).await;
        }
    }

    async fn try_to_claim(&self, event: &str, now: DateTime<Utc>) -> Result<Option<WaitingRecording>> {
        let mut queues: Vec<VersionedItem<ConversionQueue>> = self.all(&keys::conversion_queues()).await?;
        for queue in &queues {
            if let Some(place) = queue.place_of(event, now) {
                let key = keys::waiting_recordings(&queue.company).key(place);
                if let Some(waiting) = self.one::<WaitingRecording>(key).await? {
                    return Ok(Some(WaitingRecording::clone(&waiting)));
                }
                // An earlier execution released the recording, but was killed before it could end its turn.
                self.end_turn(&queue.company, event, now).await?;
                return Ok(None);
            }
        }
        ConversionQueue::sort_by_turn(&mut queues, now);
        for queue in &queues {
            match self.first_waiting(queue, now).await? {
                Some(waiting) => {
                    let after = ConversionQueue::clone(queue).started(waiting.place(), event, now);
                    self.replace(queue, after).await?;
                    return Ok(Some(waiting));
                }
                None if queue.count_executions(now) == 0 => self.remove_queue(queue).await?,
                None => {}
            }
        }
        Ok(None)
    }

    /// Removes a recording from its queue once the conversion that `event` started has ended.
    pub async fn release_recording(
        &self,
        waiting: &WaitingRecording,
        event: &str,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.delete_alone(&waiting.key()).await?;
        self.end_turn(&waiting.company, event, now).await
    }

    async fn end_turn(&self, company: &CompanyId, event: &str, now: DateTime<Utc>) -> Result<()> {
        let mut lost = 0;
        while RetryPolicy::CLAIM.may_retry(lost, self.usage.elapsed()) {
            let queue = self.one::<ConversionQueue>(keys::conversion_queues().key(company)).await?;
            let Some(queue) = queue else { return Ok(()) };
            let after = ConversionQueue::clone(&queue).ended(event);
            let is_idle = after.count_executions(now) == 0;
            let settled = if is_idle && self.first_waiting(&after, now).await?.is_none() {
                self.remove_queue(&queue).await
            } else {
                self.replace(&queue, after).await.map(drop)
            };
            match settled {
                Err(Error::Changed) => lost += 1,
                settled => return settled,
            }
            self.back_off(lost).await;
        }
        // Give up: the execution then counts as running until its time is over.
        Ok(())
    }

    /// The recording of a company that has waited longest and is not being converted.
    async fn first_waiting(
        &self,
        queue: &ConversionQueue,
        now: DateTime<Utc>,
    ) -> Result<Option<WaitingRecording>> {
        let mut waiting = Query::of(&keys::waiting_recordings(&queue.company));
        // One page is enough, unless some recordings cannot be read: those must not hide the recordings after them.
        waiting.limit = Some(queue.count_executions(now) + 1);
        let mut pages = pin!(self.query_pages(waiting));
        while let Some(page) = pages.try_next().await? {
            let recordings: Vec<VersionedItem<WaitingRecording>> = item::readable(page.rows)?;
            let next = recordings.iter().find(|waiting| !queue.is_converting(&waiting.place(), now));
            if let Some(waiting) = next {
                return Ok(Some(WaitingRecording::clone(waiting)));
            }
        }
        Ok(None)
    }

    /// Deletes the queue of a company without recordings. Fails with [`Error::Changed`] after a concurrent write.
    async fn remove_queue(&self, queue: &VersionedItem<ConversionQueue>) -> Result<()> {
        self.erase(queue).await?;
        let waiting = Query::of(&keys::waiting_recordings(&queue.company));
        if self.query_rows(waiting, 1).await?.is_empty() {
            Ok(())
        } else {
            self.ensure_queue(&queue.company).await
        }
    }
}
