//! Guards: a handler's argument that has authenticated the caller, authorised the action and loaded what it is about.
//!
//! A guard makes one round trip: the credential itself tells the keys of session and user, the path those of the rest.

mod author;
mod beside;
mod candidate;
mod company;
mod customer;
mod file;
mod once;
mod operator;
mod password;
mod project;
mod public;
mod role;
mod search;
mod share;
mod system;
mod video;
mod whoami;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use chrono::{DateTime, TimeDelta, Utc};

pub use beside::{Beside, CandidatePage};
pub use candidate::OnCandidate;
pub use company::{InCompany, OfCompany};
pub use customer::OnCustomer;
pub use file::{ByAddress, OnUpload, Redirect};
pub use once::{Progress, Turn};
pub use operator::Operator;
pub use project::{InProject, OnProject};
pub use public::{LoggedIn, Public};
pub use role::OnRole;
pub use search::Matches;
pub use share::OnShare;
pub use system::System;
pub use video::{ByVideoAddress, OnVideo};
pub use whoami::{AsCandidate, WhoAmI};

use super::caller::{Caller, Identity, LiveSession, Proof};
use super::credential::{Credential, Means, REJECTED, SecretKind, new_token_value};
use super::{csrf, policy};
use crate::app::App;
use crate::config::Config;
use crate::domain::Refusal;
use crate::domain::account::{Account, Claim, Principal};
use crate::domain::customer::Customer;
use crate::domain::id::{CandidateId, CompanyId, InvalidId, ProjectId};
use crate::domain::secret::{AccessKey, MediaKey, SecretHash};
use crate::error::{Error, Result};
use crate::http::reference::References;
use crate::http::state::RequestState;
use crate::media::{MediaSigner, MediaToken};
use crate::store::{Batch, Earlier, Key, KeyedRequest, SessionKind, Store, keys};

/// The revision of what is there or gone, and in between never changes.
const UNCHANGING: u64 = 1;

/// The request came with a credential that is no session.
pub const NO_SESSION: Refusal = Refusal {
    code: "no_session",
    detail: "This credential is not a session. Only the tokens and cookies of a login can be invalidated here.",
};

/// How long an address works that a named token was shown, which itself never ends.
const NAMED_TOKENS_ADDRESS: TimeDelta = TimeDelta::hours(24);

/// What every guard hands to its handler.
pub struct Scope {
    /// Who is calling.
    pub caller: Caller,
    /// The moment of the request.
    pub now: DateTime<Utc>,
    /// The table.
    pub store: Store,
    app: App,
    signer: MediaSigner,
    state: RequestState,
    /// What names the request, if the caller does.
    keyed: Option<KeyedRequest>,
    /// What the caller has sent before under that name.
    earlier: Option<Earlier>,
}

impl Scope {
    /// Refuses a caller who may not take an action; whoever may is told what came of the same request before.
    fn admit(&self, allowed: bool) -> Result<()> {
        require(allowed)?;
        match &self.earlier {
            Some(Earlier::Answered(answer)) => return Err(Error::Answered(Box::new(answer.clone()))),
            Some(Earlier::Other) => return Err(Error::KeyReused),
            Some(Earlier::Running(_)) | None => {}
        }
        if let Some(keyed) = &self.keyed {
            self.state.set_keyed(keyed.clone());
        }
        Ok(())
    }

    /// Says that the request is about an item in this revision, which the caller may be shown; refuses one that is for
    /// another. What never changes while it is there stays in [`UNCHANGING`].
    fn about(&self, revision: u64) -> Result<()> {
        self.state.set_subject(revision)
    }

    /// The company of the caller, which is that of the path.
    pub fn company(&self) -> &CompanyId {
        self.caller.company()
    }

    /// Makes and reads the addresses of resources, those of files included.
    pub fn references(&self) -> References<'_> {
        References::new(self.app.config()).signed_by(&self.signer)
    }

    /// How long ago the request came.
    pub fn age(&self) -> TimeDelta {
        self.app.now() - self.now
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        self.app.config()
    }

    /// A new key for a candidate to act by without a password.
    pub fn new_access_key(&self, project: ProjectId, candidate: CandidateId) -> AccessKey {
        let account = Account::Candidate { project, candidate };
        let claim = Claim::own(self.company().clone(), account);
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

    /// Ends the session that the request came with.
    ///
    /// # Errors
    /// [`Error::Refused`] when it came with no session; [`Error::Busy`] or [`Error::Internal`].
    pub async fn end_session(&self) -> Result<()> {
        match &self.caller.proof {
            Proof::Session(live) => self.store.end_session(&live.key).await,
            Proof::AccessKey | Proof::NamedToken => Err(NO_SESSION.into()),
        }
    }
}

/// A request before it is authenticated: what it claims, and what it names.
struct Request<'a> {
    parts: &'a Parts,
    app: &'a App,
    path: Vec<(String, String)>,
    store: Store,
    /// What it goes by, where that is a token in its path.
    by: Option<Address>,
}

