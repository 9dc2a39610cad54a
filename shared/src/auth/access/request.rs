//! A request during admission: unauthenticated, then authenticated, then admitted.

use std::str::FromStr;
use std::sync::Arc;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts as _, RawPathParams};
use axum::http::Method;
use axum::http::request::Parts;
use chrono::{DateTime, Utc};
use url::form_urlencoded;

use super::admitted_request::AdmittedRequest;
use crate::app::App;
use crate::auth::authentication::{AuthFailure, SessionRules, authenticate, keys_of, media_key};
use crate::auth::caller::{AuthMethod, Caller, CallerIdentity};
use crate::auth::credential::{Credential, CredentialKind, invalid_credential};
use crate::auth::ended_key::explain_end;
use crate::auth::{AdmissionRule, csrf};
use crate::domain::account::{CredentialClaim, Principal};
use crate::domain::candidate::Candidate;
use crate::domain::company::import::CompanyImport;
use crate::domain::id::{CompanyId, CustomerId, InvalidId};
use crate::domain::policy::{Action, CallerRelation, NOT_ALLOWED};
use crate::domain::questionnaire::Questionnaire;
use crate::domain::staff::customer::Customer;
use crate::domain::staff::named_token::{READ_ONLY_TOKEN, day_of_use};
use crate::error::{Error, Result};
use crate::http::exchange::state::{LoggedCaller, RequestState};
use crate::http::{HttpExchange, RequestConditions};
use crate::media::{FileUrlSigner, FileUrlToken};
use crate::store::{
    EventSequence, ItemBatch, ItemKey, KeyedRequest, SessionKind, Store, StoredEntity, VersionedItem, keys,
};

const EXPAND: &str = "expand";

/// The parameters of a path, such as `projectId`.
#[derive(Debug, Clone, Default)]
pub(super) struct PathIds(Vec<(String, String)>);

impl PathIds {
    pub(super) async fn of(parts: &mut Parts, app: &App) -> Result<Self> {
        let params = RawPathParams::from_request_parts(parts, app).await;
        match &params {
            Ok(params) => Ok(Self(params.iter().map(|(name, value)| (name.into(), value.into())).collect())),
            // No resource has such a path, but authenticate the caller before returning 404.
            Err(RawPathParamsRejection::InvalidUtf8InPathParam(_)) => Ok(Self::default()),
            Err(_) => Err(Error::internal("an admission on a route without path parameters")),
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn id<T: FromStr<Err = InvalidId>>(&self, name: &str) -> Result<T, InvalidId> {
        self.text(name).ok_or(InvalidId)?.parse()
    }

    pub(super) fn company_id(&self) -> Result<CompanyId, InvalidId> {
        self.id("companyId")
    }

    pub(super) fn company(&self) -> Result<ItemKey, InvalidId> {
        Ok(keys::company(&self.company_id()?))
    }

    pub(super) fn project(&self) -> Result<ItemKey, InvalidId> {
        Ok(keys::project(&self.company_id()?, self.id("projectId")?))
    }

    pub(super) fn candidate(&self) -> Result<ItemKey, InvalidId> {
        Ok(keys::candidate(&self.company_id()?, self.id("projectId")?, self.id("candidateId")?))
    }

    pub(super) fn customer(&self) -> Result<ItemKey, InvalidId> {
        Ok(keys::customer(&self.company_id()?, self.id("customerId")?))
    }

    pub(super) fn questionnaire(&self) -> Result<ItemKey, InvalidId> {
        Ok(keys::questionnaire(&self.company_id()?, self.id("projectId")?))
    }

    pub(super) fn answers(&self) -> Result<ItemKey, InvalidId> {
        Ok(keys::answers(&self.company_id()?, self.id("projectId")?, self.id("candidateId")?))
    }

    pub(super) fn written_answer(&self) -> Result<ItemKey, InvalidId> {
        let project = self.id("projectId")?;
        let candidate = self.id("candidateId")?;
        Ok(keys::written_answer(&self.company_id()?, project, candidate, self.id("questionId")?))
    }

    pub(super) fn evaluation(&self, evaluator: CustomerId) -> Result<ItemKey, InvalidId> {
        let project = self.id("projectId")?;
        let candidate = self.id("candidateId")?;
        Ok(keys::evaluation(&self.company_id()?, project, candidate, evaluator))
    }

    pub(super) fn guest_link(&self) -> Result<ItemKey, InvalidId> {
        let project = self.id("projectId")?;
        let candidate = self.id("candidateId")?;
        Ok(keys::guest_link(&self.company_id()?, project, candidate, self.id("guestLinkId")?))
    }

    pub(super) fn webhook(&self) -> Result<ItemKey, InvalidId> {
        Ok(keys::webhook(&self.company_id()?, self.id("webhookId")?))
    }

    pub(super) fn cursor(&self) -> Result<ItemKey, InvalidId> {
        Ok(keys::cursor(self.id("webhookId")?))
    }

    pub(super) fn video(&self) -> Result<ItemKey, InvalidId> {
        Ok(keys::video(&self.company_id()?, self.id("videoId")?))
    }

    pub(super) fn upload(&self) -> Result<ItemKey, InvalidId> {
        Ok(keys::upload(self.id("uploadId")?))
    }
}

/// A request that is not authenticated yet.
pub struct UnauthenticatedRequest<'a> {
    parts: &'a Parts,
    app: &'a App,
    pub(super) path: PathIds,
    /// `None` unless the request is by the URL of a file.
    pub(super) file_url: Option<FileUrl>,
}

/// The URL of a file, which replaces the credential in the headers.
pub(super) struct FileUrl {
    /// The credential for which the URL was made.
    credential: Credential,
    token: FileUrlToken,
    /// The object's name, for which the URL is signed.
    pub(super) signed_name: String,
}

impl<'a> UnauthenticatedRequest<'a> {
    pub(super) async fn new(parts: &'a mut Parts, app: &'a App) -> Result<Self> {
        let path = PathIds::of(parts, app).await?;
        Ok(Self { parts, app, path, file_url: None })
    }

