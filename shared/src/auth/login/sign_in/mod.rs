//! Sign-in of staff by their company's provider: the authorization code flow of OpenID Connect, with PKCE.
//!
//! The state between its two requests is sealed in a cookie of the browser, one for each `state`, and stored nowhere else, so that no other
//! browser can end the sign-in.

mod cookies;
mod id_token;

use std::convert::Infallible;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::header;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use url::form_urlencoded;

use self::cookies::{PendingSignIn, hash_client};
use super::{LoggedIn, PublicAccess};
use crate::app::App;
use crate::auth::admission::{AdmissionRule, HasAdmission};
use crate::auth::caller::CallerIdentity;
use crate::config::Config;
use crate::domain::account::Principal;
use crate::domain::history::ChangeAuthor;
use crate::domain::id::CompanyId;
use crate::domain::staff::customer::Customer;
use crate::domain::staff::sign_in::{
    ProviderIdentity, SignInFailure, SignInProblem, SignInProvider, SignInSettings,
};
use crate::error::{Error, Result};
use crate::store::{SessionKind, VersionedItem};

/// Random bytes in `state`, `nonce` and the verifier of PKCE.
const RANDOM_BYTES: usize = 32;
/// The most bytes of the address to go on to: browsers keep cookies of 4 KB.
pub const MAX_RETURN: usize = 1000;
/// The number of tries to link a customer while others change the customer or the settings.
const TRIES: usize = 3;

/// A sign-in that has begun.
pub struct BegunSignIn {
    /// The address at the provider that the browser is sent to.
    pub location: String,
    /// The Set-Cookie values: one with the state of this sign-in, and those that make the browser forget others if it has too many.
    pub cookies: Vec<String>,
}

/// The parameters with which the provider has sent a browser back.
#[derive(Debug, Default)]
pub struct ProviderAnswer {
    pub state: String,
    /// `None` if the provider has refused, or has repeated a parameter.
    pub code: Option<String>,
    /// The issuer that has answered (RFC 9207).
    pub issuer: Option<String>,
}

impl FromRequestParts<App> for ProviderAnswer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let sent = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let sent: Vec<_> = sent.into_owned().collect();
        let values = |name| sent.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.clone());
        let state = values("state").next().unwrap_or_default();
        // RFC 6749 forbids it, and two readers may take two values. Other parameters are the provider's own.
        if ["state", "code", "iss"].iter().any(|name| values(name).count() > 1) {
            return Ok(Self { state, ..Self::default() });
        }
        Ok(Self { state, code: values("code").next(), issuer: values("iss").next() })
    }
}

/// Any request of a sign-in to the company in the path.
pub struct SignInRequest {
    pub access: PublicAccess,
    /// `None` if the path holds no well-formed identifier; the company may not exist.
    pub company: Option<CompanyId>,
}

impl HasAdmission for SignInRequest {
    const ADMISSION: AdmissionRule = AdmissionRule::Anyone;
}

impl FromRequestParts<App> for SignInRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let path = RawPathParams::from_request_parts(parts, app).await.ok();
        let named = path.iter().flatten().find(|(name, _)| *name == "companyId");
        let company = named.and_then(|(_, text)| text.parse().ok());
        let access = PublicAccess::from_request_parts(parts, app).await?;
        Ok(Self { access, company })
    }
}

/// The end of a sign-in.
pub enum SignInEnd {
    /// With a session, and the address to go on to.
    In(Box<LoggedIn>, String),
    /// Without one.
    Failed(SignInFailure),
}

/// The reason why a sign-in ends without a session.
enum Stop {
    /// The reason is for the log alone: it would tell strangers about the company and its staff.
    Failure(SignInFailure, &'static str),
    /// A fault of the provider or of the settings, which owners can mend.
    Problem(SignInProblem),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error {
            Error::Throttled(_) => {
                Self::Failure(SignInFailure::Limited, "too many failures from this source")
            }
            // A retry would fail: the code is spent.
            Error::Changed => {
                Self::Failure(SignInFailure::Expired, "others changed the account or the settings")
            }
            error => Self::Error(error),
        }
    }
}

fn expired(reason: &'static str) -> Stop {
    Stop::Failure(SignInFailure::Expired, reason)
}

