//! Problems of a provider or of its settings that keep everyone from signing in.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::SignInSettings;
use crate::issuer::{IssuerFault, ProviderFault};
use crate::names::named;

/// How long after a recorded problem no other is recorded.
const NOTED_AGAIN: TimeDelta = TimeDelta::hours(1);

named! {
    /// Why nobody could sign in. No value depends on what a stranger has sent.
    pub enum SignInProblem {
        /// The issuer did not answer in time, or with a failure of its own.
        IssuerUnreachable = "issuer_unreachable",
        /// The issuer, or its keys, are not in the public internet.
        IssuerNotPublic = "issuer_not_public",
        /// The URL of the issuer does not answer with a configuration.
        IssuerWithoutDiscovery = "issuer_without_discovery",
        /// The configuration is one of another issuer.
        IssuerDiffers = "issuer_differs",
        /// The issuer has no keys that the service verifies with.
        IssuerWithoutKeys = "issuer_without_keys",
        /// The configuration names no endpoints for sign-in, or some outside of the public internet.
        IssuerWithoutEndpoints = "issuer_without_endpoints",
        /// The provider does not offer PKCE by S256.
        IssuerWithoutPkce = "issuer_without_pkce",
        /// The provider takes no client secret.
        IssuerWithoutAuthentication = "issuer_without_authentication",
        /// The provider refuses the client or its secret.
        ClientRefused = "client_refused",
        /// The service cannot read the client secret any more.
        ClientSecretLost = "client_secret_lost",
        /// The token endpoint has no address, none in the public internet, or no valid certificate.
        TokenEndpointUnreachable = "token_endpoint_unreachable",
        /// The provider redeemed a code without an ID token.
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
