//! Requests of callers who are not authenticated yet: they log in, ask for mails, or use keys from mails.

mod exchange;
mod mailed_key;
mod sign_in;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chrono::{DateTime, Utc};

pub use exchange::{ExchangeTarget, NewExchangedToken};
pub use mailed_key::{KeyHolder, KeyPurpose};
pub use sign_in::{AuthorizationResponse, BegunSignIn, MAX_RETURN, SignInEnd, SignInRequest};

use super::access::{AdmittedRequest, UnauthenticatedRequest};
use crate::app::App;
use crate::auth::admission::{AdmissionRule, HasAdmission};
use crate::auth::caller::{AuthMethod, Caller, CallerIdentity};
use crate::auth::credential::{Credential, CredentialKind, MISSING, SecretKind};
use crate::auth::csrf;
use crate::auth::ended_key::explain_end;
use crate::auth::password::Password;
use crate::config::Config;
use crate::domain::account::{Account, CredentialClaim};
use crate::domain::candidate::{Candidate, KeyEnd};
use crate::domain::effect::{Effect, EffectTask};
use crate::domain::history::{ChangeAuthor, ChangeOrigin};
use crate::domain::id::CompanyId;
use crate::domain::policy::NOT_ALLOWED;
use crate::domain::project::Project;
use crate::domain::secret::{PasswordHash, PresentedSecret, SecretHash};
use crate::domain::staff::customer::Customer;
use crate::domain::text::fold_case;
use crate::error::{Error, Result};
use crate::http::exchange::state::RequestState;
use crate::http::reference::ReferenceUris;
use crate::media::FileUrlSigner;
use crate::store::{
    BegunLogin, LoginPartition, OpenedKeys, Session, SessionKind, Store, VersionedItem, keys,
};

// A failed login takes a multiple of this time. Otherwise 2,000 logins would reveal whether an account exists, because
// reading one takes 0.4 ms longer than finding none (`tests/bench login-timing`).
const FAILURE_STEP: Duration = Duration::from_millis(25);

/// Admits every request. Gives access only to what logging in needs.
pub struct PublicAccess {
    /// The time of the request.
    pub now: DateTime<Utc>,
    store: Store,
    app: App,
    parts: Parts,
    state: Arc<RequestState>,
}

/// A new session and its account.
pub struct LoggedIn {
    /// The account that has logged in.
    pub identity: CallerIdentity,
    pub session: Session,
    /// The secret of the session, for the client.
    pub secret: String,
}

impl HasAdmission for PublicAccess {
    const ADMISSION: AdmissionRule = AdmissionRule::Anyone;
}

impl FromRequestParts<App> for PublicAccess {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let state = RequestState::of(&parts.extensions);
        Ok(Self { now: app.now(), store: state.store(app), app: app.clone(), parts: parts.clone(), state })
    }
}

