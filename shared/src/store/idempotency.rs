//! Requests with an `Idempotency-Key`: their stored responses, and the leases of those that are running.
//!
//! A request with one transaction commits its response in that transaction, so that either both exist or neither.
//!
//! A request with several transactions writes an item before its work and again after it. In between, the item is a
//! lease. When the lease expires, a repeated request resumes the work with the same identifiers, and so finds the
//! resources that exist.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::table::handle::Store;
use super::table::item::{self, EXPIRES_AT, StoredEntity, VersionedItem, number, string};
use super::table::keys::{self, ItemKey};
use super::table::read::batch::ItemBatch;
use super::table::write::condition::WriteCondition;
use super::table::write::transaction::Transaction;
use crate::domain::id::IdBlock;
use crate::domain::secret::Sealed;
use crate::error::{Error, Result};
use crate::seals::SealPlace;

/// How long a response is kept.
const REMEMBERED: TimeDelta = TimeDelta::hours(24);
/// How long a lease of a request lasts.
// Longer than functions that answer requests may run.
const LEASE: TimeDelta = TimeDelta::seconds(30);
/// The longest time after which a client is told to retry, in seconds.
pub(in crate::store) const ASK_AGAIN: i64 = 5;
/// The longest text in one item, in bytes. An item holds 400 KB, keys and other attributes included.
const TEXT: usize = 350 * 1024;
/// The attribute that holds a further part of a response.
const BODY: &str = "body";

/// A request with an `Idempotency-Key`. It runs once, however often it is sent.
#[derive(Debug, Clone)]
pub(crate) struct KeyedRequest {
    /// The hash of the request's sender, route and key.
    pub(in crate::store) id: String,
    /// The hash of key, query and body. It differs for another request with the same key.
    fingerprint: String,
    /// The place for which the response is sealed.
    answer: SealPlace,
    /// The place for which the selection of the request is sealed.
    pub(in crate::store) selection: SealPlace,
}

/// An `Idempotency-Key` and the request that it came with, before the sender is known.
#[derive(Debug)]
pub(crate) struct RequestIntent {
    /// Method and path.
    pub(crate) route: String,
    pub(crate) key: String,
    /// The hash of key, query and body.
    pub(crate) fingerprint: String,
}

impl RequestIntent {
    /// The request of this sender. Only they can replay its response.
    pub(crate) fn sent_by(&self, sender: &str) -> KeyedRequest {
        // The separator cannot occur in any of the parts.
        let name = format!("{sender}\n{}\n{}", self.route, self.key);
        KeyedRequest {
            id: keys::idempotency_id(&name),
            fingerprint: self.fingerprint.clone(),
            answer: SealPlace::of_request(&name, "answer"),
            selection: SealPlace::of_request(&name, "selection"),
        }
    }
}

impl KeyedRequest {
    pub(crate) fn key(&self) -> ItemKey {
        keys::idempotency(&self.id)
    }

    fn attempt(&self, state: AttemptState, now: DateTime<Utc>) -> KeyedAttempt {
        let Self { id, fingerprint, .. } = self.clone();
        KeyedAttempt { id, fingerprint, state, expires_at: (now + REMEMBERED).timestamp() }
    }
}

/// A response that is stored to be replayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredResponse {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) tag: Option<String>,
    /// JSON, or empty.
    pub(crate) body: String,
}

/// The item of a keyed request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct KeyedAttempt {
    id: String,
    fingerprint: String,
    state: AttemptState,
    /// When the item expires, in seconds since 1970. DynamoDB deletes it some time later; until then, code that reads
    /// it must check this date.
    pub(super) expires_at: i64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AttemptState {
    /// Leased until this time. The request creates resources with these identifiers.
    Running { ids: IdBlock, until: DateTime<Utc> },
    /// The sealed response, as far as it fits into one item, and the number of further parts.
    Done { sealed: Sealed, parts: usize },
}

/// The outcome of taking the lease of a keyed request.
pub(crate) enum LeaseResult {
    /// This caller holds the lease, of a new request or of an unfinished one. The identifiers are those to create resources with.
    Ours(VersionedItem<KeyedAttempt>, IdBlock),
    Done(StoredResponse),
}

/// An earlier request with the same key from the same sender.
#[derive(Debug, Clone)]
pub(crate) enum EarlierRequest {
    /// The earlier request was this one, and has a response.
    Answered(StoredResponse),
    /// The earlier request is this one, and is running. Its lease ends at this time.
    Running(DateTime<Utc>),
    /// The earlier request was another one, so the key cannot be used again.
    Other,
}

