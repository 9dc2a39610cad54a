//! Attempts at a request that takes several transactions.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::id::IdBlock;
use crate::error::Result;
use crate::store::{RequestProgress, Store, Transaction};

/// An attempt at a request that takes several transactions.
pub struct RequestAttempt {
    pub store: Store,
    /// The identifiers for everything that the request creates, equal in every attempt.
    pub ids: IdBlock,
    /// Whether an earlier attempt may have done part of the work.
    pub is_resumed: bool,
    /// `None` without an Idempotency-Key: then no retry can resume the work.
    pub(super) progress: Option<RequestProgress>,
    pub(super) now: DateTime<Utc>,
}

impl RequestAttempt {
    /// Whether the request has an Idempotency-Key, so that a retry resumes unfinished work.
    pub fn is_keyed(&self) -> bool {
        self.progress.is_some()
    }

    /// Commits one transaction of the work.
    pub async fn commit(&self, writes: Transaction) -> Result<()> {
        self.store.commit(writes).await
    }

    /// Commits the transaction of the entry at `index`. Returns false and writes nothing if another attempt at the request
    /// has done the entry.
    // Needed only if the work creates nothing: work that creates resources finds those of earlier attempts by `ids`.
    pub async fn commit_entry(&self, index: usize, writes: Transaction) -> Result<bool> {
        match &self.progress {
            Some(progress) => self.store.commit_entry(progress, index, writes, self.now).await,
            None => self.commit(writes).await.map(|()| true),
        }
    }

    /// Whether any attempt at the request has done the entry at `index`, including one that has taken over from this one.
    pub async fn is_done(&self, index: usize) -> Result<bool> {
        match &self.progress {
            Some(progress) => self.store.is_entry_done(progress, index, self.now).await,
            None => Ok(false),
        }
    }

    /// The indexes of the entries that earlier attempts at the request have done.
    pub async fn done_entries(&self) -> Result<HashSet<usize>> {
        match self.progress.as_ref().filter(|_| self.is_resumed) {
            Some(progress) => self.store.done_entries(progress, self.now).await,
            None => Ok(HashSet::new()),
        }
    }

    /// Selects what the request acts on: returns the stored selection of an earlier attempt, or stores what `select` finds now.
    // Work already done may change what `select` finds, so a retry must not select again.
    pub async fn select<T, F>(&self, select: impl FnOnce() -> F) -> Result<T>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = Result<T>>,
    {
        let Some(progress) = &self.progress else { return select().await };
        if self.is_resumed
            && let Some(selection) = self.store.kept_selection(progress, self.now).await?
        {
            return Ok(selection);
        }
        self.store.keep_selection(progress, select().await?, self.now).await
    }
}

pub enum AttemptResult<R> {
    /// The final response.
    Done(R),
    /// The response so far; a retry continues the work.
    Unfinished(R),
}