impl<'a> Request<'a> {
    async fn new(parts: &'a mut Parts, app: &'a App) -> Result<Self> {
        let params = RawPathParams::from_request_parts(parts, app).await;
        let path = match &params {
            Ok(params) => params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            // Nothing has such a path; but only who is authenticated is told so.
            Err(RawPathParamsRejection::InvalidUtf8InPathParam(_)) => Vec::new(),
            Err(_) => return Err(Error::internal("a guard on a route without path parameters")),
        };
        let store = RequestState::of(parts).store(app);
        Ok(Self { parts, app, path, store, by: None })
    }

    /// A request that goes by the token in its path. `read` takes the segment that holds the token apart, and `object`
    /// tells the key of the object that the path and the token are an address of.
    async fn by_address<T>(
        parts: &'a mut Parts,
        app: &'a App,
        read: fn(&str) -> (&str, T),
        object: impl FnOnce(&Self, &MediaToken, &T) -> Result<String, InvalidId>,
    ) -> Result<(Self, T)> {
        let rejected = || Error::Unauthenticated(REJECTED);
        let mut request = Self::new(parts, app).await?;
        let company: CompanyId = request.id("companyId").map_err(|_| rejected())?;
        let segment = request.path.iter().find(|(name, _)| name == "token");
        let (token, besides) = segment.map(|(_, text)| read(text)).ok_or_else(rejected)?;
        let token = MediaToken::parse(token).ok_or_else(rejected)?;
        let object = object(&request, &token, &besides).map_err(|_| rejected())?;
        let credential = Credential::from_reference(token.reference(), &company).ok_or_else(rejected)?;
        // Other credentials end by themselves.
        if credential.means == Means::NamedToken && token.is_older_than(NAMED_TOKENS_ADDRESS, app.now()) {
            return Err(rejected());
        }
        request.by = Some(Address { credential, token, object });
        Ok((request, besides))
    }

    /// The identifier in a segment of the path.
    fn id<T: std::str::FromStr<Err = InvalidId>>(&self, name: &str) -> Result<T, InvalidId> {
        let found = self.path.iter().find(|(key, _)| key == name);
        found.ok_or(InvalidId)?.1.parse()
    }

    /// The company of the path, if the credential claims to belong there: reading ahead for others would be wasted.
    fn promising_company(&self) -> Option<CompanyId> {
        let company = self.id::<CompanyId>("companyId").ok()?;
        let credential = Credential::from_headers(&self.parts.headers).ok()?;
        credential.claim().is_none_or(|claim| claim.company == company).then_some(company)
    }

    /// Authenticates the caller and reads, in the same round trip, what stands under `more` keys.
    ///
    /// The path must be of the caller's own company if it names one; what it cannot name does not exist.
    async fn admit(&self, more: Result<Vec<Key>, InvalidId>) -> Result<(Scope, Batch)> {
        let credential = match &self.by {
            Some(address) => address.credential.clone(),
            None => Credential::from_headers(&self.parts.headers)?,
        };
        if matches!(credential.means, Means::Session(SessionKind::Cookie, _)) && !self.parts.method.is_safe()
        {
            csrf::check(&self.parts.headers, self.app.config())?;
        }
        let state = RequestState::of(self.parts);
        let keyed = state.keyed_by(&sender(&credential));
        let keys = own_keys(&credential).into_iter().chain(more.clone().unwrap_or_default());
        let mut batch = self.store.get(keys.chain(keyed.as_ref().map(KeyedRequest::key))).await?;
        let now = self.app.now();
        let (caller, media_key) = self.authenticate(&credential, &mut batch, now)?;
        // Before anything else is told that the address might ask about.
        if self.by.as_ref().is_some_and(|address| !address.token.is_for(&media_key, &address.object)) {
            return Err(Error::Unauthenticated(REJECTED));
        }
        let names_other_company =
            self.path.iter().any(|(name, value)| name == "companyId" && value != caller.company().as_str());
        if names_other_company || more.is_err() {
            return Err(Error::NotFound);
        }
        let earlier = match &keyed {
            Some(keyed) => self.store.earlier_in(&mut batch, keyed, now).await?,
            None => None,
        };
        let (store, app) = (self.store.clone(), self.app.clone());
        state.set_viewer(viewer(&credential, now));
        let signer = MediaSigner::new(media_key, &credential.to_reference(), now, app.entropy());
        Ok((Scope { caller, now, store, app, signer, state, keyed, earlier }, batch))
    }