impl PublicAccess {
    /// Makes and parses the URLs of resources.
    pub fn references(&self) -> ReferenceUris<'_> {
        ReferenceUris::new(self.app.config())
    }

    /// Signs file URLs in the response to a login, for the new session.
    pub fn signer(&self, logged_in: &LoggedIn) -> FileUrlSigner {
        let LoggedIn { session, secret, .. } = logged_in;
        let kind = CredentialKind::Session(session.kind, session.claim.clone());
        let reference = Credential::of_secret(secret, kind).to_reference();
        FileUrlSigner::new(PresentedSecret::new(secret), &reference, self.now, self.app.entropy())
    }

    /// Decrypts the access key of an account that has just logged in, if it is a candidate with a key.
    pub async fn open_own_key(&self, logged_in: &LoggedIn) -> Result<OpenedKeys> {
        match &logged_in.identity {
            CallerIdentity::Candidate(candidate) => self.store.open_access_keys([&**candidate]).await,
            CallerIdentity::Customer(_) | CallerIdentity::NamedToken(_) => Ok(OpenedKeys::default()),
        }
    }

    pub fn config(&self) -> &Config {
        self.app.config()
    }

    /// Refuses a request that another web site has made the browser send.
    pub fn check_csrf(&self) -> Result<()> {
        csrf::check(&self.parts.headers, self.app.config())
    }

    /// Whether the request has a credential, valid or not.
    pub fn has_credential(&self) -> bool {
        !matches!(Credential::from_headers(&self.parts.headers), Err(Error::Unauthenticated(MISSING)))
    }

    /// Authenticates the request's credential.
    pub async fn caller(&self) -> Result<Caller> {
        let request = UnauthenticatedRequest::without_path(&self.parts, &self.app);
        Ok(request.authenticate(Vec::new(), AdmissionRule::Authenticated).await?.into_caller())
    }

    /// Begins a session for the active staff user or candidate of `company` whose user name or email is `name` and whose password
    /// is `password`. Returns `None` if no account matches, without revealing which of the three is wrong. Fails with
    /// [`Error::EndedKey`] for a candidate whose interview was cancelled, with [`Error::SignInRequired`] for staff who must sign
    /// in by their company's provider, and with [`Error::Throttled`] after too many failures in a row.
    pub async fn log_in(
        &self,
        company: &str,
        name: &str,
        password: Password,
        kind: SessionKind,
        days: Option<u8>,
    ) -> Result<Option<LoggedIn>> {
        let partition = LoginPartition::of(company, name);
        let begun = self.store.begin_login(&partition, &self.state.source, self.now).await?;
        let BegunLogin { mut found, counted, sign_in_settings: settings } = begun;
        // For a name in a domain of the provider, the response must not reveal whether the account exists, so do not check the
        // passwords of such accounts.
        let listing = settings.as_deref().filter(|settings| settings.requires_provider_of(name));
        let allows_password = |customer: &Customer| {
            settings.as_ref().is_none_or(|settings| settings.allows_password_of(customer))
        };
        found.customers.retain(|customer| listing.is_none() || allows_password(customer));
        let customers = found.customers.into_iter().map(CallerIdentity::Customer);
        // If a password matches several accounts, staff come first, then the latest project; withdrawn candidates, who only get
        // the reason, come last.
        let mut identities: Vec<CallerIdentity> =
            customers.chain(found.candidates.into_iter().map(CallerIdentity::Candidate)).collect();
        identities.retain(|identity| checked_hash(identity).is_some());
        identities.sort_by_key(is_withdrawn);
        let is_alone = identities.len() == 1;
        let Some(index) =
            password.find(identities.iter().filter_map(checked_hash).collect(), &self.app).await?
        else {
            // Hide that reading an existing account takes a little longer.
            self.app.pause(until_step(FAILURE_STEP, self.state.usage.elapsed())).await;
            return listing.map_or(Ok(None), |settings| Err(self.sign_in_required(&settings.company)));
        };
        let identity = identities.swap_remove(index);
        if let CallerIdentity::Candidate(candidate) = &identity
            && is_withdrawn(&identity)
        {
            self.store.end_login(&counted, is_alone).await?;
            let keys =
                [keys::company(&candidate.company), keys::project(&candidate.company, candidate.project)];
            let mut batch = self.store.get(keys).await?;
            let end = KeyEnd::Withdrawn;
            return Err(explain_end(candidate, end, true, &mut batch, &self.store, self.app.config()).await?);
        }
        if let CallerIdentity::Customer(customer) = &identity
            && !allows_password(customer)
        {
            self.store.end_login(&counted, is_alone).await?;
            return Err(self.sign_in_required(&customer.company));
        }
        let logged_in = self.new_session(kind, identity, None, days).await?;
        tokio::try_join!(self.store.end_login(&counted, is_alone), self.store_session(&logged_in))?;
        Ok(logged_in)
    }

    /// The error with the URL where staff sign in by their company's provider.
    fn sign_in_required(&self, company: &CompanyId) -> Error {
        Error::SignInRequired(self.references().sign_in_url(company).to_string())
    }

    /// Fails with [`Error::SignInRequired`] if the customer must sign in by their company's provider.
    async fn check_password_allowed(&self, customer: &Customer) -> Result<()> {
        let settings = self.store.sign_in_settings(&customer.company).await?;
        if settings.allows_password_of(customer) {
            Ok(())
        } else {
            Err(self.sign_in_required(&customer.company))
        }
    }

    /// Begins a session in which `actor` acts on behalf of the active staff user whose user name or email is `name`;
    /// `None` if no user matches. Fails with [`Error::Forbidden`] if `actor` may not act on behalf of that user.
    pub async fn log_in_for(&self, actor: &Caller, name: &str, days: Option<u8>) -> Result<Option<LoggedIn>> {
        let is_own =
            // A session on behalf of another user cannot begin a further one.
            matches!(&actor.auth_method, AuthMethod::Session(live) if live.session.claim.on_behalf_by.is_none());
        let CallerIdentity::Customer(by) = &actor.identity else { return Err(Error::Forbidden(NOT_ALLOWED)) };
        if !is_own || !by.authenticate_on_behalf {
            return Err(Error::Forbidden(NOT_ALLOWED));
        }
        let partition = LoginPartition::of(by.company.as_str(), name);
        let target =
            self.store.customers_of(&partition).await?.into_iter().find(|customer| customer.is_active);
        let Some(target) = target else { return Ok(None) };
        if !by.may_act_for(&target) {
            return Err(Error::Forbidden(NOT_ALLOWED));
        }
        let target = CallerIdentity::Customer(target);
        let mut logged_in = self.new_session(SessionKind::Token, target, Some(by), days).await?;
        if let (Some(LoggedIn { session, .. }), AuthMethod::Session(live)) =
            (&mut logged_in, &actor.auth_method)
        {
            // The session is revoked when the company changes the provider by which the actor has signed in.
            session.signed_in_under = live.session.signed_in_under;
        }
        self.store_session(&logged_in).await?;
        Ok(logged_in)
    }

    /// Makes a session without storing it; `None` if the account may not log in.
    async fn new_session(
        &self,
        kind: SessionKind,
        identity: CallerIdentity,
        by: Option<&Customer>,
        days: Option<u8>,
    ) -> Result<Option<LoggedIn>> {
        let user = identity.user().and_then(|(account, user)| Some((account, user.epoch?)));
        let Some((account, epoch)) = user else { return Ok(None) };
        let company = identity.company().clone();
        let claim =
            CredentialClaim { on_behalf_by: by.map(|by| by.id), ..CredentialClaim::own(company, account) };
        let secret = SecretKind::Session(kind).generate(&claim, self.app.entropy());
        let key = keys::session(&SecretHash::of(&secret));
        let media_key = self.store.seal_media_key(&key, &secret).await?;
        let mut session = Session::begin(kind, claim, epoch, days, self.now, media_key);
        session.actor_epoch = by.map(|by| by.session_epoch);
        Ok(Some(LoggedIn { identity, session, secret }))
    }

    /// The store, for changes whose author is `by`.
    fn store_as(&self, by: impl Into<ChangeAuthor>) -> Store {
        let origin = ChangeOrigin { request: self.state.id.clone(), ..ChangeOrigin::new(by, self.now) };
        self.store.clone().with_origin(origin)
    }

    async fn store_session(&self, logged_in: &Option<LoggedIn>) -> Result<()> {
        match logged_in {
            Some(LoggedIn { session, secret, .. }) => self.store.create_session(secret, session).await,
            None => Ok(()),
        }
    }

    /// Emails a reset key to every account of `company` that matches `name`. The response and its time do not depend on
    /// whether any matches.
    pub async fn forget_password(&self, company: CompanyId, name: String) -> Result<()> {
        let hash = SecretHash::of(&format!("{company}#{}", fold_case(&name)));
        let cause = format!("{}-{}", hash.as_str(), self.now.timestamp());
        // The outbox looks up the accounts, so that the response time does not reveal whether the name exists.
        let effect = Effect::new(company, cause, EffectTask::PasswordReset { name }, self.now);
        self.request_mail(&effect, &hash).await
    }

    /// Emails the latest link to the candidate to whom `key` was sent, if the key has ended and the candidate may continue. The
    /// response and its time do not depend on that.
    pub async fn send_latest_link(&self, key: &str) -> Result<()> {
        let claim = SecretKind::AccessKey.claim_in(key);
        let Some(CredentialClaim { company, account: Account::Candidate { project, candidate }, .. }) = claim
        else {
            return Ok(());
        };
        let hash = SecretHash::of(key);
        let cause = format!("{}-{}", hash.as_str(), self.now.timestamp());
        let task = EffectTask::CandidateLink { project, candidate, key: hash.clone() };
        // The outbox looks up the key, so that the response time does not reveal whether it was ever sent.
        self.request_mail(&Effect::new(company, cause, task, self.now), &hash).await
    }

    /// Records the effect that sends a mail for an unauthenticated caller. Does nothing if the name or key with this hash was
    /// used within the last five minutes.
    async fn request_mail(&self, effect: &Effect, hash: &SecretHash) -> Result<()> {
        match self.store.commit(self.store.create_reset(effect, hash, self.now)).await {
            // A mail was requested within the last five minutes.
            Err(Error::Changed) => Ok(()),
            outcome => outcome,
        }
    }

    /// The project of a candidate who has logged in.
    pub async fn project_of(&self, logged_in: &LoggedIn) -> Result<Option<VersionedItem<Project>>> {
        match &logged_in.identity {
            CallerIdentity::Customer(_) | CallerIdentity::NamedToken(_) => Ok(None),
            CallerIdentity::Candidate(candidate) => {
                self.store.project(&candidate.company, candidate.project).await
            }
        }
    }
}