impl StoredEntity for KeyedAttempt {
    fn key(&self) -> ItemKey {
        keys::idempotency(&self.id)
    }
}

impl VersionedItem<KeyedAttempt> {
    /// Whether an earlier attempt may have done a part of the work.
    pub(crate) fn is_resumed(&self) -> bool {
        self.version() > 1
    }

    fn part(&self, version: u64, part: usize) -> ItemKey {
        keys::idempotency_part(&self.id, version, part)
    }
}

impl Store {
    pub(crate) async fn take_earlier(
        &self,
        batch: &mut ItemBatch,
        request: &KeyedRequest,
        now: DateTime<Utc>,
    ) -> Result<Option<EarlierRequest>> {
        let attempt = batch.take::<KeyedAttempt>(&request.key())?;
        match attempt.filter(|attempt| attempt.expires_at > now.timestamp()) {
            Some(attempt) => self.judge(&attempt, request).await.map(Some),
            None => Ok(None),
        }
    }

    /// The response of an earlier request, if there is one. Fails with [`Error::KeyReused`] (another request had the
    /// key) or [`Error::InProgress`] (it is still running).
    pub(crate) async fn find_response(
        &self,
        request: &KeyedRequest,
        now: DateTime<Utc>,
    ) -> Result<Option<StoredResponse>> {
        let mut batch = self.get([request.key()]).await?;
        match self.take_earlier(&mut batch, request, now).await? {
            Some(EarlierRequest::Answered(answer)) => Ok(Some(answer)),
            Some(EarlierRequest::Running(until)) => Err(in_progress(until, now)),
            Some(EarlierRequest::Other) => Err(Error::KeyReused),
            None => Ok(None),
        }
    }

    async fn judge(
        &self,
        attempt: &VersionedItem<KeyedAttempt>,
        request: &KeyedRequest,
    ) -> Result<EarlierRequest> {
        if attempt.fingerprint != request.fingerprint {
            return Ok(EarlierRequest::Other);
        }
        match attempt.state.clone() {
            AttemptState::Running { until, .. } => Ok(EarlierRequest::Running(until)),
            AttemptState::Done { sealed, parts } => {
                let sealed = self.whole(attempt, sealed, parts).await?;
                let answer = serde_json::from_slice(&self.app.open(&request.answer, &sealed).await?);
                Ok(EarlierRequest::Answered(answer.map_err(Error::internal)?))
            }
        }
    }

    /// Commits a transaction together with its response. If an earlier request has a response, returns that instead.
    /// Fails with the errors of the transaction, [`Error::KeyReused`] or [`Error::InProgress`].
    pub(crate) async fn commit_with_response(
        &self,
        mut transaction: Transaction,
        request: &KeyedRequest,
        answer: &StoredResponse,
        now: DateTime<Utc>,
    ) -> Result<Option<StoredResponse>> {
        // The response to one transaction is far smaller than the limit of an item.
        let state = AttemptState::Done { sealed: self.sealed(request, answer).await?, parts: 0 };
        let item = item::write(&request.attempt(state, now), 1)?;
        // Check the attempt's condition before all others: a concurrent retry must learn that the request is running,
        // not that a name is taken.
        transaction.create_first(request.key(), item, now, Error::InProgress(ASK_AGAIN));
        match self.commit(transaction).await {
            Err(Error::InProgress(seconds)) => match self.find_response(request, now).await? {
                Some(answer) => Ok(Some(answer)),
                None => Err(Error::InProgress(seconds)),
            },
            done => done.map(|()| None),
        }
    }

    /// Takes the lease of a request, unless it has a response. Fails with [`Error::KeyReused`], and with
    /// [`Error::InProgress`] while another worker holds the lease.
    pub(crate) async fn take_lease(&self, request: &KeyedRequest, now: DateTime<Utc>) -> Result<LeaseResult> {
        let own = self.next_ids(now);
        let until = now + LEASE;
        let attempt = request.attempt(AttemptState::Running { ids: own, until }, now);
        let attempt = item::first(attempt)?;
        let before =
            match self.put_item(attempt.stored().clone(), WriteCondition::AbsentOrExpired(now)).await? {
                Ok(()) => return Ok(LeaseResult::Ours(attempt, own)),
                Err(before) => item::read::<KeyedAttempt>(before.ok_or(Error::Changed)?)?,
            };
        let (ids, running_until) = match (self.judge(&before, request).await?, &before.state) {
            (EarlierRequest::Answered(answer), _) => return Ok(LeaseResult::Done(answer)),
            (EarlierRequest::Running(until), AttemptState::Running { ids, .. }) => (*ids, until),
            _ => return Err(Error::KeyReused),
        };
        if ids == own {
            // The stored item is this attempt's own write: DynamoDB's response to it was lost.
            return Ok(LeaseResult::Ours(before, ids));
        }
        if running_until > now {
            return Err(in_progress(running_until, now));
        }
        let resumed =
            KeyedAttempt { state: AttemptState::Running { ids, until }, ..KeyedAttempt::clone(&before) };
        match self.replace(&before, resumed).await {
            // Of several concurrent repeats, one gets the lease.
            Err(Error::Changed) => Err(Error::InProgress(ASK_AGAIN)),
            resumed => resumed.map(|attempt| LeaseResult::Ours(attempt, ids)),
        }
    }

