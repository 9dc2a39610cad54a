//! Requests with an Idempotency-Key: what was answered, or who is at it.
//!
//! A request of one transaction notes its answer in that transaction, so that there is never one without the other.
//!
//! For one of several an item is written before the work and once more after it. In between it holds a lease: when that
//! runs out, whoever had it is dead, and a repeat goes on with the same identifiers, by which it finds what is done
//! already.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::Store;
use super::batch::Batch;
use super::condition::Condition;
use super::item::{self, EXPIRES_AT, Entity, Versioned, number, string};
use super::keys::{self, Key};
use super::sealed::SealingKey;
use super::transaction::Transaction;
use crate::domain::id::IdBlock;
use crate::error::{Error, Result};

/// How long an answer is known.
const REMEMBERED: TimeDelta = TimeDelta::hours(24);
/// How long nobody else takes on what somebody is at: longer than a function that answers requests may run.
const LEASE: TimeDelta = TimeDelta::seconds(30);
/// The most seconds after which it is worth asking again.
const ASK_AGAIN: i64 = 5;
/// The longest text in one item, in bytes: DynamoDB takes 400 KB with all that stands beside it.
const TEXT: usize = 350 * 1024;
/// The attribute of an item that holds one more part of an answer.
const BODY: &str = "body";

/// A request that its sender names by a key, so that it is done once however often it is sent.
#[derive(Debug, Clone)]
pub(crate) struct KeyedRequest {
    /// The hash of who sends it, the route and the key.
    pub(crate) id: String,
    /// The hash of all else that it says.
    pub(crate) fingerprint: String,
    /// What its answer is sealed with.
    pub(crate) sealing_key: SealingKey,
}

impl KeyedRequest {
    /// Where what is known of it stands.
    pub(crate) fn key(&self) -> Key {
        keys::idempotency(&self.id)
    }

    fn attempt(&self, state: State, now: DateTime<Utc>) -> Attempt {
        let Self { id, fingerprint, .. } = self.clone();
        Attempt { id, fingerprint, state, expires_at: (now + REMEMBERED).timestamp() }
    }
}

/// An answer that can be given again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The address of what was created.
    pub(crate) location: Option<String>,
    /// What is shown, and as of when.
    #[serde(default)]
    pub(crate) tag: Option<String>,
    /// JSON, or nothing.
    pub(crate) body: String,
}

/// What is known of such a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Attempt {
    id: String,
    fingerprint: String,
    state: State,
    /// In seconds since 1970, for DynamoDB to delete it some time after; until then it is refused by this date.
    expires_at: i64,
}

/// How far it has come.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// Somebody is at it, and creates things with these identifiers.
    Running { ids: IdBlock, until: DateTime<Utc> },
    /// The sealed answer, up to what one item holds, and in how many more parts the rest stands.
    Done { sealed: String, parts: usize },
}

/// What a request with a key has come to.
pub(crate) enum Begun {
    /// It is the sender's to do, for the first time or from where somebody left it, with these identifiers.
    Ours(Versioned<Attempt>, IdBlock),
    /// It was done before.
    Done(Answer),
}

/// What the same sender has sent before under the same key.
#[derive(Debug, Clone)]
pub(crate) enum Earlier {
    /// This very request, which was answered so.
    Answered(Answer),
    /// This very request, which somebody is at, or was, until then.
    Running(DateTime<Utc>),
    /// Another.
    Other,
}

impl Entity for Attempt {
    fn key(&self) -> Key {
        keys::idempotency(&self.id)
    }
}

impl Versioned<Attempt> {
    /// Whether somebody was at it before, so that some of it may be done.
    pub(crate) fn is_resumed(&self) -> bool {
        self.version() > 1
    }

    fn part(&self, version: u64, part: usize) -> Key {
        keys::idempotency_part(&self.id, version, part)
    }
}