fn refused(reason: &'static str) -> Stop {
    Stop::Failure(SignInFailure::Refused, reason)
}

fn unreachable(reason: &'static str) -> Stop {
    Stop::Failure(SignInFailure::Unreachable, reason)
}

impl PublicAccess {
    /// Whether the caller is a program that reads errors, not a browser that shows pages.
    pub fn accepts_json_alone(&self) -> bool {
        let accepts = self.parts.headers.get_all(header::ACCEPT).into_iter();
        let accepts: Vec<&str> = accepts.filter_map(|value| value.to_str().ok()).collect();
        let names = |media_type: &str| accepts.iter().any(|accept| accept.contains(media_type));
        names("application/json") && !names("text/html")
    }

    /// The address to go on to after a sign-in: a path of the pages, or a URL of their, of the API's or of a configured origin. Fails
    /// with what is wrong.
    pub fn return_address(&self, text: &str) -> Result<String, String> {
        let Config { base_url, suite_url, allowed_origins, .. } = self.app.config();
        // The parser takes `//host` and `/\host` for other origins, as browsers do.
        let url = suite_url.join(text).map_err(|_| "Enter a path or a URL.")?;
        let origin = url.origin().ascii_serialization();
        let own = [base_url, suite_url].map(|url| url.origin().ascii_serialization());
        let is_known = own.contains(&origin) || allowed_origins.contains(&origin);
        // A URL of another scheme may have the origin of one within it.
        let is_page = matches!(url.scheme(), "http" | "https");
        // It would begin another sign-in, perhaps to another company.
        let begins_sign_in =
            own.contains(&origin) && url.path().split('/').any(|segment| segment == "sign-in");
        // Each takes two bytes in the cookie, and four cookies must leave room for the other headers of the browser.
        let has_backslash = url.as_str().contains('\\');
        let has_user = !url.username().is_empty() || url.password().is_some();
        if !is_known || !is_page || begins_sign_in || has_backslash || has_user {
            return Err("Use a path that begins with a slash, or a URL of an allowed origin.".to_owned());
        }
        if url.as_str().len() > MAX_RETURN {
            return Err(format!("Ensure this has no more than {MAX_RETURN} characters."));
        }
        Ok(url.into())
    }

    /// Begins a sign-in to a company, which is to go on to `return_to`.
    pub async fn begin_sign_in(
        &self,
        company: &CompanyId,
        return_to: String,
    ) -> Result<Result<BegunSignIn, SignInFailure>> {
        let settings = self.store.sign_in_settings(company).await?;
        match self.try_begin_sign_in(&settings, return_to).await {
            Ok(begun) => Ok(Ok(begun)),
            Err(stop) => self.report_failure(&settings, stop).await.map(Err),
        }
    }