    /// Who is calling, and what the addresses of files are signed with that they are shown.
    fn authenticate(
        &self,
        credential: &Credential,
        batch: &mut Batch,
        now: DateTime<Utc>,
    ) -> Result<(Caller, MediaKey)> {
        let rejected = || Error::Unauthenticated(REJECTED);
        let (identity, proof, media_key) = match &credential.means {
            Means::Session(kind, claim) => {
                let identity = take_identity(claim, batch)?.ok_or_else(rejected)?;
                let session = self.session(*kind, &credential.hash, claim, batch, &identity, now)?;
                let live = session.ok_or_else(rejected)?;
                let media_key = live.session.media_key.clone();
                (identity, Proof::Session(Box::new(live)), media_key)
            }
            Means::AccessKey(claim) => {
                let identity = take_identity(claim, batch)?.ok_or_else(rejected)?;
                let key = match &identity {
                    Identity::Candidate(candidate) if candidate.may_use_key(now) => {
                        candidate.access_key.as_ref().filter(|key| key.has(&credential.hash))
                    }
                    _ => None,
                };
                let media_key = MediaKey::of(key.ok_or_else(rejected)?);
                (identity, Proof::AccessKey, media_key)
            }
            Means::NamedToken => {
                let key = keys::token_by_hash(&credential.hash);
                let token = batch.take_token(&key)?.ok_or_else(rejected)?;
                let media_key = token.media_key.clone();
                (Identity::NamedToken(token), Proof::NamedToken, media_key)
            }
        };
        let caller = Caller { identity, proof };
        RequestState::of(self.parts).set_caller(caller.company(), caller.principal());
        Ok((caller, media_key))
    }

    /// The session behind a credential, if it is alive; using it keeps it alive, unless by the address of a file.
    fn session(
        &self,
        kind: SessionKind,
        hash: &SecretHash,
        claim: &Claim,
        batch: &mut Batch,
        identity: &Identity,
        now: DateTime<Utc>,
    ) -> Result<Option<LiveSession>> {
        let key = keys::session(hash);
        let Some(mut session) = batch.take_session(&key)? else { return Ok(None) };
        let idle_minutes = self.app.config().session_idle_minutes;
        let is_alive = session.kind == kind
            && session.claim == *claim
            && identity.user().is_some_and(|(_, user)| user.epoch == Some(session.epoch))
            && now < session.expires_at(idle_minutes);
        if !is_alive || !may_act_for(&session.claim, session.actor_epoch, identity, batch)? {
            return Ok(None);
        }
        // Fetching a file is no use of a session: the page that shows it may be open for ever.
        if self.by.is_none() && session.is_due_to_slide(idle_minutes, now) {
            session.used_at = now;
            let (store, key) = (self.store.clone(), key.clone());
            RequestState::of(self.parts).beside(async move { store.slide_session(&key, now).await });
        }
        Ok(Some(LiveSession { ends: session.expires_at(idle_minutes), session, key }))
    }
}

/// An address of a file, as a request comes by it.
struct Address {
    /// The credential that was shown the address.
    credential: Credential,
    token: MediaToken,
    /// The key of the object that it is an address of.
    object: String,
}

/// The keys of what proves a credential: of its session and its user, or of the named token.
fn own_keys(credential: &Credential) -> Vec<Key> {
    let account = |claim: &Claim| keys::account(&claim.company, claim.account);
    match &credential.means {
        Means::Session(_, claim) => {
            let actor = claim.on_behalf_by.map(|by| keys::customer(&claim.company, by));
            [keys::session(&credential.hash), account(claim)].into_iter().chain(actor).collect()
        }
        Means::AccessKey(claim) => vec![account(claim)],
        Means::NamedToken => vec![keys::token_by_hash(&credential.hash)],
    }
}

/// For whom, and for how long at most, the addresses of files in an answer are good.
fn viewer(credential: &Credential, now: DateTime<Utc>) -> String {
    let hash = credential.hash.as_str();
    match credential.means {
        // Those that it was shown end before it does: before that, it is to read again.
        Means::NamedToken => {
            format!("{hash} {}", now.timestamp() / (NAMED_TOKENS_ADDRESS.num_seconds() / 2))
        }
        Means::Session(..) | Means::AccessKey(_) => hash.to_owned(),
    }
}

/// Who sends a request, whichever of their sessions or keys it comes with.
fn sender(credential: &Credential) -> String {
    match &credential.means {
        Means::Session(_, claim) | Means::AccessKey(claim) => {
            keys::sender(&claim.company, Principal::Account(claim.account))
        }
        Means::NamedToken => keys::token_sender(&credential.hash),
    }
}

fn take_identity(claim: &Claim, batch: &mut Batch) -> Result<Option<Identity>> {
    let key = keys::account(&claim.company, claim.account);
    Ok(match claim.account {
        Account::Customer { .. } => batch.take(&key)?.map(Identity::Customer),
        Account::Candidate { .. } => batch.take(&key)?.map(Identity::Candidate),
    })
}

/// Whether whoever acts for somebody else, if anybody does, still may; what ends their own sessions ends this as well.
fn may_act_for(
    claim: &Claim,
    actor_epoch: Option<u32>,
    identity: &Identity,
    batch: &mut Batch,
) -> Result<bool> {
    let Some(by) = claim.on_behalf_by else { return Ok(true) };
    let actor = match identity {
        // Read as the user already.
        Identity::Customer(own) if own.id == by => Some(own.clone()),
        _ => batch.take::<Customer>(&keys::customer(&claim.company, by))?,
    };
    Ok(matches!((actor, identity), (Some(actor), Identity::Customer(target))
        if actor.may_act_for(target) && actor_epoch == Some(actor.session_epoch)))
}

/// Refuses a caller who may not take `action`, though they may know of what it is about.
fn require(allowed: bool) -> Result<()> {
    if allowed { Ok(()) } else { Err(Error::Forbidden(policy::NOT_ALLOWED)) }
}
