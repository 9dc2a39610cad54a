//! The configuration of an issuer (OpenID Connect Discovery 1.0), as far as it leads to the keys.

use serde::Deserialize;
use url::Url;

use super::{IssuerFault, IssuerUrl};

#[derive(Deserialize)]
struct Configuration {
    issuer: String,
    jwks_uri: String,
}

impl IssuerUrl {
    /// The URL of the issuer's configuration.
    pub fn configuration_url(&self) -> Result<Url, IssuerFault> {
        let base = self.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}/.well-known/openid-configuration")).map_err(|_| IssuerFault::NoDiscovery)
    }

    /// The URL of the keys, by the configuration that the issuer has answered with.
    pub fn keys_url(&self, configuration: &[u8]) -> Result<Url, IssuerFault> {
        let found: Configuration =
            serde_json::from_slice(configuration).map_err(|_| IssuerFault::NoDiscovery)?;
        // Otherwise the owner of one URL could have tokens of another issuer accepted.
        if found.issuer != self.as_str() {
            return Err(IssuerFault::OtherIssuer);
        }
        let url = Url::parse(&found.jwks_uri).map_err(|_| IssuerFault::NoDiscovery)?;
        // The connector sends nothing in the clear to another computer.
        let is_http = matches!(url.scheme(), "https" | "http");
        if !is_http || !url.username().is_empty() || url.password().is_some() {
            return Err(IssuerFault::NoDiscovery);
        }
        Ok(url)
    }
}