    pub(in crate::auth) fn without_path(parts: &'a Parts, app: &'a App) -> Self {
        Self { parts, app, path: PathIds::default(), file_url: None }
    }

    /// Uses the credential in `token` instead of the headers. `signed_name` returns the name for which the URL must be signed.
    pub(super) fn by_file_url(
        mut self,
        token: &str,
        signed_name: impl FnOnce(&PathIds, &FileUrlToken) -> Result<String, InvalidId>,
    ) -> Result<Self> {
        // Every failure is 401, also for an expired URL: then clients read the resource again and get a new URL.
        let company = self.path.company_id().map_err(|_| invalid_credential())?;
        let token = FileUrlToken::parse(token).ok_or_else(invalid_credential)?;
        let signed_name = signed_name(&self.path, &token).map_err(|_| invalid_credential())?;
        let credential =
            Credential::from_reference(token.reference(), &company).ok_or_else(invalid_credential)?;
        // Other credentials expire, and their URLs with them. Named tokens may live for ever, so limit the URL's age.
        if credential.kind == CredentialKind::NamedToken
            && token.is_older_than(FileUrlToken::LIFETIME_OF_NAMED_TOKENS, self.app.now())
        {
            return Err(invalid_credential());
        }
        self.file_url = Some(FileUrl { credential, token, signed_name });
        Ok(self)
    }

    pub(super) fn app(&self) -> &'a App {
        self.app
    }

    pub(super) fn state(&self) -> Arc<RequestState> {
        RequestState::of(&self.parts.extensions)
    }

    fn credential(&self) -> Result<Credential> {
        match &self.file_url {
            // Ignore the headers: players send no credential.
            Some(file_url) => Ok(file_url.credential.clone()),
            None => Credential::from_headers(&self.parts.headers),
        }
    }

    /// The account that the credential claims; `None` for a named token and without a credential.
    pub(super) fn claim(&self) -> Option<CredentialClaim> {
        self.credential().ok()?.claim().cloned()
    }