impl Store {
    /// What is known at `now` of a request, whose item was among what was read.
    pub(crate) async fn earlier_in(
        &self,
        batch: &mut Batch,
        request: &KeyedRequest,
        now: DateTime<Utc>,
    ) -> Result<Option<Earlier>> {
        let attempt = batch.take::<Attempt>(&request.key())?;
        match attempt.filter(|attempt| attempt.expires_at > now.timestamp()) {
            Some(attempt) => self.judge(&attempt, request).await.map(Some),
            None => Ok(None),
        }
    }

    /// The answer to a request that somebody else has done meanwhile, if somebody has.
    ///
    /// # Errors
    /// [`Error::KeyReused`], [`Error::InProgress`].
    pub(crate) async fn answered(
        &self,
        request: &KeyedRequest,
        now: DateTime<Utc>,
    ) -> Result<Option<Answer>> {
        let mut batch = self.get([request.key()]).await?;
        match self.earlier_in(&mut batch, request, now).await? {
            Some(Earlier::Answered(answer)) => Ok(Some(answer)),
            Some(Earlier::Running(until)) => Err(in_progress(until, now)),
            Some(Earlier::Other) => Err(Error::KeyReused),
            None => Ok(None),
        }
    }

    async fn judge(&self, attempt: &Versioned<Attempt>, request: &KeyedRequest) -> Result<Earlier> {
        if attempt.fingerprint != request.fingerprint {
            return Ok(Earlier::Other);
        }
        match attempt.state.clone() {
            State::Running { until, .. } => Ok(Earlier::Running(until)),
            State::Done { sealed, parts } => {
                let sealed = self.whole(attempt, sealed, parts).await?;
                let answer = serde_json::from_slice(&request.sealing_key.open(&sealed)?);
                Ok(Earlier::Answered(answer.map_err(Error::internal)?))
            }
        }
    }

    /// Commits `transaction` at `now` together with the answer that tells of it; gives the answer that another attempt at
    /// the same request has committed before.
    ///
    /// # Errors
    /// Those of the transaction; [`Error::KeyReused`], [`Error::InProgress`].
    pub(crate) async fn commit_with(
        &self,
        mut transaction: Transaction,
        (request, answer): (&KeyedRequest, &Answer),
        now: DateTime<Utc>,
    ) -> Result<Option<Answer>> {
        // What one transaction makes is shown in far less than an item holds.
        let state = State::Done { sealed: self.sealed(request, answer)?, parts: 0 };
        let item = item::write(&request.attempt(state, now), 1)?;
        transaction.create_first(request.key(), item, now, Error::InProgress(ASK_AGAIN));
        match self.commit(transaction).await {
            Err(Error::InProgress(seconds)) => match self.answered(request, now).await? {
                Some(answer) => Ok(Some(answer)),
                None => Err(Error::InProgress(seconds)),
            },
            done => done.map(|()| None),
        }
    }

    /// Takes a request on at `now`, unless it is done or somebody is at it.
    ///
    /// # Errors
    /// [`Error::KeyReused`], [`Error::InProgress`].
    pub(crate) async fn begin(&self, request: &KeyedRequest, now: DateTime<Utc>) -> Result<Begun> {
        let own = self.next_ids(now);
        let until = now + LEASE;
        let attempt = request.attempt(State::Running { ids: own, until }, now);
        let Some(before) = self.create_attempt(&attempt, now).await? else {
            return Ok(Begun::Ours(item::first(attempt)?, own));
        };
        let (ids, running_until) = match (self.judge(&before, request).await?, &before.state) {
            (Earlier::Answered(answer), _) => return Ok(Begun::Done(answer)),
            (Earlier::Running(until), State::Running { ids, .. }) => (*ids, until),
            _ => return Err(Error::KeyReused),
        };
        if ids == own {
            // The answer to the first try at writing it got lost.
            return Ok(Begun::Ours(before, ids));
        }
        if running_until > now {
            return Err(in_progress(running_until, now));
        }
        let resumed = Attempt { state: State::Running { ids, until }, ..Attempt::clone(&before) };
        match self.replace(&before, resumed).await {
            // Of several who would go on with it one does.
            Err(Error::Changed) => Err(Error::InProgress(ASK_AGAIN)),
            resumed => resumed.map(|attempt| Begun::Ours(attempt, ids)),
        }
    }

