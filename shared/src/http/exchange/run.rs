//! Work that takes several transactions.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::id::IdBlock;
use crate::error::Result;
use crate::store::{RunRecord, Store, Transaction};

/// One run of a request that takes several transactions.
pub struct IdempotentRun {
    /// The table.
    pub store: Store,
    /// The identifiers of all that the request creates; every run of the same request has the same.
    pub ids: IdBlock,
    /// Whether an earlier run may have done a part of the work.
    pub is_resumed: bool,
    /// `None` without an Idempotency-Key: no retry finishes what is left.
    pub(super) record: Option<RunRecord>,
    pub(super) now: DateTime<Utc>,
}

impl IdempotentRun {
    /// Whether the request has an Idempotency-Key, so that a retry finishes what is left.
    pub fn is_keyed(&self) -> bool {
        self.record.is_some()
    }

    /// Commits one transaction of the work.
    pub async fn commit(&self, writes: Transaction) -> Result<()> {
        self.store.commit(writes).await
    }

    /// Commits the one transaction of the entry at `index`. Returns false, and writes nothing, if another run of the same
    /// request has done the entry.
    // For work that leaves no other trace of whose it is. What creates resources finds them by their identifiers.
    pub async fn commit_entry(&self, index: usize, writes: Transaction) -> Result<bool> {
        match &self.record {
            Some(record) => self.store.commit_entry(record, index, writes, self.now).await,
            None => self.commit(writes).await.map(|()| true),
        }
    }

    /// Whether a run of the same request has done the entry at `index`: another one may go on with what this one has begun.
    pub async fn is_done(&self, index: usize) -> Result<bool> {
        match &self.record {
            Some(record) => self.store.is_entry_done(record, index, self.now).await,
            None => Ok(false),
        }
    }

    /// The entries that earlier runs of the same request have done.
    pub async fn done_entries(&self) -> Result<HashSet<usize>> {
        match self.record.as_ref().filter(|_| self.is_resumed) {
            Some(record) => self.store.done_entries(record, self.now).await,
            None => Ok(HashSet::new()),
        }
    }

    /// What the request is about: what an earlier run of the same request has found by `select`, or what `select` finds now.
    // The same question may have another answer once a part of the work is done.
    pub async fn select<T, F>(&self, select: impl FnOnce() -> F) -> Result<T>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T>>,
    {
        let Some(record) = &self.record else { return select().await };
        if self.is_resumed
            && let Some(selection) = self.store.kept_selection(record, self.now).await?
        {
            return Ok(selection);
        }
        self.store.keep_selection(record, select().await?, self.now).await
    }
}

pub enum RunResult<R> {
    /// The final response.
    Done(R),
    /// The response so far; a retry continues.
    Unfinished(R),
}
