//! An OpenID provider for trials on this computer. It signs in any person under any name, without a password.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use shared::clock::Clock;

use crate::issuer::LocalIssuer;
use crate::{Error, pages, random};

/// The identifier and secret of the only client. The secret is public: the provider signs in anyone.
pub(crate) const CLIENT: [&str; 2] = ["interviews", "no-secret-at-all"];
/// How long a code can be exchanged.
const CODE_LIFETIME: TimeDelta = TimeDelta::minutes(1);
/// The maximum number of codes that wait for exchange.
const MAX_CODES: usize = 100;

/// The provider of one run, with its own key. Clones share it.
#[derive(Clone)]
pub struct LocalProvider {
    issuer: LocalIssuer,
    clock: Arc<dyn Clock>,
    /// The API's base URL.
    api: String,
    codes: Arc<Mutex<VecDeque<IssuedCode>>>,
}

/// The parameters of an authorisation request.
pub(crate) struct AuthorizationRequest {
    redirect_uri: String,
    state: String,
    nonce: Option<String>,
    code_challenge: String,
}

/// A person, as entered in the form.
pub(crate) struct Person {
    pub(crate) username: String,
    pub(crate) email: String,
    pub(crate) has_verified_email: bool,
}

struct IssuedCode {
    code: String,
    request: AuthorizationRequest,
    person: Person,
    ends_at: DateTime<Utc>,
}

impl LocalProvider {
    /// Creates the provider below the service's origin.
    ///
    /// # Errors
    /// If no key can be generated.
    pub fn new(origin: &str, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let api = format!("{origin}/api/v3");
        Ok(Self {
            issuer: LocalIssuer::new(format!("{origin}/_local/provider"))?,
            clock,
            api,
            codes: Arc::default(),
        })
    }

    /// The pages and endpoints of the provider, with absolute paths.
    pub fn router(&self) -> Router {
        pages::provider::router(self.clone())
    }

    /// The API's base URL.
    pub(crate) fn api(&self) -> &str {
        &self.api
    }

    /// The `iss` of its ID tokens.
    pub(crate) fn url(&self) -> &str {
        self.issuer.url()
    }

    /// The OpenID Connect Discovery document.
    pub(crate) fn configuration(&self) -> Value {
        let url = self.url();
        json!({
            "issuer": url,
            "authorization_endpoint": format!("{url}/authorize"),
            "token_endpoint": format!("{url}/token"),
            "jwks_uri": format!("{url}/keys"),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code"],
            "subject_types_supported": ["public"],
            "scopes_supported": ["openid", "email", "profile"],
            "claims_supported": ["sub", "email", "email_verified", "preferred_username"],
            "id_token_signing_alg_values_supported": ["ES256"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
        })
    }

    /// The public key, as a JWK set.
    pub(crate) fn keys(&self) -> Value {
        self.issuer.keys()
    }

    /// Reads the query of an authorisation request.
    ///
    /// # Errors
    /// The reason why the request is refused without a redirect, worded for the person who tries the service.
    pub(crate) fn read(&self, query: &str) -> Result<AuthorizationRequest, String> {
        let named = |name: &str| {
            let mut values = url::form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == name);
            values.next().map(|(_, value)| value.into_owned())
        };
        let wanted = [("response_type", "code"), ("client_id", CLIENT[0]), ("code_challenge_method", "S256")];
        for (name, value) in wanted {
            if named(name).as_deref() != Some(value) {
                return Err(format!("{name} is not {value}"));
            }
        }
        if !named("scope").is_some_and(|scope| scope.split(' ').any(|scope| scope == "openid")) {
            return Err("scope does not have openid".to_owned());
        }
        // Accept the callback of any company: the person may try several.
        let redirect_uri = named("redirect_uri").filter(|uri| self.is_callback(uri));
        Ok(AuthorizationRequest {
            redirect_uri: redirect_uri.ok_or("redirect_uri is not the callback of a company")?,
            state: named("state").ok_or("state is missing")?,
            nonce: named("nonce"),
            code_challenge: named("code_challenge").ok_or("code_challenge is missing")?,
        })
    }

    fn is_callback(&self, uri: &str) -> bool {
        let company = uri
            .strip_prefix(&format!("{}/sign-in/", self.api))
            .and_then(|rest| rest.strip_suffix("/callback/"));
        company
            .is_some_and(|company| company.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
    }

    /// The redirect URL for a person who has signed in. It contains a code for the client.
    pub(crate) fn authorize(&self, request: AuthorizationRequest, person: Person) -> String {
        let code = random::hex();
        let address = self.way_back(&request, [("code", &code)]);
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.truncate(MAX_CODES - 1);
        codes.push_front(IssuedCode { code, request, person, ends_at: self.clock.now() + CODE_LIFETIME });
        address
    }

    /// The redirect URL for a person who refuses to sign in.
    pub(crate) fn refuse(&self, request: &AuthorizationRequest) -> String {
        self.way_back(request, [("error", "access_denied")])
    }

    fn way_back(&self, request: &AuthorizationRequest, answer: [(&str, &str); 1]) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(answer).extend_pairs([("state", &*request.state), ("iss", self.url())]);
        format!("{}?{}", request.redirect_uri, query.finish())
    }

    /// Exchanges a code for an ID token. `authorization` is the value of that header, `body` the form.
    ///
    /// # Errors
    /// An error code of RFC 6749, section 5.2.
    pub(crate) fn exchange(&self, authorization: &str, body: &[u8]) -> Result<Value, &'static str> {
        let now = self.clock.now();
        let basic = format!("Basic {}", STANDARD.encode(CLIENT.join(":")));
        if authorization != basic {
            return Err("invalid_client");
        }
        let named = |name: &str| {
            let mut values = url::form_urlencoded::parse(body).filter(|(key, _)| key == name);
            values.next().map(|(_, value)| value.into_owned()).unwrap_or_default()
        };
        if named("grant_type") != "authorization_code" {
            return Err("unsupported_grant_type");
        }
        // A code can be used once, whether or not the exchange succeeds.
        let issued = {
            let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
            let place = codes.iter().position(|issued| issued.code == named("code"));
            place.and_then(|place| codes.remove(place)).ok_or("invalid_grant")?
        };
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(named("code_verifier")));
        let IssuedCode { request, person, ends_at, .. } = issued;
        let is_good = challenge == request.code_challenge && named("redirect_uri") == request.redirect_uri;
        if !is_good || now >= ends_at {
            return Err("invalid_grant");
        }
        let mut claims = Map::from_iter([
            ("aud".to_owned(), json!(CLIENT[0])),
            ("sub".to_owned(), json!(person.username)),
            ("preferred_username".to_owned(), json!(person.username)),
            ("email".to_owned(), json!(person.email)),
            ("email_verified".to_owned(), json!(person.has_verified_email)),
        ]);
        claims.extend(request.nonce.map(|nonce| ("nonce".to_owned(), json!(nonce))));
        let id_token = self.issuer.sign(claims, now).map_err(|_| "server_error")?;
        Ok(json!({
            "access_token": random::hex(), "token_type": "Bearer", "expires_in": 60, "id_token": id_token,
        }))
    }
}
