//! Access patterns of the queues of takes that wait for their conversion: one for each company, and a list of them.

use chrono::{DateTime, Utc};

use super::table::item::{self, StoredEntity, VersionedItem};
use super::table::keys::{self, ItemKey};
use super::table::query::Query;
use super::{RetryPolicy, Store};
use crate::domain::conversion::queue::{ConversionQueue, WaitingTake};
use crate::domain::id::CompanyId;
use crate::error::{Error, Result};

impl StoredEntity for WaitingTake {
    fn key(&self) -> ItemKey {
        keys::waiting_takes(&self.company).key(self.place())
    }
}

impl StoredEntity for ConversionQueue {
    fn key(&self) -> ItemKey {
        keys::conversion_queues().key(&self.company)
    }
}

impl Store {
    /// Has a take wait for its conversion. Idempotent.
    pub async fn queue_take(&self, take: &WaitingTake) -> Result<()> {
        self.put(take.key(), item::write(take, 1)?).await?;
        // After the take: `remove_queue` looks for takes once the queue is gone, so one of both sees the other's write.
        self.ensure_queue(&take.company).await
    }

    /// Creates the queue of a company unless it exists.
    // It is only read mostly, so thousands of takes at one deadline do not compete for it.
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

    /// Takes the take whose turn it is from its queue, because of `event`: the one that waits longest, of the company whose
    /// [turn](ConversionQueue::sort_by_turn) it is. If the event comes again, it is the same take. `None` if none waits. Fails
    /// with [`Error::Changed`] if it loses against too many others.
    pub async fn claim_take(&self, event: &str, now: DateTime<Utc>) -> Result<Option<WaitingTake>> {
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

    async fn try_to_claim(&self, event: &str, now: DateTime<Utc>) -> Result<Option<WaitingTake>> {
        let mut queues: Vec<VersionedItem<ConversionQueue>> = self.all(&keys::conversion_queues()).await?;
        for queue in &queues {
            if let Some(place) = queue.place_of(event, now) {
                let take = self.one::<WaitingTake>(keys::waiting_takes(&queue.company).key(place)).await?;
                if let Some(take) = take {
                    return Ok(Some(WaitingTake::clone(&take)));
                }
                // Killed after it had done everything but this.
                self.end_turn(&queue.company, event, now).await?;
                return Ok(None);
            }
        }
        ConversionQueue::sort_by_turn(&mut queues, now);
        for queue in &queues {
            match self.first_waiting(queue, now).await? {
                Some(take) => {
                    let after = ConversionQueue::clone(queue).started(take.place(), event, now);
                    self.replace(queue, after).await?;
                    return Ok(Some(take));
                }
                None if queue.count_running(now) == 0 => self.remove_queue(queue).await?,
                None => {}
            }
        }
        Ok(None)
    }

    /// Takes a take whose conversion has ended, because of `event`, out of its queue.
    pub async fn release_take(&self, take: &WaitingTake, event: &str, now: DateTime<Utc>) -> Result<()> {
        self.delete_alone(&take.key()).await?;
        self.end_turn(&take.company, event, now).await
    }

    async fn end_turn(&self, company: &CompanyId, event: &str, now: DateTime<Utc>) -> Result<()> {
        let mut lost = 0;
        while RetryPolicy::CLAIM.may_retry(lost, self.usage.elapsed()) {
            let queue = self.one::<ConversionQueue>(keys::conversion_queues().key(company)).await?;
            let Some(queue) = queue else { return Ok(()) };
            let after = ConversionQueue::clone(&queue).ended(event);
            let is_idle = after.count_running(now) == 0;
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
        // Until its time is over, it counts as one that runs.
        Ok(())
    }

    /// The take of a company that waits longest and is not being converted.
    async fn first_waiting(
        &self,
        queue: &ConversionQueue,
        now: DateTime<Utc>,
    ) -> Result<Option<WaitingTake>> {
        let waiting = Query::of(&keys::waiting_takes(&queue.company));
        let rows = self.query_rows(waiting, queue.count_running(now) + 1).await?;
        let takes: Vec<VersionedItem<WaitingTake>> = item::readable(rows)?;
        Ok(takes
            .iter()
            .find(|take| !queue.is_running(&take.place(), now))
            .map(|take| WaitingTake::clone(take)))
    }

    /// Deletes the queue of a company without takes. Fails with [`Error::Changed`] after a concurrent write.
    async fn remove_queue(&self, queue: &VersionedItem<ConversionQueue>) -> Result<()> {
        self.erase(queue).await?;
        let waiting = Query::of(&keys::waiting_takes(&queue.company));
        if self.query_rows(waiting, 1).await?.is_empty() {
            Ok(())
        } else {
            self.ensure_queue(&queue.company).await
        }
    }
}
