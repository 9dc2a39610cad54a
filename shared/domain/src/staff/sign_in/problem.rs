//! Problems of a provider or of its settings that keep everyone from signing in.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::SignInSettings;
use crate::issuer::{IssuerFault, ProviderFault};
use crate::names::named;

/// How long after a recorded problem no other is recorded.
const NOTED_AGAIN: TimeDelta = TimeDelta::hours(1);

named! {
    /// Why nobody could sign in: a problem of the provider or of the settings. Requests of strangers cannot cause it.
    pub enum SignInProblem {
        /// The issuer could not be reached, did not answer in time, or answered with 429 or a server error.
        IssuerUnreachable = "issuer_unreachable",
        /// The host of the issuer, or that of its keys, is not in the public internet.
        IssuerNotPublic = "issuer_not_public",
        /// There is no valid configuration at `/.well-known/openid-configuration` below the issuer's URL.
        IssuerWithoutDiscovery = "issuer_without_discovery",
        /// The configuration at the issuer's URL names another issuer.
        IssuerDiffers = "issuer_differs",
        /// The issuer publishes no keys for RS256, ES256 or ES384.
        IssuerWithoutKeys = "issuer_without_keys",
        /// The provider's configuration lacks `authorization_endpoint` or `token_endpoint`, or one of them is not in the public internet.
        IssuerWithoutEndpoints = "issuer_without_endpoints",
        /// The provider does not support PKCE with `S256`.
        IssuerWithoutPkce = "issuer_without_pkce",
        /// The provider supports neither `client_secret_basic` nor `client_secret_post`.
        IssuerWithoutAuthentication = "issuer_without_authentication",
        /// The provider refuses the client identifier or the client secret.
        ClientRefused = "client_refused",
        /// The service can no longer read the client secret. Send it again.
        ClientSecretLost = "client_secret_lost",
        /// The host of the token endpoint is unknown, is not in the public internet, or has no valid certificate.
        TokenEndpointUnreachable = "token_endpoint_unreachable",
        /// The provider accepted a code but returned no ID token.
        NoIdToken = "no_id_token",
    }
}

/// A problem, and when a sign-in met it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedSignInProblem {
    pub problem: SignInProblem,
    pub at: DateTime<Utc>,
}

impl From<IssuerFault> for SignInProblem {
    fn from(fault: IssuerFault) -> Self {
        match fault {
            IssuerFault::Unreachable => Self::IssuerUnreachable,
            IssuerFault::NotPublic => Self::IssuerNotPublic,
            IssuerFault::NoDiscovery => Self::IssuerWithoutDiscovery,
            IssuerFault::OtherIssuer => Self::IssuerDiffers,
            IssuerFault::NoKeys => Self::IssuerWithoutKeys,
        }
    }
}

impl From<ProviderFault> for SignInProblem {
    fn from(fault: ProviderFault) -> Self {
        match fault {
            ProviderFault::NoEndpoints => Self::IssuerWithoutEndpoints,
            ProviderFault::NoPkce => Self::IssuerWithoutPkce,
            ProviderFault::NoAuthentication => Self::IssuerWithoutAuthentication,
        }
    }
}

impl SignInSettings {
    /// Records a problem that was met at `now`; `None` if the settings have a recent one.
    // Whichever problem it is: strangers can meet problems as often as they like, and each record is a write.
    pub fn with_problem(&self, problem: SignInProblem, now: DateTime<Utc>) -> Option<Self> {
        let has_recent = self.last_problem.is_some_and(|noted| now < noted.at + NOTED_AGAIN);
        (!has_recent)
            .then(|| Self { last_problem: Some(NotedSignInProblem { problem, at: now }), ..self.clone() })
    }
}