/// The password hash that a login is compared with; `None` for accounts without a password and for staff who may not log in.
fn checked_hash(identity: &CallerIdentity) -> Option<PasswordHash> {
    let (_, user) = identity.user()?;
    user.password_hash.filter(|_| user.epoch.is_some() || is_withdrawn(identity)).cloned()
}

/// Whether `identity` is a candidate who may no longer log in.
// With the right password, such candidates get the reason. If the response called their password wrong, they would ask for a new one.
fn is_withdrawn(identity: &CallerIdentity) -> bool {
    matches!(identity, CallerIdentity::Candidate(candidate) if !candidate.may_log_in())
}

/// How long to wait until the time since the start of the request, now `elapsed`, is a multiple of `step`.
fn until_step(step: Duration, elapsed: Duration) -> Duration {
    let elapsed = elapsed.as_micros();
    let step = step.as_micros();
    Duration::from_micros(u64::try_from(elapsed.div_ceil(step) * step - elapsed).unwrap_or(0))
}

impl AdmittedRequest {
    /// Hashes a customer's new password.
    pub async fn hash(&self, password: Password) -> Result<PasswordHash> {
        password.hash(None, &self.app).await
    }

    /// Hashes a candidate's new password, with the salt that candidates of one address share.
    pub async fn hash_for(&self, candidate: &Candidate, password: Password) -> Result<PasswordHash> {
        let shared = self.store.password_to_share_salt_with(candidate).await?;
        password.hash(shared.as_ref(), &self.app).await
    }

