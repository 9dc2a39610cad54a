//! What the runs of one keyed request keep in the table until its final answer: what it is about, and which of its entries are
//! done. So a run that resumes the work is about the same, and does nothing twice.

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

/// Where the runs of a keyed request keep what they must not forget.
#[derive(Debug, Clone)]
pub(crate) struct RunRecord {
    request: KeyedRequest,
    /// When the request is forgotten, in seconds since 1970.
    expires_at: i64,
}

impl RunRecord {
    fn is_kept(item: &Item, now: DateTime<Utc>) -> bool {
        number_in::<i64>(item, EXPIRES_AT).is_some_and(|end| end > now.timestamp())
    }
}

impl VersionedItem<KeyedAttempt> {
    /// The record that runs of the request keep until it is answered for good.
    pub(crate) fn record(&self, request: &KeyedRequest) -> RunRecord {
        RunRecord { request: request.clone(), expires_at: self.expires_at }
    }
}

impl Store {
    /// The selection that a run of the request has kept; `None` if none has.
    pub(crate) async fn kept_selection<T: DeserializeOwned>(
        &self,
        record: &RunRecord,
        now: DateTime<Utc>,
    ) -> Result<Option<T>> {
        let item = self.item(&keys::idempotency_selection(&record.request.id)).await?;
        match item.filter(|item| RunRecord::is_kept(item, now)) {
            Some(item) => self.opened_selection(record, &item).await.map(Some),
            None => Ok(None),
        }
    }

    /// Keeps a selection for all runs of the request, and returns the one that is kept: a concurrent run may have been faster.
    pub(crate) async fn keep_selection<T: Serialize + DeserializeOwned>(
        &self,
        record: &RunRecord,
        selection: T,
        now: DateTime<Utc>,
    ) -> Result<T> {
        let text = serde_json::to_vec(&selection).map_err(Error::internal)?;
        // Sealed like the answer: identifiers must not outlive what they name, not even by a day.
        let sealed = self.app.seal(&record.request.selection, &text).await?;
        let mut item =
            item::bare([(SEALED, string(sealed.as_str())), (EXPIRES_AT, number(record.expires_at))]);
        item.extend(keys::idempotency_selection(&record.request.id).into_attributes());
        match self.put_item(item, WriteCondition::AbsentOrExpired(now)).await? {
            Ok(()) => Ok(selection),
            Err(kept) => self.opened_selection(record, &kept.ok_or(Error::Changed)?).await,
        }
    }

    /// The places of the entries that runs of the request have done.
    pub(crate) async fn done_entries(
        &self,
        record: &RunRecord,
        now: DateTime<Utc>,
    ) -> Result<HashSet<usize>> {
        let entries = keys::idempotency_entries(&record.request.id);
        let found = self.all_items(&entries).await?;
        let kept = found.iter().filter(|item| RunRecord::is_kept(item, now));
        kept.map(|item| entries.id_in(item)?.parse().map_err(Error::internal)).collect()
    }

    /// Whether a run of the request has done the entry at `index`.
    pub(crate) async fn is_entry_done(
        &self,
        record: &RunRecord,
        index: usize,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let mark = self.item(&keys::idempotency_entries(&record.request.id).key(index)).await?;
        Ok(mark.is_some_and(|mark| RunRecord::is_kept(&mark, now)))
    }

    /// Commits the transaction that does the entry at `index`. Returns false, and writes nothing, if a run of the request has
    /// done it already.
    pub(crate) async fn commit_entry(
        &self,
        record: &RunRecord,
        index: usize,
        mut transaction: Transaction,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let key = keys::idempotency_entries(&record.request.id).key(index);
        let mark = item::bare([(EXPIRES_AT, number(record.expires_at))]);
        // Before all other conditions: what the other run has written would look like another client's change.
        transaction.create_first(key, mark, now, Error::InProgress(ASK_AGAIN));
        match self.commit(transaction).await {
            Err(Error::InProgress(_)) => Ok(false),
            committed => committed.map(|()| true),
        }
    }

    async fn opened_selection<T: DeserializeOwned>(&self, record: &RunRecord, item: &Item) -> Result<T> {
        let sealed = item.get(SEALED).and_then(|sealed| sealed.as_s().ok());
        let sealed = sealed.ok_or_else(|| Error::internal("a kept selection is empty"))?;
        let opened = self.app.open(&record.request.selection, &Sealed::new(sealed.clone())).await?;
        serde_json::from_slice(&opened).map_err(Error::internal)
    }
}