    /// Authenticates the caller and reads the items `more` in the same round trip. Fails with [`Error::NotFound`] if
    /// the path names a company that is not the caller's.
    pub(in crate::auth) async fn authenticate(
        self,
        more: Vec<ItemKey>,
        rule: AdmissionRule,
    ) -> Result<AuthenticatedRequest> {
        let conditions = RequestConditions::of(self.parts)?;
        let credential = self.credential()?;
        let is_cookie = matches!(credential.kind, CredentialKind::Session(SessionKind::Cookie, _));
        // Only cookies need the check, because browsers send them by themselves; safe methods change nothing.
        if is_cookie && !self.parts.method.is_safe() {
            csrf::check(&self.parts.headers, self.app.config())?;
        }
        let state = self.state();
        let store = state.store(self.app);
        let now = self.app.now();
        let keyed = state.intent.get().map(|intent| intent.sent_by(&sender(&credential)));
        // Until an imported company starts, it is read-only.
        let changed_company = self.path.company_id().ok().filter(|_| !self.parts.method.is_safe());
        let import = changed_company.map(|company| keys::company_import(&company));
        // One round trip: the credential contains the keys of session and user, the path contains those of the target.
        let keys = keys_of(&credential).into_iter().chain(more);
        let keys = keys.chain(import.clone());
        let mut batch = store.get(keys.chain(keyed.as_ref().map(KeyedRequest::key))).await?;
        let rules = SessionRules {
            idle_minutes: self.app.config().session_idle_minutes,
            // Fetching a file must not extend the session: a page that shows the file may stay open for ever.
            is_use: self.file_url.is_none(),
            now,
        };
        let caller = match authenticate(&credential, &mut batch, &rules) {
            Err(AuthFailure::EndedKey(candidate, end)) if matches!(rule, AdmissionRule::Candidate) => {
                // Explain more only to the holder: a key that has been replaced may be in other hands.
                let is_holder = matches!(credential.kind, CredentialKind::Session(..))
                    || candidate.is_latest_key(&credential.hash);
                let config = self.app.config();
                return Err(explain_end(&candidate, end, is_holder, &mut batch, &store, config).await?);
            }
            Err(AuthFailure::EndedKey(candidate, end))
                if matches!(rule, AdmissionRule::Action(Action::AskForHelp)) =>
            {
                Caller::by_ended_key(*candidate, end, &credential.hash)?
            }
            authenticated => authenticated?,
        };
        let origin = caller.origin(state.id.clone(), now);
        let _ = state.caller.set(LoggedCaller {
            company: caller.company().clone(),
            caller: caller.principal().to_string(),
            on_behalf_by: origin.on_behalf_by,
        });
        let store = store.with_origin(origin);
        extend_session(&caller, &store, &state, now);
        note_token_use(&caller, &store, rules);
        // An exchanged token may always end itself, which changes nothing else.
        let may_end_itself = matches!(
            (&caller.auth_method, rule),
            (AuthMethod::ExchangedToken(_), AdmissionRule::Authenticated)
        );
        // Refuse read-only tokens first: no other error may reveal what exists.
        if is_read_only(&caller) && !self.parts.method.is_safe() && !may_end_itself {
            return Err(Error::Forbidden(READ_ONLY_TOKEN));
        }
        // Verify the file URL's token first: no other error may reveal whether the object exists.
        if let Some(file_url) = &self.file_url {
            let media_key = media_key(&caller, &store).await?;
            if !media_key.is_some_and(|key| file_url.token.is_for(&key, &file_url.signed_name)) {
                return Err(invalid_credential());
            }
        }
        // Another company must look like one that does not exist.
        if self.path.text("companyId").is_some_and(|company| company != caller.company().as_str()) {
            return Err(Error::NotFound);
        }
        if let Some(import) = &import
            && batch.take::<CompanyImport>(import)?.is_some_and(|import| import.awaits_start())
        {
            return Err(Error::NotStarted);
        }
        // The response was read in the same round trip. Admission decides whether it is replayed.
        let earlier = match &keyed {
            Some(keyed) => store.take_earlier(&mut batch, keyed, now).await?,
            None => None,
        };
        let app = self.app.clone();
        let signer = credential.secret.clone();
        let signer =
            signer.map(|secret| FileUrlSigner::new(secret, &credential.to_reference(), now, app.entropy()));
        let file_url_scope = file_url_scope(&credential, now);
        let exchange = HttpExchange {
            now,
            store,
            app,
            state,
            file_url_scope,
            keyed,
            earlier,
            conditions,
            shows_others: has_parameter(self.parts, EXPAND),
            is_post: self.parts.method == Method::POST,
            is_head: self.parts.method == Method::HEAD,
            revision: None,
        };
        let admitted = AdmittedRequest { caller, signer, exchange };
        Ok(AuthenticatedRequest { admitted, path: self.path, batch, rule })
    }
}

fn has_parameter(parts: &Parts, name: &str) -> bool {
    let query = parts.uri.query().unwrap_or_default();
    form_urlencoded::parse(query.as_bytes()).any(|(key, _)| key == name)
}

/// Extends the caller's session, if that is due, concurrently with the request.
fn extend_session(caller: &Caller, store: &Store, state: &RequestState, now: DateTime<Utc>) {
    if let AuthMethod::Session(live) = &caller.auth_method
        && live.is_extended
    {
        let store = store.clone();
        let key = live.key.clone();
        state.run_alongside(async move { store.extend_session(&key, now).await });
    }
}

/// Records in the background that the caller's named token was used today, once a day.
fn note_token_use(caller: &Caller, store: &Store, rules: SessionRules) {
    let CallerIdentity::NamedToken(token) = &caller.identity else { return };
    let today = day_of_use(rules.now);
    if rules.is_use && token.uses.last_used_at.is_none_or(|noted| noted < today) {
        store.note_token_use_in_background(token, today);
    }
}

fn is_read_only(caller: &Caller) -> bool {
    matches!(&caller.identity, CallerIdentity::NamedToken(token) if token.rights.is_read_only)
}

