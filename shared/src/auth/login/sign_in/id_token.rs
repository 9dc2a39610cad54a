//! Redeems a code at the provider, and verifies the ID token in the response.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::time::Instant;
use url::form_urlencoded;

use super::cookies::PendingSignIn;
use super::error::SignInError;
use super::request::AuthorizationResponse;
use crate::auth::login::PublicAccess;
use crate::domain::id::CompanyId;
use crate::domain::issuer::{ClientAuthentication, PresentedJwt, ProviderEndpoints};
use crate::domain::staff::sign_in::{ProviderIdentity, SignInProblem, SignInProvider};
use crate::error::Error;
use crate::outgoing::{Outgoing, SystemResolver};

/// How long the provider may take to redeem a code.
// The function has ten seconds, of which reading the configuration and the keys may take five.
const PATIENCE: Duration = Duration::from_secs(3);
/// The maximum size of the token response in bytes.
const MAX_ANSWER: usize = 64 * 1024;

/// The relevant part of a token response (RFC 6749 §5.1).
#[derive(Deserialize)]
struct TokenResponse {
    id_token: Option<String>,
    /// Present only if the code was redeemed.
    access_token: Option<IgnoredAny>,
}

/// The error response of a token endpoint (RFC 6749 §5.2).
#[derive(Deserialize)]
struct TokenErrorResponse {
    error: String,
}

impl PublicAccess {
    /// Redeems the code in `response` for an ID token, verifies the token, and returns the identity in it.
    pub(super) async fn redeem_and_verify(
        &self,
        company: &CompanyId,
        provider: &SignInProvider,
        pending: &PendingSignIn,
        response: &AuthorizationResponse,
    ) -> Result<ProviderIdentity, SignInError> {
        let endpoints = self.load_endpoints(provider).await?;
        // The response must come from this provider: codes of another one must not be redeemed here.
        let is_own = match &response.issuer {
            Some(issuer) => issuer == provider.issuer.as_str(),
            None => !endpoints.names_itself,
        };
        if !is_own {
            return Err(SignInError::refused("the answer names another issuer, or none"));
        }
        let code = response.code.as_deref().ok_or(SignInError::refused("the provider has refused"))?;
        let id_token = self.redeem(company, provider, &endpoints, code, &pending.verifier).await?;
        self.verify_id_token(&id_token, provider, &pending.nonce).await
    }

    pub(super) async fn load_endpoints(
        &self,
        provider: &SignInProvider,
    ) -> Result<ProviderEndpoints, SignInError> {
        Ok(self.app.issuer_metadata(&provider.issuer, None).await?.endpoints.clone()?)
    }

    /// Redeems a code for an ID token, without verifying the token.
    async fn redeem(
        &self,
        company: &CompanyId,
        provider: &SignInProvider,
        endpoints: &ProviderEndpoints,
        code: &str,
        verifier: &str,
    ) -> Result<String, SignInError> {
        let sealed =
            provider.client_secret.as_ref().ok_or(SignInError::unreachable("no client secret is set"))?;
        // If the secret cannot be opened, strangers must not be able to cause a server error with each request.
        let secret = self.store.open_client_secret(company, sealed).await.map_err(|error| match error {
            Error::Busy(_) => SignInError::unreachable("the client secret cannot be opened now"),
            _ => SignInError::Problem(SignInProblem::ClientSecretLost),
        })?;
        let client = provider.client_id.as_str();
        let redirect_uri = self.references().sign_in_callback(company).to_string();
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &redirect_uri),
            ("code_verifier", verifier),
        ];
        let authorization = match endpoints.authentication {
            ClientAuthentication::Basic => Some(encode_basic_credentials(client, &secret)),
            ClientAuthentication::Post => {
                fields.extend([("client_id", client), ("client_secret", &secret)]);
                None
            }
        };
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let outgoing = Outgoing::of(&self.app, SystemResolver);
        let deadline = Instant::now() + PATIENCE;
        let answer = outgoing
            .post_form(&endpoints.token, form, authorization.as_deref(), MAX_ANSWER, deadline)
            .await
            .map_err(SignInError::from_token_endpoint)?;
        let error = || serde_json::from_slice::<TokenErrorResponse>(&answer.body).map(|read| read.error).ok();
        match (answer.status, error().as_deref()) {
            // The settings are wrong, not the person: nobody can sign in until an owner corrects them.
            (_, Some("invalid_client" | "unauthorized_client")) => {
                Err(SignInError::Problem(SignInProblem::ClientRefused))
            }
            (200, None) => match serde_json::from_slice(&answer.body) {
                Ok(TokenResponse { id_token: Some(id_token), .. }) => Ok(id_token),
                Ok(TokenResponse { access_token: Some(_), .. }) => {
                    Err(SignInError::Problem(SignInProblem::NoIdToken))
                }
                _ => Err(SignInError::unreachable("the token endpoint does not answer as one")),
            },
            // From here on, record no problem for owners: a stranger may send a code that makes the provider, or a firewall in
            // front of it, return any of these.
            (401, _) => {
                Err(SignInError::unreachable("the token endpoint refuses the service, without a reason"))
            }
            (200 | 400..=428, _) => Err(SignInError::refused("the code is none, or was redeemed before")),
            _ => Err(SignInError::unreachable("the token endpoint fails")),
        }
    }

    /// Verifies that the ID token is for this sign-in, and returns the identity in it.
    async fn verify_id_token(
        &self,
        id_token: &str,
        provider: &SignInProvider,
        nonce: &str,
    ) -> Result<ProviderIdentity, SignInError> {
        let presented = PresentedJwt::parse(id_token);
        let presented =
            presented.ok_or(SignInError::refused("the ID token is not a JWT that can be verified"))?;
        if presented.issuer() != provider.issuer.as_str() {
            return Err(SignInError::refused("the ID token is of another issuer"));
        }
        let metadata = self.app.issuer_metadata(&provider.issuer, Some(presented.key_id())).await?;
        let jwt = presented.verify(&metadata.keys);
        let jwt = jwt.ok_or(SignInError::refused("no key of the issuer verifies the ID token"))?;
        let client = provider.client_id.as_str();
        jwt.check(client, self.now)
            .map_err(|_| SignInError::refused("the ID token is for another client or another time"))?;
        let is_for_us = !jwt.has("azp") || jwt.text("azp") == Some(client);
        if !is_for_us || jwt.text("nonce") != Some(nonce) {
            return Err(SignInError::refused("the ID token is of another sign-in"));
        }
        ProviderIdentity::of(&jwt).ok_or(SignInError::refused("the ID token has no subject"))
    }
}

/// The client's `Authorization` header (RFC 6749 §2.3.1).
fn encode_basic_credentials(client: &str, secret: &str) -> String {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    format!("Basic {}", STANDARD.encode(format!("{}:{}", encoded(client), encoded(secret))))
}
