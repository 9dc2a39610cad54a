//! Sign-in of staff by their company's provider: the authorization code flow of OpenID Connect, with PKCE.
//!
//! The state between the two requests is only in a sealed cookie, one for each `state`, so that no other browser can complete the
//! sign-in.

mod cookies;
mod error;
mod id_token;
mod request;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use self::cookies::{PendingSignIn, hash_client};
use self::error::SignInError;
use super::{LoggedIn, PublicAccess};
use crate::auth::caller::CallerIdentity;
use crate::domain::account::Principal;
use crate::domain::history::ChangeAuthor;
use crate::domain::id::CompanyId;
use crate::domain::staff::customer::Customer;
use crate::domain::staff::sign_in::{ProviderIdentity, SignInFailure, SignInProvider, SignInSettings};
use crate::error::{Error, Result};
use crate::store::{SessionKind, VersionedItem};

pub use request::{AuthorizationResponse, MAX_RETURN, SignInRequest};

/// Random bytes in `state`, `nonce` and the verifier of PKCE.
const RANDOM_BYTES: usize = 32;
/// How often linking a customer is tried if concurrent requests change the customer or the settings.
const TRIES: usize = 3;

/// The redirect that begins a sign-in.
pub struct BegunSignIn {
    /// The provider's URL to which the browser is redirected.
    pub location: String,
    /// The Set-Cookie values: one with the state of this sign-in and, if the browser has too many sign-ins, those that delete the
    /// others.
    pub cookies: Vec<String>,
}

pub enum SignInEnd {
    /// A session has begun, and the browser is redirected to this URL.
    SignedIn(Box<LoggedIn>, String),
    /// No session has begun.
    Failed(SignInFailure),
}

impl PublicAccess {
    /// Begins a sign-in to a company; `return_to` is the URL to which the browser goes afterwards. The inner error is
    /// for the person, the outer one is a server error.
    pub async fn begin_sign_in(
        &self,
        company: &CompanyId,
        return_to: String,
    ) -> Result<Result<BegunSignIn, SignInFailure>> {
        let settings = self.store.sign_in_settings(company).await?;
        match self.try_begin_sign_in(&settings, return_to).await {
            Ok(begun) => Ok(Ok(begun)),
            Err(error) => self.report_failure(&settings, error).await.map(Err),
        }
    }

