//! The configuration of an issuer (OpenID Connect Discovery 1.0): the URL of its keys, and the endpoints that sign people in.

use serde::Deserialize;
use url::Url;

use super::{IssuerFault, IssuerUrl};
use crate::outgoing::{AllowedTargets, OutgoingUrl};

/// The PKCE method (RFC 7636) that hides the verifier.
const S256: &str = "S256";

/// The endpoints with which an issuer signs people in, and how the service must use them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderEndpoints {
    /// The authorization endpoint, which browsers open.
    pub authorization: Url,
    /// The token endpoint, which redeems codes.
    pub token: Url,
    pub authentication: ClientAuthentication,
    /// Whether authorization responses name their issuer (RFC 9207), so that the service can refuse responses of other issuers.
    pub names_itself: bool,
}

/// How the service authenticates at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAuthentication {
    /// The secret in the header `Authorization`.
    Basic,
    /// The secret in the body.
    Post,
}

/// Why nobody can sign in by an issuer, although its keys are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderFault {
    /// The endpoints are missing, or not in the public internet.
    NoEndpoints,
    /// The provider lists PKCE methods, but not S256.
    NoPkce,
    /// The provider accepts the client secret neither in the header nor in the body.
    NoAuthentication,
}

impl ProviderFault {
    /// The advice for the owner who sets the provider.
    pub fn advice(self) -> &'static str {
        match self {
            Self::NoEndpoints => {
                "The issuer signs nobody in: its configuration needs an authorization_endpoint and a token_endpoint in the public internet."
            }
            Self::NoPkce => "The issuer does not offer PKCE by S256. Use one that does.",
            Self::NoAuthentication => {
                "The issuer does not take a client secret by client_secret_basic or client_secret_post."
            }
        }
    }
}

/// The part of a configuration that leads to the keys.
// Parsed separately from the endpoints: an issuer that signs only for workloads has none, and errors in them do not make the keys invalid.
#[derive(Deserialize)]
struct KeyPart {
    issuer: String,
    jwks_uri: String,
}

impl IssuerUrl {
    /// The URL of the issuer's configuration.
    pub fn configuration_url(&self) -> Result<Url, IssuerFault> {
        let base = self.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}/.well-known/openid-configuration")).map_err(|_| IssuerFault::NoDiscovery)
    }

    /// The URL of the keys, from the configuration that the issuer has returned.
    pub fn keys_url(&self, configuration: &[u8]) -> Result<Url, IssuerFault> {
        let found: KeyPart = serde_json::from_slice(configuration).map_err(|_| IssuerFault::NoDiscovery)?;
        // Otherwise the owner of one URL could have tokens of another issuer accepted.
        if found.issuer != self.as_str() {
            return Err(IssuerFault::OtherIssuer);
        }
        let url = Url::parse(&found.jwks_uri).map_err(|_| IssuerFault::NoDiscovery)?;
        // http is accepted, because the connector refuses unencrypted requests to other computers.
        let is_http = matches!(url.scheme(), "https" | "http");
        if !is_http || !url.username().is_empty() || url.password().is_some() {
            return Err(IssuerFault::NoDiscovery);
        }
        Ok(url)
    }
}

/// The part of a configuration that signing in needs.
#[derive(Deserialize)]
struct SignInPart {
    authorization_endpoint: String,
    token_endpoint: String,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    code_challenge_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

impl ProviderEndpoints {
    /// Reads the endpoints from the configuration that an issuer has returned.
    pub fn read(configuration: &[u8], targets: AllowedTargets) -> Result<Self, ProviderFault> {
        let found: SignInPart =
            serde_json::from_slice(configuration).map_err(|_| ProviderFault::NoEndpoints)?;
        let endpoint = |text: &str| {
            let checked = OutgoingUrl::parse(text, targets).ok()?;
            Url::parse(checked.as_str()).ok()
        };
        // Some providers support S256 and list no method. One that lists methods without S256 does not support it.
        if found.code_challenge_methods_supported.is_some_and(|ways| !ways.iter().any(|way| way == S256)) {
            return Err(ProviderFault::NoPkce);
        }
        let authentication = match found.token_endpoint_auth_methods_supported {
            // The standard's default.
            None => ClientAuthentication::Basic,
            Some(ways) if ways.iter().any(|way| way == "client_secret_basic") => ClientAuthentication::Basic,
            Some(ways) if ways.iter().any(|way| way == "client_secret_post") => ClientAuthentication::Post,
            Some(_) => return Err(ProviderFault::NoAuthentication),
        };
        Ok(Self {
            authorization: endpoint(&found.authorization_endpoint).ok_or(ProviderFault::NoEndpoints)?,
            token: endpoint(&found.token_endpoint).ok_or(ProviderFault::NoEndpoints)?,
            authentication,
            names_itself: found.authorization_response_iss_parameter_supported,
        })
    }
}
