//! The progress of a request with an `Idempotency-Key`, kept in the table until its final response: the selection that
//! it is about, and the entries that are done. So an attempt that resumes the work acts on the same selection and
//! repeats nothing.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::idempotency::{ASK_AGAIN, KeyedAttempt, KeyedRequest};
use super::table::handle::Store;
use super::table::item::{self, EXPIRES_AT, Item, VersionedItem, number, number_in, string};
use super::table::keys;
use super::table::write::condition::WriteCondition;
use super::table::write::transaction::Transaction;
use crate::domain::secret::Sealed;
use crate::error::{Error, Result};

/// The attribute that holds a sealed selection.
const SEALED: &str = "sealed";

/// The progress of one keyed request: its attempts share the selection and the entries that are done.
#[derive(Debug, Clone)]
pub(crate) struct RequestProgress {
    request: KeyedRequest,
    /// When the progress expires, in seconds since 1970.
    expires_at: i64,
}

impl RequestProgress {
    fn is_kept(item: &Item, now: DateTime<Utc>) -> bool {
        number_in::<i64>(item, EXPIRES_AT).is_some_and(|end| end > now.timestamp())
    }
}

impl VersionedItem<KeyedAttempt> {
    /// The progress of `request`, which its attempts share until its final response.
    pub(crate) fn progress(&self, request: &KeyedRequest) -> RequestProgress {
        RequestProgress { request: request.clone(), expires_at: self.expires_at }
    }
}

impl Store {
    /// The selection that an earlier attempt at the request has stored; `None` if none has.
    pub(crate) async fn kept_selection<T: DeserializeOwned>(
        &self,
        progress: &RequestProgress,
        now: DateTime<Utc>,
    ) -> Result<Option<T>> {
        let item = self.item(&keys::idempotency_selection(&progress.request.id)).await?;
        match item.filter(|item| RequestProgress::is_kept(item, now)) {
            Some(item) => self.opened_selection(progress, &item).await.map(Some),
            None => Ok(None),
        }
    }

    /// Stores a selection for all attempts at the request. Returns the stored one: a concurrent attempt may have been faster.
    pub(crate) async fn keep_selection<T: Serialize + DeserializeOwned>(
        &self,
        progress: &RequestProgress,
        selection: T,
        now: DateTime<Utc>,
    ) -> Result<T> {
        let text = serde_json::to_vec(&selection).map_err(Error::internal)?;
        // Sealed like the response, so that only the repeated request reads the identifiers: the candidates that they
        // name may be erased before this item is.
        let sealed = self.app.seal(&progress.request.selection, &text).await?;
        let mut item =
            item::bare([(SEALED, string(sealed.as_str())), (EXPIRES_AT, number(progress.expires_at))]);
        keys::idempotency_selection(&progress.request.id).insert_into(&mut item);
        match self.put_item(item, WriteCondition::AbsentOrExpired(now)).await? {
            Ok(()) => Ok(selection),
            Err(kept) => self.opened_selection(progress, &kept.ok_or(Error::Changed)?).await,
        }
    }

    /// The indexes of the entries that attempts at the request have done.
    pub(crate) async fn done_entries(
        &self,
        progress: &RequestProgress,
        now: DateTime<Utc>,
    ) -> Result<HashSet<usize>> {
        let entries = keys::idempotency_entries(&progress.request.id);
        let found = self.all_items(&entries).await?;
        let kept = found.iter().filter(|item| RequestProgress::is_kept(item, now));
        kept.map(|item| entries.id_in(item)?.parse().map_err(Error::internal)).collect()
    }

    /// Whether an attempt at the request has done the entry at `index`.
    pub(crate) async fn is_entry_done(
        &self,
        progress: &RequestProgress,
        index: usize,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let mark = self.item(&keys::idempotency_entries(&progress.request.id).key(index)).await?;
        Ok(mark.is_some_and(|mark| RequestProgress::is_kept(&mark, now)))
    }

    /// Commits the transaction that does the entry at `index`. Returns false, and writes nothing, if another attempt at
    /// the request has done the entry already.
    pub(crate) async fn commit_entry(
        &self,
        progress: &RequestProgress,
        index: usize,
        mut transaction: Transaction,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let key = keys::idempotency_entries(&progress.request.id).key(index);
        let mark = item::bare([(EXPIRES_AT, number(progress.expires_at))]);
        // Check the mark's condition before all others: otherwise the writes of another attempt would look like another client's change.
        transaction.create_first(key, mark, now, Error::InProgress(ASK_AGAIN));
        match self.commit(transaction).await {
            Err(Error::InProgress(_)) => Ok(false),
            committed => committed.map(|()| true),
        }
    }

    async fn opened_selection<T: DeserializeOwned>(
        &self,
        progress: &RequestProgress,
        item: &Item,
    ) -> Result<T> {
        let sealed = item.get(SEALED).and_then(|sealed| sealed.as_s().ok());
        let sealed = sealed.ok_or_else(|| Error::internal("a kept selection is empty"))?;
        let opened = self.app.open(&progress.request.selection, &Sealed::new(sealed.clone())).await?;
        serde_json::from_slice(&opened).map_err(Error::internal)
    }
}
