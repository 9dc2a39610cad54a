//! What every guard hands to its handler.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use super::GuardRejection;
use crate::app::App;
use crate::auth::caller::{AuthMethod, Caller, CallerIdentity};
use crate::auth::credential::{SecretKind, new_token_value};
use crate::config::Config;
use crate::domain::Refusal;
use crate::domain::account::{Account, CredentialOwner};
use crate::domain::customer::AccountType;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::policy::NOT_ALLOWED;
use crate::domain::secret::{AccessKey, MediaKey};
use crate::domain::webhook::SigningSecret;
use crate::error::{Error, Result};
use crate::http::files::FileWriter;
use crate::http::idempotency::{self, IdempotentRun, RunResult};
use crate::http::reference::ReferenceUris;
use crate::http::respond::{CommittedResponse, kept_of};
use crate::http::state::RequestState;
use crate::http::{EntityTag, RequestConditions};
use crate::media::{MediaSigner, ObjectStore};
use crate::store::{EarlierRequest, KeyedRequest, Store, StoredResponse, Transaction, VersionedItem};

/// The request came with a credential that is no session.
pub const NO_SESSION: Refusal = Refusal {
    code: "no_session",
    detail: "This credential is not a session. Only the tokens and cookies of a login can be invalidated here.",
};

/// What every guard hands to its handler: the caller, the table, and the ways to answer.
pub struct AdmittedRequest {
    /// The caller.
    pub caller: Caller,
    /// The moment of the request.
    pub now: DateTime<Utc>,
    /// The table.
    pub store: Store,
    pub(super) app: App,
    pub(super) state: RequestState,
    pub(super) signer: MediaSigner,
    /// The credential for which addresses of files in the answer are valid.
    pub(super) viewer: String,
    pub(super) keyed: Option<KeyedRequest>,
    /// An earlier request with the same Idempotency-Key.
    pub(super) earlier: Option<EarlierRequest>,
    pub(super) preconditions: RequestConditions,
    /// Whether answers show other resources too, whose files the revision does not count.
    pub(super) shows_others: bool,
    /// Whether the request creates another resource than the one that its path names.
    pub(super) is_post: bool,
    pub(super) revision: Option<u64>,
}

impl AdmittedRequest {
    /// The revision of a resource that is created and deleted, but never changed.
    pub(super) const UNCHANGING: u64 = 1;

    pub(super) fn about<T>(self, resource: &VersionedItem<T>) -> Self {
        self.about_revision(resource.revision())
    }

    pub(super) fn about_revision(self, revision: u64) -> Self {
        Self { revision: Some(revision).filter(|_| !self.is_post), ..self }
    }

    /// Replays the answer to an earlier request with the same Idempotency-Key, and checks `If-Match`.
    pub(super) fn accept(&self) -> Result<(), GuardRejection> {
        // Only after the guard has admitted the caller: one who has lost access learns nothing from an old answer.
        match &self.earlier {
            Some(EarlierRequest::Answered(answer)) => {
                return Err(GuardRejection::Replayed(Box::new(answer.clone())));
            }
            Some(EarlierRequest::Other) => return Err(Error::KeyReused.into()),
            Some(EarlierRequest::Running(_)) | None => {}
        }
        if let Some(keyed) = &self.keyed {
            self.state.set_keyed(keyed.clone());
        }
        Ok(self.revision.map_or(Ok(()), |revision| self.preconditions.check(revision))?)
    }

    /// Commits `transaction`, together with the answer if the request has an Idempotency-Key. Fails with
    /// [`Error::InProgress`] while another request with the same key is being processed.
    pub async fn commit<R: IntoResponse>(
        &self,
        transaction: Transaction,
        answer: R,
    ) -> Result<CommittedResponse<R>> {
        // Before the commit: the stored answer holds the tag as well.
        let response = self.tagged(answer.into_response(), transaction.is_shown()).await?;
        let Some(request) = &self.keyed else {
            self.store.commit(transaction).await?;
            return Ok(CommittedResponse::new(response));
        };
        let (answer, response) = StoredResponse::of(response).await?;
        // The answer is part of the transaction: there is never a change without a recorded answer, or the reverse.
        let earlier = self.store.commit_with(transaction, (request, &answer), self.now).await?;
        Ok(CommittedResponse::new(earlier.map_or(response, StoredResponse::replayed)))
    }