/// Identifies the sender of a request, independent of which of their sessions or keys they use.
fn sender(credential: &Credential) -> String {
    match &credential.kind {
        CredentialKind::Session(_, claim) | CredentialKind::AccessKey(claim) => {
            keys::sender(&claim.company, Principal::Account(claim.account))
        }
        // Use the hash: the token's identifier is unknown until its item is read.
        CredentialKind::NamedToken => keys::token_sender(&credential.hash),
        CredentialKind::ExchangedToken(company, token) => {
            keys::sender(company, Principal::NamedToken(*token))
        }
    }
}

/// The scope in which the response's file URLs are valid: the credential and, for a named token, the period.
fn file_url_scope(credential: &Credential, now: DateTime<Utc>) -> String {
    let hash = credential.hash.as_str();
    match credential.kind {
        // These URLs expire before the token does. The period changes the `ETag`, so that clients get new URLs in time.
        CredentialKind::NamedToken => {
            format!("{hash} {}", now.timestamp() / (FileUrlToken::LIFETIME_OF_NAMED_TOKENS.num_seconds() / 2))
        }
        CredentialKind::Session(..) | CredentialKind::AccessKey(_) | CredentialKind::ExchangedToken(..) => {
            hash.to_owned()
        }
    }
}

/// An authenticated request that is not authorised yet.
pub struct AuthenticatedRequest {
    admitted: AdmittedRequest,
    pub(super) path: PathIds,
    pub(super) batch: ItemBatch,
    rule: AdmissionRule,
}

impl AuthenticatedRequest {
    pub(super) fn caller(&self) -> &Caller {
        &self.admitted.caller
    }

    pub(in crate::auth) fn into_caller(self) -> Caller {
        self.admitted.caller
    }

    pub(super) fn store(&self) -> &Store {
        &self.admitted.store
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        self.admitted.now
    }

    /// Takes the item of `key` from the batch. Fails with [`Error::NotFound`] if the path names none or the item does not exist.
    pub(super) fn take<T: StoredEntity>(
        &mut self,
        key: Result<ItemKey, InvalidId>,
    ) -> Result<VersionedItem<T>> {
        let key = key.map_err(|_| Error::NotFound)?;
        self.batch.take(&key)?.ok_or(Error::NotFound)
    }

    /// Takes the questionnaire of the path's project; an empty one if none is stored.
    pub(super) fn take_questionnaire(&mut self) -> Result<VersionedItem<Questionnaire>> {
        let company = self.path.company_id();
        let project = self.path.id("projectId");
        let (Ok(company), Ok(project)) = (company, project) else { return Err(Error::NotFound) };
        let none = Questionnaire::new(company, project);
        Ok(self.batch.take(&none.key())?.unwrap_or_else(|| VersionedItem::not_stored(none)))
    }

    /// Takes the event sequence of the caller's company; a new one if none is stored.
    pub(super) fn take_event_sequence(&mut self) -> Result<EventSequence> {
        let company = self.caller().company().clone();
        Ok(match self.batch.take::<EventSequence>(&keys::sequence(&company))? {
            Some(sequence) => EventSequence::clone(&sequence),
            None => EventSequence::new(company, self.now()),
        })
    }

    /// Takes the candidate that the path names.
    pub(super) fn take_candidate(&mut self) -> Result<VersionedItem<Candidate>> {
        match &self.caller().identity {
            // Authentication has already taken the caller's item out of the batch.
            CallerIdentity::Candidate(own) if self.path.candidate() == Ok(own.key()) => Ok(own.clone()),
            _ => self.take(self.path.candidate()),
        }
    }

    /// Takes the customer that the path names.
    pub(super) fn take_customer(&mut self) -> Result<VersionedItem<Customer>> {
        match &self.caller().identity {
            CallerIdentity::Customer(own) if self.path.customer() == Ok(own.key()) => Ok(own.clone()),
            _ => self.take(self.path.customer()),
        }
    }

    /// Whether the request is for this action.
    pub(super) fn is_for(&self, action: Action) -> bool {
        matches!(self.rule, AdmissionRule::Action(own) if own == action)
    }

    pub(super) fn authorise(self, relation: &CallerRelation) -> Result<AdmittedRequest> {
        match self.rule {
            AdmissionRule::Action(action) if action.is_allowed(relation) => Ok(self.admitted),
            AdmissionRule::Action(permission) => Err(self.admitted.lacks(permission)),
            _ => Err(Error::Forbidden(NOT_ALLOWED)),
        }
    }

    /// Authorises a request for a target whose existence is hidden from callers who may not `read` it: they get [`Error::NotFound`].
    pub(super) fn authorise_or_hide(
        self,
        read: Action,
        relation: &CallerRelation,
    ) -> Result<AdmittedRequest> {
        // For example, candidates must not learn which other candidates and projects exist.
        if read.is_allowed(relation) { self.authorise(relation) } else { Err(Error::NotFound) }
    }

    /// Authorises any caller, for targets that concern only the caller.
    pub(super) fn authorise_anyone(self) -> AdmittedRequest {
        self.admitted
    }
}