    async fn try_begin_sign_in(
        &self,
        settings: &SignInSettings,
        return_to: String,
    ) -> Result<BegunSignIn, Stop> {
        let SignInSettings { company, .. } = settings;
        let provider = settings.working_provider();
        let provider = provider.ok_or(Stop::Failure(SignInFailure::Unavailable, "no provider is set"))?;
        // A known configuration suffices, so that strangers who begin sign-ins in a loop cause no requests to the provider.
        let endpoints = self.endpoints(provider).await?;
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
            client: hash_client(provider),
            nonce,
            verifier,
            return_to,
            begun_at: self.now,
        };
        let cookies = self.seal_pending_sign_in(&state, &pending).await?;
        Ok(BegunSignIn { location: location.into(), cookies })
    }

    /// Ends a sign-in to a company by what the provider has answered.
    pub async fn end_sign_in(&self, company: &CompanyId, answer: &ProviderAnswer) -> Result<SignInEnd> {
        let settings = self.store.sign_in_settings(company).await?;
        match self.try_end_sign_in(&settings, answer).await {
            Ok((logged_in, return_to)) => Ok(SignInEnd::In(Box::new(logged_in), return_to)),
            Err(stop) => self.report_failure(&settings, stop).await.map(SignInEnd::Failed),
        }
    }

    async fn try_end_sign_in(
        &self,
        settings: &VersionedItem<SignInSettings>,
        answer: &ProviderAnswer,
    ) -> Result<(LoggedIn, String), Stop> {
        let SignInSettings { company, .. } = &**settings;
        let pending = self.open_pending_sign_in(&answer.state).await?;
        // An answer at another company's callback causes no request: that company's provider may have had this one's code sent there.
        let pending = pending.filter(|pending| pending.company == *company);
        let pending = pending.ok_or(expired("it did not begin in this browser"))?;
        let provider = settings.working_provider().filter(|provider| hash_client(provider) == pending.client);
        let provider = provider.ok_or(expired("the provider has changed"))?;
        let failures = self.store.failed_sign_ins(company).await?;
        failures.require_room_for(&self.state.source, self.now)?;
        let admitted = match self.verify_answer(company, provider, &pending, answer).await {
            Ok(identity) => self.admit_customer(settings, provider, &identity).await,
            Err(stop) => Err(stop),
        };
        let customer = match admitted {
            Err(stop @ Stop::Failure(SignInFailure::Refused, _)) => {
                // Strangers would otherwise make the service ask the provider as often as they like.
                match self.store.count_failure(failures, &self.state.source, self.now).await {
                    Ok(()) | Err(Error::Throttled(_)) => return Err(stop),
                    Err(error) => return Err(error.into()),
                }
            }
            admitted => admitted?,
        };
        self.require_no_other_session(&customer).await?;
        let session =
            self.session(SessionKind::Cookie, CallerIdentity::Customer(customer), None, None).await?;
        let mut logged_in = session.ok_or(refused("the account may not log in"))?;
        logged_in.session.links_since = settings.links_since;
        self.store.create_session(&logged_in.secret, &logged_in.session).await?;
        Ok((logged_in, pending.return_to))
    }

    /// Fails if the browser is logged in as a candidate or to another company: a page of another company could otherwise put its own
    /// session in the place of that one.
    async fn require_no_other_session(&self, customer: &Customer) -> Result<(), Stop> {
        if !self.has_credential() {
            return Ok(());
        }
        match self.caller().await {
            Ok(caller) if caller.company() != &customer.company || caller.staff_in_person().is_none() => {
                Err(Stop::Failure(SignInFailure::Occupied, "the browser is logged in as somebody else"))
            }
            // A session that has ended is replaced.
            Ok(_) | Err(Error::Unauthenticated(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The customer whom an identity lets in. Links them when they sign in for the first time.
    async fn admit_customer(
        &self,
        settings: &VersionedItem<SignInSettings>,
        provider: &SignInProvider,
        identity: &ProviderIdentity,
    ) -> Result<VersionedItem<Customer>, Stop> {
        for _ in 0..TRIES {
            let customers = self.store.all_customers(&settings.company).await?;
            let admission = settings.admission(identity, customers.iter().map(|customer| &**customer));
            let nobody = "no active account has this subject, or a verified and listed address";
            let admitted = admission.ok_or(refused(nobody))?;
            let found = customers.into_iter().find(|customer| customer.id == admitted);
            let before = found.ok_or(refused(nobody))?;
            let link = settings.link_of(&before).cloned();
            let link = link.unwrap_or_else(|| provider.link_to(identity.subject.clone(), self.now));
            let after = Customer::clone(&before).sign_in_as(link, self.now);
            if after == *before {
                return Ok(before);
            }
            let by = Principal::Account(before.account());
            let store = self.store_as(by);
            match store.commit(store.link_customer(settings, &before, &after, by.into(), self.now)).await {
                // Read again: the session begins with the epoch that is stored.
                Ok(()) | Err(Error::Changed) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Changed.into())
    }

    /// Logs why a sign-in has failed, where operators look when nobody gets in, and notes a problem for the owners.
    async fn report_failure(
        &self,
        settings: &VersionedItem<SignInSettings>,
        stop: Stop,
    ) -> Result<SignInFailure> {
        let (failure, reason) = match stop {
            Stop::Failure(failure, reason) => (failure, reason),
            Stop::Problem(problem) => (SignInFailure::Unreachable, problem.as_str()),
            Stop::Error(error) => return Err(error),
        };
        tracing::info!(
            target: "sign-in", company = %settings.company, failure = failure.as_str(), reason, "a sign-in has failed"
        );
        if let Stop::Problem(problem) = stop {
            // The service notes it by itself: nobody has proved who they are.
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