    /// The answer to a change, with the tag of what it shows: of a new resource, or of that of the path, which now is in
    /// its next revision if the change `is_shown`.
    async fn tagged(&self, response: Response, is_shown: bool) -> Result<Response> {
        let revision = match response.status() {
            // A PUT may create what was deleted before.
            StatusCode::CREATED => Some(self.revision.map_or(1, |before| before + 1)),
            StatusCode::OK => self.revision.map(|before| before + u64::from(is_shown)),
            _ => None,
        };
        let Some(revision) = revision else { return Ok(response) };
        let (mut head, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.map_err(Error::internal)?;
        let tag = self.tag(kept_of(&head.extensions).unwrap_or(&body), revision);
        head.headers.insert(header::ETAG, tag.value()?);
        Ok(Response::from_parts(head, Body::from(body)))
    }

    /// Answers a read with `view`, or with 304 if the client has it.
    pub fn show<V: Serialize>(&self, view: V) -> Result<CommittedResponse<Json<V>>> {
        let body = serde_json::to_vec(&view).map_err(Error::internal)?;
        let tag = match self.revision {
            // With `expand`, the digest takes the tokens of files in, so that a change of another resource's file is
            // not missed.
            Some(revision) if !self.shows_others => self.tag(&body, revision),
            revision => EntityTag::of(&body).in_revision(revision),
        };
        let json =
            HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        self.preconditions.answer(json, body.into(), &tag).map(CommittedResponse::new)
    }

    fn tag(&self, body: &[u8], revision: u64) -> EntityTag {
        EntityTag::of_resource(body, self.config().base_url.as_str(), revision, &self.viewer)
    }

    /// Runs work that takes several transactions; with an Idempotency-Key only once, and a retry finishes what is left.
    ///
    /// A retry runs unfinished work again, so `work` must skip what exists, and leave nothing behind when its error tells
    /// the caller to correct something. `patience` limits the time of all calls together.
    pub async fn run_once<F, R>(
        &self,
        patience: Duration,
        work: impl FnOnce(IdempotentRun) -> F,
    ) -> Result<CommittedResponse<R>>
    where
        F: Future<Output = Result<RunResult<R>>>,
        R: IntoResponse,
    {
        let store = self.store.clone().with_patience(patience);
        let work = async |turn| {
            // On the heap: the compiler follows futures within futures only so deep.
            Ok(match Box::pin(work(turn)).await? {
                RunResult::Done(answer) => RunResult::Done(self.tagged(answer.into_response(), true).await?),
                RunResult::Unfinished(answer) => RunResult::Unfinished(answer.into_response()),
            })
        };
        idempotency::run_once(store, self.keyed.as_ref(), self.now, work).await.map(CommittedResponse::new)
    }

    /// The company of the caller, which is that of the path.
    pub fn company_id(&self) -> &CompanyId {
        self.caller.company()
    }

    /// Makes and reads the addresses of resources, those of files included.
    pub fn references(&self) -> ReferenceUris<'_> {
        ReferenceUris::new(self.app.config()).signed_by(&self.signer)
    }

    /// Stores the files that the request brings or announces.
    pub fn files(&self) -> Result<FileWriter<'_>> {
        let (company, author) = (self.company_id(), self.caller.author());
        Ok(FileWriter { store: &self.store, objects: self.objects()?, company, author, now: self.now })
    }

    /// The bucket.
    pub fn objects(&self) -> Result<ObjectStore<'_>> {
        ObjectStore::of(&self.app)
    }

    /// The time since the request came.
    pub fn age(&self) -> TimeDelta {
        self.app.now() - self.now
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        self.app.config()
    }

    /// The network that the request came from; empty when the gateway does not tell.
    pub(in crate::auth) fn source(&self) -> &str {
        self.state.source()
    }

    pub(in crate::auth) fn app(&self) -> &App {
        &self.app
    }

    /// A new key for a candidate to act by without a password.
    pub fn new_access_key(&self, project: ProjectId, candidate: CandidateId) -> AccessKey {
        let account = Account::Candidate { project, candidate };
        let claim = CredentialOwner::own(self.company_id().clone(), account);
        AccessKey::new(SecretKind::AccessKey.generate(&claim, self.app.entropy()))
    }

    /// A new value of a named token.
    pub fn new_token_value(&self) -> String {
        new_token_value(self.app.entropy())
    }

    /// A new key for a named token to sign the addresses of files with.
    pub fn new_media_key(&self) -> MediaKey {
        MediaKey::generate(self.app.entropy())
    }

    /// A new key for the signatures of a webhook.
    pub fn new_signing_secret(&self) -> SigningSecret {
        SigningSecret::generate(self.app.entropy())
    }

    /// Refuses a caller who does not manage customers of this account type.
    pub fn require_manages(&self, other: AccountType) -> Result<()> {
        let manages = match &self.caller.identity {
            CallerIdentity::Customer(customer) => customer.account_type.manages(other),
            // A named token has an owner's rights.
            CallerIdentity::NamedToken(_) => AccountType::Owner.manages(other),
            CallerIdentity::Candidate(_) => false,
        };
        if manages { Ok(()) } else { Err(Error::Forbidden(NOT_ALLOWED)) }
    }

    /// Ends the session that the request came with; refused without one.
    pub async fn end_session(&self) -> Result<()> {
        match &self.caller.proof {
            AuthMethod::Session(live) => self.store.end_session(&live.key).await,
            AuthMethod::AccessKey | AuthMethod::NamedToken => Err(NO_SESSION.into()),
        }
    }
}
