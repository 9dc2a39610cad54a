//! An admitted request and its response: commits writes together with the response, tags it, and stores it for repeats.

mod attempt;
pub(crate) mod condition;
pub mod respond;
pub(super) mod retry_and_replay;
pub(crate) mod state;
pub(super) mod tag;

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use super::{EntityTag, RequestConditions};
use crate::app::App;
use crate::clock::Pace;
use crate::config::Config;
use crate::domain::privacy::receipt::ReceiptKeys;
use crate::error::{Error, Result};
use crate::media::ObjectStore;
use crate::store::{EarlierRequest, KeyedRequest, LeaseResult, Store, StoredResponse, Transaction};

pub use attempt::{AttemptResult, RequestAttempt};
use respond::{CommittedResponse, TaggedBy, tagged_body};
use state::RequestState;

/// The revision of a resource that is created and deleted, but never changed.
pub(crate) const UNCHANGING: u64 = 1;

/// An admitted request that waits for its response.
pub struct HttpExchange {
    /// The moment of the request.
    pub now: DateTime<Utc>,
    pub store: Store,
    pub(crate) app: App,
    pub(crate) state: Arc<RequestState>,
    /// The credential that file URLs in the response are valid for and, of a named token, the period.
    pub(crate) file_url_scope: String,
    pub(crate) keyed: Option<KeyedRequest>,
    /// An earlier request with the same Idempotency-Key.
    pub(crate) earlier: Option<EarlierRequest>,
    pub(crate) conditions: RequestConditions,
    /// Whether responses show other resources too, whose files the revision does not count.
    pub(crate) shows_others: bool,
    /// Whether the request creates another resource than the one that its path names.
    pub(crate) is_post: bool,
    /// Whether the request is by HEAD.
    pub(crate) is_head: bool,
    /// The revision of the resource that the path names; `None` if it has none.
    pub(crate) revision: Option<u64>,
}

impl HttpExchange {
    /// Returns the response to an earlier request with the same Idempotency-Key, if there is one, and checks `If-Match`.
    pub(crate) fn find_replay(&self) -> Result<Option<Response>> {
        match &self.earlier {
            Some(EarlierRequest::Answered(response)) => return Ok(Some(response.clone().replay())),
            Some(EarlierRequest::Other) => return Err(Error::KeyReused),
            // The commit, or the lease of `run_once`, finds out whether that one is still running.
            Some(EarlierRequest::Running(_)) | None => {}
        }
        if let Some(keyed) = &self.keyed {
            let _ = self.state.keyed.set(keyed.clone());
        }
        self.conditions.check(self.revision)?;
        Ok(None)
    }

    /// Commits `writes`, together with the response if the request has an Idempotency-Key. Fails with
    /// [`Error::InProgress`] while another request with the same key is being processed.
    pub async fn commit<R: IntoResponse>(
        &self,
        writes: Transaction,
        answer: R,
    ) -> Result<CommittedResponse<R>> {
        let response = answer.into_response();
        self.conditions.check_outcome(response.status())?;
        // The tag is added before the commit, because the stored response has it as well.
        let response = self.tag(response, writes.is_shown()).await?;
        let Some(request) = &self.keyed else {
            self.store.commit(writes).await?;
            return Ok(CommittedResponse::new(response));
        };
        let (stored, response) = StoredResponse::of(response).await?;
        // The response is part of the transaction: there is never a change without a stored response, or the reverse.
        let earlier = self.store.commit_with_response(writes, request, &stored, self.now).await?;
        Ok(CommittedResponse::new(earlier.map_or(response, StoredResponse::replay)))
    }

    /// Runs work that takes several transactions; with an Idempotency-Key only once, and a retry finishes what is left.
    ///
    /// A retry runs unfinished work again, so `work` must skip what exists, and leave nothing behind when its error tells
    /// the caller to correct something. `patience` limits the time of all calls together.
    pub async fn run_once<F, R>(
        &self,
        patience: Duration,
        work: impl FnOnce(RequestAttempt) -> F,
    ) -> Result<CommittedResponse<R>>
    where
        F: Future<Output = Result<AttemptResult<R>>>,
        R: IntoResponse,
    {
        let store = self.store.clone().with_patience(patience);
        let (ids, lease) = match &self.keyed {
            None => (store.next_ids(self.now), None),
            Some(request) => match store.take_lease(request, self.now).await? {
                LeaseResult::Ours(attempt, ids) => (ids, Some((request, attempt))),
                LeaseResult::Done(response) => return Ok(CommittedResponse::new(response.replay())),
            },
        };
        let is_resumed = lease.as_ref().is_some_and(|(_, attempt)| attempt.is_resumed());
        let progress = lease.as_ref().map(|(request, attempt)| attempt.progress(request));
        let own = RequestAttempt { store: store.clone(), ids, is_resumed, progress, now: self.now };
        // The work is on the heap: the compiler follows futures within futures only so deep.
        let result = match Box::pin(work(own)).await {
            Ok(AttemptResult::Done(answer)) => {
                self.tag(answer.into_response(), true).await.map(|response| (response, true))
            }
            Ok(AttemptResult::Unfinished(answer)) => Ok((answer.into_response(), false)),
            Err(error) => Err(error),
        };
        let Some((request, attempt)) = lease else {
            return result.map(|(response, _)| CommittedResponse::new(response));
        };
        let (recorded, response) = match result {
            Ok((response, true)) => {
                let (stored, response) = StoredResponse::of(response).await?;
                (store.store_response(request, &attempt, &stored).await, Ok(response))
            }
            Ok((response, false)) => (store.end_lease(&attempt, ids, self.now).await, Ok(response)),
            // Nothing was written, so the client may correct the request and send it with the same key.
            Err(error) if error.status().is_client_error() && !is_resumed => {
                (store.delete_attempt(&attempt).await, Err(error))
            }
            Err(error) => (store.end_lease(&attempt, ids, self.now).await, Err(error)),
        };
        match recorded {
            Ok(()) | Err(Error::Changed) => {}
            // The lease runs out by itself, and a retry finds what the work has done.
            Err(error) => tracing::warn!(target: "idempotency", %error, "an outcome was not recorded"),
        }
        response.map(CommittedResponse::new)
    }

