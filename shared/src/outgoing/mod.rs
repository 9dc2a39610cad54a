//! Requests to addresses that clients have chosen: the only ones of the service.
//!
//! A name is resolved once for each request, every address that it leads to must be allowed, and the connection goes to
//! one of these. No redirect is followed and no proxy is used, since both would lead to addresses that were not checked.

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

/// The longest duration of a request, from resolving the name to the end of the answer's head.
const DEADLINE: Duration = Duration::from_secs(15);

/// Sends requests.
#[derive(Clone)]
pub struct Outgoing {
    resolver: Arc<dyn NameResolver>,
    is_allowed: fn(IpAddr) -> bool,
    tls: Arc<ClientConfig>,
    deadline: Duration,
}

/// A request: the message, and its headers by Standard Webhooks.
#[derive(Debug)]
pub struct OutgoingMessage {
    /// The address of the endpoint.
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

/// An answer that was fetched whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedAnswer {
    pub status: u16,
    pub body: Vec<u8>,
}

impl Outgoing {
    /// Sends requests to the addresses that the settings allow.
    pub fn of(app: &App, resolver: impl NameResolver) -> Self {
        let is_allowed = match app.config().outgoing_targets {
            AllowedTargets::Public => is_public,
            AllowedTargets::Loopback => is_public_or_loopback,
        };
        Self::new(resolver, is_allowed)
    }

    /// Sends requests to hosts whose addresses are all allowed, and whose names `resolver` resolves.
    pub fn new(resolver: impl NameResolver, is_allowed: fn(IpAddr) -> bool) -> Self {
        Self { resolver: Arc::new(resolver), is_allowed, tls: TLS.clone(), deadline: DEADLINE }
    }

    /// Sends a message, and returns the answer. Takes 15 seconds at most to the end of the answer's head, and 2 more for its
    /// body: 16 KB are read, and 512 bytes kept.
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

    /// Fetches an answer of at most `most` bytes, which has to be complete by `deadline`.
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

    /// Sends a form, with `authorization` as the header of that name, and fetches an answer of at most `most` bytes, which has to be
    /// complete by `deadline`.
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

// Made once: it keeps sessions of TLS, which later connections resume.
static TLS: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
    let config = ClientConfig::builder().with_root_certificates(crate::aws::system_roots());
    Arc::new(config.with_no_client_auth())
});