    /// Stores the response for repeated requests. Fails with [`Error::Changed`] if another worker has taken the lease.
    pub(crate) async fn store_response(
        &self,
        request: &KeyedRequest,
        attempt: &VersionedItem<KeyedAttempt>,
        answer: &StoredResponse,
    ) -> Result<()> {
        let sealed = self.sealed(request, answer).await?;
        let mut texts = texts(sealed.as_str());
        let first = texts.next().unwrap_or_default().to_owned();
        let mut parts = 0;
        // Store the parts before the attempt refers to them, and under keys of this attempt's version: another worker
        // may hold the lease by now.
        for text in texts {
            let item = item::bare([(BODY, string(text)), (EXPIRES_AT, number(attempt.expires_at))]);
            self.put(attempt.part(attempt.version(), parts), item).await?;
            parts += 1;
        }
        let done = KeyedAttempt {
            state: AttemptState::Done { sealed: Sealed::new(first), parts },
            ..KeyedAttempt::clone(attempt)
        };
        self.replace(attempt, done).await.map(drop)
    }

    async fn sealed(&self, request: &KeyedRequest, answer: &StoredResponse) -> Result<Sealed> {
        // Seal the response: otherwise the names and secrets in it would outlive the erasure of their owners by up to a day.
        let text = serde_json::to_vec(answer).map_err(Error::internal)?;
        // Store the response instead of reading the resource again for a replay, which would show later changes.
        self.app.seal(&request.answer, &text).await
    }

    /// Reads all parts of a sealed response.
    async fn whole(
        &self,
        attempt: &VersionedItem<KeyedAttempt>,
        first: Sealed,
        parts: usize,
    ) -> Result<Sealed> {
        if parts == 0 {
            return Ok(first);
        }
        let mut sealed = first.as_str().to_owned();
        // The parts have the version of the lease, which is the write before the last.
        let keys: Vec<ItemKey> = (0..parts).map(|part| attempt.part(attempt.version() - 1, part)).collect();
        let mut batch = self.get(keys.clone()).await?;
        for key in &keys {
            let item = batch.take_item(key).unwrap_or_default();
            let text = item.get(BODY).and_then(|text| text.as_s().ok());
            sealed.push_str(text.ok_or_else(|| Error::internal("a part of an answer is missing"))?);
        }
        Ok(Sealed::new(sealed))
    }

    /// Ends the lease, so that a repeated request resumes the work. Fails with [`Error::Changed`] if another worker has
    /// taken the lease.
    pub(crate) async fn end_lease(
        &self,
        attempt: &VersionedItem<KeyedAttempt>,
        ids: IdBlock,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let left =
            KeyedAttempt { state: AttemptState::Running { ids, until: now }, ..KeyedAttempt::clone(attempt) };
        self.replace(attempt, left).await.map(drop)
    }

    /// Deletes the item of a request that has changed nothing. Fails with [`Error::Changed`] if another worker has taken the lease.
    pub(crate) async fn delete_attempt(&self, attempt: &VersionedItem<KeyedAttempt>) -> Result<()> {
        self.erase(attempt).await
    }
}

fn in_progress(until: DateTime<Utc>, now: DateTime<Utc>) -> Error {
    Error::InProgress((until - now).num_seconds().clamp(1, ASK_AGAIN))
}

/// Splits `text` into pieces of at most [`TEXT`] bytes.
fn texts(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (piece, rest) = text.split_at(text.floor_char_boundary(TEXT));
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_loses_none() {
        for text in [String::new(), "a".repeat(TEXT), format!("a{}", "é".repeat(TEXT))] {
            let pieces: Vec<&str> = texts(&text).collect();
            assert_eq!(pieces.concat(), text);
            assert!(pieces.iter().all(|piece| piece.len() <= TEXT));
        }
    }
}
