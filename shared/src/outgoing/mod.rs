//! All requests of the service to URLs that clients have chosen.
//!
//! For each request, the name is resolved once, all its addresses must be allowed, and the connection goes to one of
//! them. Redirects are not followed and proxies are not used, because both would reach unchecked addresses.

mod connect;
mod exchange;
mod resolve;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rustls::ClientConfig;
use tokio::time::Instant;
use url::Url;

use crate::app::App;
use crate::domain::outgoing::{AllowedTargets, OutgoingError, is_public, is_public_or_loopback};
use crate::domain::webhook::EndpointResponse;

pub use resolve::{NameResolver, SystemResolver};

/// The timeout of a request, from resolving the name to the end of the response's head.
const DEADLINE: Duration = Duration::from_secs(15);

/// Sends requests to URLs that clients have chosen.
#[derive(Clone)]
pub struct Outgoing {
    resolver: Arc<dyn NameResolver>,
    is_allowed: fn(IpAddr) -> bool,
    tls: Arc<ClientConfig>,
    deadline: Duration,
}

/// A delivery to a webhook: the body, and the headers of Standard Webhooks.
#[derive(Debug)]
pub struct OutgoingMessage {
    /// The URL of the endpoint.
    pub url: Url,
    /// The value of `webhook-id`.
    pub id: String,
    /// The value of `webhook-timestamp`.
    pub timestamp: i64,
    /// The value of `webhook-signature`.
    pub signature: String,
    /// The body: JSON.
    pub body: String,
}

/// A response with its complete body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedAnswer {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Outgoing {
    /// A sender to the addresses that the settings allow.
    pub fn of(app: &App, resolver: impl NameResolver) -> Self {
        let is_allowed = match app.config().outgoing_targets {
            AllowedTargets::Public => is_public,
            AllowedTargets::Loopback => is_public_or_loopback,
        };
        Self::new(resolver, is_allowed)
    }

    /// A sender to hosts whose addresses, according to `resolver`, are all allowed.
    pub fn new(resolver: impl NameResolver, is_allowed: fn(IpAddr) -> bool) -> Self {
        Self { resolver: Arc::new(resolver), is_allowed, tls: TLS.clone(), deadline: DEADLINE }
    }

    /// Delivers a message and returns the response. Takes at most 15 seconds until the end of the response's head, and 2
    /// more for its body, of which at most 16 KB are read and 512 bytes kept.
    pub async fn post(&self, message: &OutgoingMessage) -> Result<EndpointResponse, OutgoingError> {
        let deadline = Instant::now() + self.deadline;
        let body_time = self.deadline / 8;
        let stream = tokio::time::timeout_at(deadline, self.connect(&message.url)).await;
        let stream = stream.map_err(|_| OutgoingError::Timeout)??;
        exchange::exchange(stream, exchange::post_request(message)?, deadline, |response| async move {
            Ok(exchange::read_start(response, Instant::now() + body_time).await)
        })
        .await
    }

    /// Sends a GET request. The response may have at most `most` bytes and must be complete by `deadline`.
    pub async fn get(
        &self,
        url: &Url,
        most: usize,
        deadline: Instant,
    ) -> Result<FetchedAnswer, OutgoingError> {
        let stream = tokio::time::timeout_at(deadline, self.connect(url)).await;
        let stream = stream.map_err(|_| OutgoingError::Timeout)??;
        exchange::exchange(stream, exchange::get_request(url)?, deadline, |response| {
            exchange::read_whole(response, most, deadline)
        })
        .await
    }

    /// Sends a form in a POST request, with `authorization` as the header of that name. The response may have at most `most`
    /// bytes and must be complete by `deadline`.
    pub async fn post_form(
        &self,
        url: &Url,
        form: String,
        authorization: Option<&str>,
        most: usize,
        deadline: Instant,
    ) -> Result<FetchedAnswer, OutgoingError> {
        let stream = tokio::time::timeout_at(deadline, self.connect(url)).await;
        let stream = stream.map_err(|_| OutgoingError::Timeout)??;
        exchange::exchange(stream, exchange::form_request(url, form, authorization)?, deadline, |response| {
            exchange::read_whole(response, most, deadline)
        })
        .await
    }

    /// Whether a connection to the host of `url` can be made.
    pub async fn reaches(&self, url: &Url) -> bool {
        let connected = tokio::time::timeout(self.deadline, self.connect(url)).await;
        matches!(connected, Ok(Ok(_)))
    }
}

// Shared by all connections, because it caches TLS sessions that later connections resume.
static TLS: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
    let config = ClientConfig::builder().with_root_certificates(crate::aws::system_roots());
    Arc::new(config.with_no_client_auth())
});