    /// Writes an attempt unless there is one that has not expired by `now`, and gives that.
    async fn create_attempt(
        &self,
        attempt: &Attempt,
        now: DateTime<Utc>,
    ) -> Result<Option<Versioned<Attempt>>> {
        let condition = Condition::AbsentOrExpired(now);
        match self.put_item(item::write(attempt, 1)?, condition).await? {
            Ok(()) => Ok(None),
            Err(Some(before)) => item::read(before).map(Some),
            Err(None) => Err(Error::Changed),
        }
    }

    /// Notes the answer, to be given to all repeats.
    ///
    /// # Errors
    /// [`Error::Changed`] when somebody else has taken the request on since.
    pub(crate) async fn finish(
        &self,
        request: &KeyedRequest,
        attempt: &Versioned<Attempt>,
        answer: &Answer,
    ) -> Result<()> {
        let sealed = self.sealed(request, answer)?;
        let mut texts = texts(&sealed);
        let first = texts.next().unwrap_or_default().to_owned();
        let mut parts = 0;
        // Before the attempt tells of them. Under a name of their own: somebody else may be at the same.
        for text in texts {
            let item = item::bare([(BODY, string(text)), (EXPIRES_AT, number(attempt.expires_at))]);
            self.put(attempt.part(attempt.version(), parts), item).await?;
            parts += 1;
        }
        let done = Attempt { state: State::Done { sealed: first, parts }, ..Attempt::clone(attempt) };
        self.replace(attempt, done).await.map(drop)
    }

    /// Names and keys in an answer would outlive those whom they are of.
    fn sealed(&self, request: &KeyedRequest, answer: &Answer) -> Result<String> {
        let text = serde_json::to_vec(answer).map_err(Error::internal)?;
        request.sealing_key.seal(&text, self.app.entropy())
    }

    /// The whole of a sealed answer that was noted in parts.
    async fn whole(&self, attempt: &Versioned<Attempt>, mut sealed: String, parts: usize) -> Result<String> {
        // Those of the attempt that wrote the answer, which was the last write.
        let keys: Vec<Key> = (0..parts).map(|part| attempt.part(attempt.version() - 1, part)).collect();
        let mut batch = if keys.is_empty() { Batch::default() } else { self.get(keys.clone()).await? };
        for key in &keys {
            let item = batch.take_item(key).unwrap_or_default();
            let text = item.get(BODY).and_then(|text| text.as_s().ok());
            sealed.push_str(text.ok_or_else(|| Error::internal("a part of an answer is missing"))?);
        }
        Ok(sealed)
    }

    /// Leaves a request to whoever repeats it, who goes on from there.
    ///
    /// # Errors
    /// [`Error::Changed`] when somebody else has taken it on since.
    pub(crate) async fn leave(
        &self,
        attempt: &Versioned<Attempt>,
        ids: IdBlock,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let left = Attempt { state: State::Running { ids, until: now }, ..Attempt::clone(attempt) };
        self.replace(attempt, left).await.map(drop)
    }

    /// Forgets a request of which nothing was done.
    ///
    /// # Errors
    /// [`Error::Changed`] when somebody else has taken it on since.
    pub(crate) async fn forget(&self, attempt: &Versioned<Attempt>) -> Result<()> {
        self.erase(attempt).await
    }
}

/// Says when to ask again about what somebody is at until then.
fn in_progress(until: DateTime<Utc>, now: DateTime<Utc>) -> Error {
    Error::InProgress((until - now).num_seconds().clamp(1, ASK_AGAIN))
}

/// `text` in pieces of at most [`TEXT`] bytes.
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