    // A separate function, so that one place reports all errors that `?` returns.
    async fn try_begin_sign_in(
        &self,
        settings: &SignInSettings,
        return_to: String,
    ) -> Result<BegunSignIn, SignInError> {
        let SignInSettings { company, .. } = settings;
        let provider = settings.working_provider();
        let provider =
            provider.ok_or(SignInError::Failure(SignInFailure::Unavailable, "no provider is set"))?;
        // Cached endpoints suffice, so that strangers who begin sign-ins in a loop cause no requests to the provider.
        let endpoints = self.load_endpoints(provider).await?;
        let [state, nonce, verifier] = [(); 3].map(|()| self.random_text());
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier));
        let mut location = endpoints.authorization;
        location
            .query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", provider.client_id.as_str())
            .append_pair("redirect_uri", &self.references().sign_in_callback(company).to_string())
            .append_pair("scope", "openid email")
            .append_pair("state", &state)
            .append_pair("nonce", &nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        let pending = PendingSignIn {
            company: company.clone(),
            client_hash: hash_client(provider),
            nonce,
            verifier,
            return_to,
            begun_at: self.now,
        };
        let cookies = self.seal_pending_sign_in(&state, &pending).await?;
        Ok(BegunSignIn { location: location.into(), cookies })
    }

    /// Completes a sign-in to a company with the response of its provider.
    pub async fn end_sign_in(
        &self,
        company: &CompanyId,
        response: &AuthorizationResponse,
    ) -> Result<SignInEnd> {
        let settings = self.store.sign_in_settings(company).await?;
        match self.try_end_sign_in(&settings, response).await {
            Ok((logged_in, return_to)) => Ok(SignInEnd::SignedIn(Box::new(logged_in), return_to)),
            Err(error) => self.report_failure(&settings, error).await.map(SignInEnd::Failed),
        }
    }

    async fn try_end_sign_in(
        &self,
        settings: &VersionedItem<SignInSettings>,
        response: &AuthorizationResponse,
    ) -> Result<(LoggedIn, String), SignInError> {
        let SignInSettings { company, .. } = &**settings;
        let pending = self.open_pending_sign_in(&response.state).await?;
        // Refuse a response at another company's callback before any request: that company's malicious provider may have sent
        // this company's code there.
        let pending = pending.filter(|pending| pending.company == *company);
        let pending = pending.ok_or(SignInError::expired("it did not begin in this browser"))?;
        let provider =
            settings.working_provider().filter(|provider| hash_client(provider) == pending.client_hash);
        let provider = provider.ok_or(SignInError::expired("the provider has changed"))?;
        let failures = self.store.failed_sign_ins(company).await?;
        failures.require_room_for(&self.state.source, self.now)?;
        let admitted = match self.redeem_and_verify(company, provider, &pending, response).await {
            Ok(identity) => self.admit_customer(settings, provider, &identity).await,
            Err(error) => Err(error),
        };
        let customer = match admitted {
            Err(refused @ SignInError::Failure(SignInFailure::Refused, _)) => {
                // Count refusals, so that strangers cannot make the service query the provider without limit. Other failures do
                // not count: a failing provider must not lock out people who try again.
                match self.store.count_failure(failures, &self.state.source, self.now).await {
                    Ok(()) | Err(Error::Throttled(_)) => return Err(refused),
                    Err(error) => return Err(error.into()),
                }
            }
            admitted => admitted?,
        };
        self.require_no_other_session(&customer).await?;
        let session =
            self.new_session(SessionKind::Cookie, CallerIdentity::Customer(customer), None, None).await?;
        let mut logged_in = session.ok_or(SignInError::refused("the account may not log in"))?;
        logged_in.session.signed_in_under = settings.links_since;
        self.store.create_session(&logged_in.secret, &logged_in.session).await?;
        Ok((logged_in, pending.return_to))
    }

    /// Fails if the browser is logged in as a candidate or to another company. Otherwise a page could replace that session by one
    /// of its own company.
    async fn require_no_other_session(&self, customer: &Customer) -> Result<(), SignInError> {
        if !self.has_credential() {
            return Ok(());
        }
        match self.caller().await {
            Ok(caller) if caller.company() != &customer.company || caller.staff_in_person().is_none() => Err(
                SignInError::Failure(SignInFailure::Occupied, "the browser is logged in as somebody else"),
            ),
            // An ended session may be replaced.
            Ok(_) | Err(Error::Unauthenticated(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Finds the customer with this identity. At their first sign-in, links the customer to the identity.
    async fn admit_customer(
        &self,
        settings: &VersionedItem<SignInSettings>,
        provider: &SignInProvider,
        identity: &ProviderIdentity,
    ) -> Result<VersionedItem<Customer>, SignInError> {
        for _ in 0..TRIES {
            let customers = self.store.all_customers(&settings.company).await?;
            let found = settings.find_customer(identity, customers.iter().map(|customer| &**customer));
            let before = customers.into_iter().find(|customer| Some(customer.id) == found).ok_or(
                SignInError::refused("no active account has this subject, or a verified and listed address"),
            )?;
            let link = settings.link_of(&before).cloned();
            let link = link.unwrap_or_else(|| provider.link_to(identity.subject.clone(), self.now));
            let after = Customer::clone(&before).sign_in_as(link, self.now);
            if after == *before {
                return Ok(before);
            }
            let by = Principal::Account(before.account());
            let store = self.store_as(by);
            match store.commit(store.link_customer(settings, &before, &after, by.into(), self.now)).await {
                // Read again: the session needs the stored epoch.
                Ok(()) | Err(Error::Changed) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Changed.into())
    }

    /// Logs for operators why a sign-in has failed, and records a problem for the owners.
    async fn report_failure(
        &self,
        settings: &VersionedItem<SignInSettings>,
        error: SignInError,
    ) -> Result<SignInFailure> {
        let (failure, reason) = match error {
            SignInError::Failure(failure, reason) => (failure, reason),
            SignInError::Problem(problem) => (SignInFailure::Unreachable, problem.as_str()),
            SignInError::Error(error) => return Err(error),
        };
        tracing::info!(
            target: "sign-in", company = %settings.company, failure = failure.as_str(), reason, "a sign-in has failed"
        );
        if let SignInError::Problem(problem) = error {
            // The author is the service, because the person is not authenticated.
            let store = self.store_as(ChangeAuthor::System);
            store.note_sign_in_problem(settings, problem, self.now).await?;
        }
        Ok(failure)
    }

    fn random_text(&self) -> String {
        let mut random = [0; RANDOM_BYTES];
        self.app.entropy().fill(&mut random);
        URL_SAFE_NO_PAD.encode(random)
    }
}
