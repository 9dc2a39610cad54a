//! An admitted request and its response: commits writes together with the response, adds the `ETag`, and stores the
//! response for retries.

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

/// The revision of resources that cannot be changed, only created and deleted.
pub(crate) const UNCHANGING: u64 = 1;

/// An admitted request that has no response yet.
pub struct HttpExchange {
    /// The time of this attempt at the request.
    pub now: DateTime<Utc>,
    pub store: Store,
    pub(crate) app: App,
    pub(crate) state: Arc<RequestState>,
    /// The credential for which the response's file URLs are valid; for a named token, also the period.
    pub(crate) file_url_scope: String,
    pub(crate) keyed: Option<KeyedRequest>,
    /// The earlier request with the same Idempotency-Key, if any.
    pub(crate) earlier: Option<EarlierRequest>,
    pub(crate) conditions: RequestConditions,
    /// Whether responses show other resources too. Their files can change without a new revision.
    pub(crate) shows_others: bool,
    /// Whether the method is POST, so that the request creates a different resource than the one that its path names.
    pub(crate) is_post: bool,
    /// Whether the method is HEAD.
    pub(crate) is_head: bool,
    /// The revision of the resource that the path names; `None` if that resource has no revisions.
    pub(crate) revision: Option<u64>,
}

impl HttpExchange {
    /// Returns the stored response to an earlier request with the same Idempotency-Key. Without one, checks `If-Match`.
    pub(crate) fn find_replay(&self) -> Result<Option<Response>> {
        match &self.earlier {
            Some(EarlierRequest::Answered(response)) => return Ok(Some(response.clone().replay())),
            Some(EarlierRequest::Other) => return Err(Error::KeyReused),
            // The commit, or the lease of `run_once`, detects whether the earlier request is still running.
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
        // Add the tag before the commit: the stored response needs it too.
        let response = self.tag(response, writes.is_shown()).await?;
        let Some(request) = &self.keyed else {
            self.store.commit(writes).await?;
            return Ok(CommittedResponse::new(response));
        };
        let (stored, response) = StoredResponse::of(response).await?;
        // One transaction, so there is never a change without its stored response, or the reverse.
        let earlier = self.store.commit_with_response(writes, request, &stored, self.now).await?;
        Ok(CommittedResponse::new(earlier.map_or(response, StoredResponse::replay)))
    }

    /// Runs work that takes several transactions. With an Idempotency-Key, completed work is not repeated and a retry
    /// resumes unfinished work.
    ///
    /// A retry runs unfinished work again, so `work` must skip what exists. If `work` fails with a client error, it must
    /// have written nothing. `patience` limits the total time of all calls.
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
        // Boxed, because nested futures would exceed the compiler's depth limit.
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
            // Nothing was written, so the client may correct the request and reuse the key.
            Err(error) if error.status().is_client_error() && !is_resumed => {
                (store.delete_attempt(&attempt).await, Err(error))
            }
            Err(error) => (store.end_lease(&attempt, ids, self.now).await, Err(error)),
        };
        match recorded {
            Ok(()) | Err(Error::Changed) => {}
            // The lease expires by itself, and a retry finds what the work has done.
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

    /// Responds to a read with the view, or with 304 if the client has the part from which the tag is made.
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
            // With `expand`, hash the tokens of file URLs too: this revision does not count changes of other resources' files.
            revision => EntityTag::of(body).in_revision(revision),
        }
    }

    fn show_body<R>(&self, body: Vec<u8>, tag: &EntityTag) -> Result<CommittedResponse<R>> {
        let json =
            HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        self.conditions.answer(json, body.into(), tag).map(CommittedResponse::new)
    }

    /// Adds the `ETag` to a response that shows a resource. `is_shown` says whether the change increments the resource's revision.
    async fn tag(&self, response: Response, is_shown: bool) -> Result<Response> {
        let revision = match response.status() {
            // A PUT may recreate a deleted resource.
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

    /// The time since this attempt's `now`.
    pub fn age(&self) -> TimeDelta {
        self.app.now() - self.now
    }

    /// When the request arrived: the `now` of its first attempt.
    pub fn received_at(&self) -> DateTime<Utc> {
        *self.state.received_at.get_or_init(|| self.now)
    }

    /// Whether `If-Match` has tags. Admission has checked that one of them matches the current revision.
    pub fn names_revision(&self) -> bool {
        self.conditions.names_revisions()
    }

    /// Waits until the clock shows `moment`, and returns the time.
    pub async fn wait_until(&self, moment: DateTime<Utc>) -> DateTime<Utc> {
        self.app.wait_until(moment).await;
        self.app.now()
    }

    /// Starts a [`Pace`] with the interval `between` steps.
    pub fn start_pace(&self, between: Duration) -> Pace {
        self.app.start_pace(between)
    }

    pub fn config(&self) -> &Config {
        self.app.config()
    }

    /// The keys that sign receipts and archives, from [`App::receipt_keys`].
    pub async fn receipt_keys(&self) -> Result<Arc<ReceiptKeys>> {
        self.app.receipt_keys().await
    }
}

/// Serializes a view as JSON.
fn json_of(view: &impl Serialize) -> Result<Vec<u8>> {
    // Most resources fit. A smaller buffer would be reallocated and copied as it grows.
    let mut json = Vec::with_capacity(4096);
    serde_json::to_writer(&mut json, view).map_err(Error::internal)?;
    Ok(json)
}
