//! Issuers of identities: platforms that sign JWTs for workloads and people, and publish the keys that verify these (OpenID
//! Connect Discovery).

mod configuration;
mod jwt;
mod keys;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::de::value::StrDeserializer;
use serde::de::{Error as _, IntoDeserializer as _};
use serde::{Deserialize, Deserializer, Serialize};

pub use configuration::{ClientAuthentication, ProviderEndpoints, ProviderFault};
pub use jwt::{JwtProblem, PresentedJwt, VerifiedJwt};
pub use keys::IssuerKeys;

use super::names::named;
use crate::outgoing::{AllowedTargets, OutgoingUrl};

/// The maximum length of an issuer's URL, in bytes.
const MAX: usize = 500;

/// The URL of an issuer, spelled exactly like `iss` in its tokens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[schemars(inline, extend("format" = "uri", "maxLength" = MAX))]
pub struct IssuerUrl(String);

impl IssuerUrl {
    /// Parses the URL of an issuer, to which requests must be permitted. The error is a message for the client.
    pub fn parse(text: &str, targets: AllowedTargets) -> Result<Self, String> {
        let url = OutgoingUrl::parse(text, targets)?;
        let issuer = Self::of_text(text)?;
        // The URL is compared with `iss` character by character: a merely equivalent URL would never match.
        if url.as_str() != text && url.as_str().strip_suffix('/') != Some(text) {
            return Err(format!("Write it as the issuer does, such as {}", url.as_str()));
        }
        Ok(issuer)
    }

    /// The issuer, wherever it is. The connector checks the addresses of each connection.
    fn of_text(text: &str) -> Result<Self, String> {
        if text.len() > MAX {
            return Err(format!("Ensure this field has no more than {MAX} characters."));
        }
        if text.contains('?') {
            return Err("The URL of an issuer has no query.".to_owned());
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for IssuerUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let url: StrDeserializer<'_, D::Error> = text.as_str().into_deserializer();
        OutgoingUrl::deserialize(url)?;
        Self::of_text(&text).map_err(D::Error::custom)
    }
}

named! {
    /// Why the keys of an issuer are not known.
    pub enum IssuerFault {
        /// The issuer could not be reached, did not answer in time, or answered with 429 or a server error.
        Unreachable = "issuer_unreachable",
        /// The host of the issuer, or that of its keys, is not in the public internet.
        NotPublic = "issuer_not_public",
        /// The URL does not answer with a configuration by OpenID Connect Discovery.
        NoDiscovery = "issuer_without_discovery",
        /// The configuration at the URL names another issuer.
        OtherIssuer = "issuer_differs",
        /// There are no keys of the algorithms that the service verifies.
        NoKeys = "issuer_without_keys",
    }
}

impl IssuerFault {
    /// The advice for the owner of a token.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Unreachable => "The issuer cannot be reached. It is asked again when a token is exchanged.",
            Self::NotPublic => {
                "Use an issuer whose addresses, and those of its keys, are in the public internet."
            }
            Self::NoDiscovery => {
                "Below this URL, .well-known/openid-configuration is no configuration of an issuer. Check the URL."
            }
            Self::OtherIssuer => {
                "The issuer at this URL calls itself otherwise. Use its `issuer`, with or without a final slash."
            }
            Self::NoKeys => "The issuer publishes no keys for RS256, ES256 or ES384.",
        }
    }
}