    /// Responds to a read with `view`, or with 304 if the client has it.
    pub fn show<V: Serialize>(&self, view: V) -> Result<CommittedResponse<Json<V>>> {
        let body = json_of(&view)?;
        let tag = self.tag_of_read(&body);
        self.show_body(body, &tag)
    }

    /// Responds to a read with `view`, or with 304 if the client has the part of it that its tag follows.
    pub fn show_tagged_by<V: Serialize, P: Serialize>(
        &self,
        TaggedBy(Json(view), part): TaggedBy<Json<V>, P>,
    ) -> Result<CommittedResponse<TaggedBy<Json<V>, P>>> {
        let tag = self.tag_of_read(&json_of(&part)?);
        self.show_body(json_of(&view)?, &tag)
    }

    fn tag_of_read(&self, body: &[u8]) -> EntityTag {
        match self.revision {
            Some(revision) if !self.shows_others => self.tag_of(body, revision),
            // The digest contains the tokens of file URLs with `expand`, so that a change of another resource's file is not
            // missed.
            revision => EntityTag::of(body).in_revision(revision),
        }
    }

    fn show_body<R>(&self, body: Vec<u8>, tag: &EntityTag) -> Result<CommittedResponse<R>> {
        let json =
            HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        self.conditions.answer(json, body.into(), tag).map(CommittedResponse::new)
    }

    /// Adds the tag of what a response shows: a new resource, or that of the path, whose revision has grown if the change
    /// `is_shown`.
    async fn tag(&self, response: Response, is_shown: bool) -> Result<Response> {
        let revision = match response.status() {
            // A PUT may create what was deleted before.
            StatusCode::CREATED => Some(self.revision.map_or(1, |before| before + 1)),
            StatusCode::OK => self.revision.map(|before| before + u64::from(is_shown)),
            _ => None,
        };
        let Some(revision) = revision else { return Ok(response) };
        let (mut head, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.map_err(Error::internal)?;
        let tag = self.tag_of(tagged_body(&head.extensions).unwrap_or(&body), revision);
        head.headers.insert(header::ETAG, tag.value()?);
        Ok(Response::from_parts(head, Body::from(body)))
    }

    fn tag_of(&self, body: &[u8], revision: u64) -> EntityTag {
        EntityTag::of_resource(body, self.config().base_url.as_str(), revision, &self.file_url_scope)
    }

    pub fn objects(&self) -> Result<ObjectStore<'_>> {
        ObjectStore::of(&self.app)
    }

    /// Whether the request has an Idempotency-Key.
    pub fn is_keyed(&self) -> bool {
        self.keyed.is_some()
    }

    /// The time since the request came.
    pub fn age(&self) -> TimeDelta {
        self.app.now() - self.now
    }

    /// When the request came: the time of its first attempt.
    pub fn received_at(&self) -> DateTime<Utc> {
        *self.state.received_at.get_or_init(|| self.now)
    }

    /// Whether the request names the revision that it changes, by a tag in `If-Match` that was found to be the present one.
    pub fn names_revision(&self) -> bool {
        self.conditions.names_revisions()
    }

    /// Waits until the clock shows `moment`, and returns the time.
    pub async fn wait_until(&self, moment: DateTime<Utc>) -> DateTime<Utc> {
        self.app.wait_until(moment).await;
        self.app.now()
    }

    /// Starts a pace with `between` from one step to the next.
    pub fn start_pace(&self, between: Duration) -> Pace {
        self.app.start_pace(between)
    }

    pub fn config(&self) -> &Config {
        self.app.config()
    }

    /// The keys that sign receipts and archives: see [`App::receipt_keys`].
    pub async fn receipt_keys(&self) -> Result<Arc<ReceiptKeys>> {
        self.app.receipt_keys().await
    }
}

/// A view as JSON.
fn json_of(view: &impl Serialize) -> Result<Vec<u8>> {
    // Most resources fit. A smaller text would be copied each time that it grows.
    let mut json = Vec::with_capacity(4096);
    serde_json::to_writer(&mut json, view).map_err(Error::internal)?;
    Ok(json)
}