    /// Whether `password` is the customer's current password. A wrong one counts as a failed login with their user
    /// name. Fails with [`Error::Throttled`] after too many failures.
    pub async fn is_password_of(&self, customer: &Customer, password: Password) -> Result<bool> {
        // Count failures here too: an unattended session must suffice neither to change the password nor to guess it.
        let name = LoginPartition::of(customer.company.as_str(), customer.username.as_str());
        let hash = customer.password_hash.clone();
        is_password(&self.store, &self.state, &self.app, &name, hash, password, self.now).await
    }
}

/// Whether `password` matches `hash`. A wrong password counts as a failed login with `name`.
async fn is_password(
    store: &Store,
    state: &RequestState,
    app: &App,
    name: &LoginPartition,
    hash: Option<PasswordHash>,
    password: Password,
    now: DateTime<Utc>,
) -> Result<bool> {
    let BegunLogin { counted, .. } = store.begin_login(name, &state.source, now).await?;
    let fits = password.find(hash.into_iter().collect(), app).await?.is_some();
    if fits {
        store.end_login(&counted, false).await?;
    }
    Ok(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_end_with_a_step() {
        let step = Duration::from_secs(1);
        for (elapsed, left) in [(0, 0), (1, 999), (700, 300), (1000, 0), (1001, 999), (5_250, 750)] {
            let [elapsed, left] = [elapsed, left].map(Duration::from_millis);
            assert_eq!(until_step(step, elapsed), left, "{elapsed:?}");
        }
    }
}
