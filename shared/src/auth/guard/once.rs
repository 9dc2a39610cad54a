//! Doing a request once, however often it is sent.

use std::time::Duration;

use axum::response::{IntoResponse, Response};

use super::Scope;
use crate::domain::id::IdBlock;
use crate::error::{Error, Result};
use crate::store::{Answer, Attempt, Begun, KeyedRequest, Store, Versioned};

/// One go at a request.
pub struct Turn {
    /// The table.
    pub store: Store,
    /// The identifiers of all that the request creates: whoever goes on with it has the same.
    pub ids: IdBlock,
    /// Whether somebody was at it before, so that some of it may be done.
    pub is_resumed: bool,
    /// Whether it has an Idempotency-Key, so that a repeat finishes what is left.
    pub is_keyed: bool,
}

/// How far a go at a request has come.
pub enum Progress<R> {
    /// This is the answer, for good.
    Done(R),
    /// So far; a repeat goes on.
    Unfinished(R),
}

impl Scope {
    /// Does what the caller intends by `work`, or tells what came of it when they sent it before.
    ///
    /// Work that a process died over, or that is unfinished, is done again by whoever repeats the request: it must leave
    /// alone what is there already. Nothing may be left of it when its error tells the caller to correct something.
    /// `patience` is how long all calls may take together.
    ///
    /// # Errors
    /// [`Error::KeyReused`], [`Error::InProgress`], and those of `work`.
    pub async fn once<F, R>(&self, patience: Duration, work: impl FnOnce(Turn) -> F) -> Result<Response>
    where
        F: Future<Output = Result<Progress<R>>>,
        R: IntoResponse,
    {
        let store = self.store.clone().with_patience(patience);
        let Some(request) = &self.keyed else {
            let turn = Turn { ids: store.next_ids(self.now), is_resumed: false, is_keyed: false, store };
            let (Progress::Done(response) | Progress::Unfinished(response)) = work(turn).await?;
            return Ok(response.into_response());
        };
        let (attempt, ids) = match store.begin(request, self.now).await? {
            Begun::Ours(attempt, ids) => (attempt, ids),
            Begun::Done(answer) => return Ok(answer.replayed()),
        };
        let turn = Turn { ids, is_resumed: attempt.is_resumed(), is_keyed: true, store: store.clone() };
        let outcome = work(turn).await;
        self.note(&store, request, (&attempt, ids), outcome).await
    }

    /// Notes what a go came to. When that fails the lease runs out, and a repeat finds out for itself.
    async fn note<R: IntoResponse>(
        &self,
        store: &Store,
        request: &KeyedRequest,
        (attempt, ids): (&Versioned<Attempt>, IdBlock),
        outcome: Result<Progress<R>>,
    ) -> Result<Response> {
        let (noted, result) = match outcome {
            Ok(Progress::Done(response)) => {
                let (answer, response) = Answer::of(response.into_response()).await?;
                (store.finish(request, attempt, &answer).await, Ok(response))
            }
            Ok(Progress::Unfinished(response)) => {
                (store.leave(attempt, ids, self.now).await, Ok(response.into_response()))
            }
            Err(error) if error.status().is_client_error() && !attempt.is_resumed() => {
                (store.forget(attempt).await, Err(error))
            }
            Err(error) => (store.leave(attempt, ids, self.now).await, Err(error)),
        };
        match noted {
            Ok(()) | Err(Error::Changed) => {}
            Err(error) => tracing::warn!(target: "idempotency", %error, "an outcome was not noted"),
        }
        result
    }
}
