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
use shared::domain::webhook::{DeliveryError, EndpointResponse};
use tokio::time::Instant;
use url::Url;

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

impl Outgoing {
    /// Sends requests to hosts whose addresses are all allowed, and whose names `resolver` resolves.
    pub fn new(resolver: impl NameResolver, is_allowed: fn(IpAddr) -> bool) -> Self {
        Self { resolver: Arc::new(resolver), is_allowed, tls: TLS.clone(), deadline: DEADLINE }
    }

    /// Sends a message, and returns the answer. Takes 15 seconds at most to the end of the answer's head, and 2 more for its
    /// body: 16 KB are read, and 512 bytes kept.
    pub async fn post(&self, message: &OutgoingMessage) -> Result<EndpointResponse, DeliveryError> {
        let deadline = Instant::now() + self.deadline;
        let body_time = self.deadline / 8;
        let stream = tokio::time::timeout_at(deadline, self.connect(&message.url)).await;
        match stream.map_err(|_| DeliveryError::Timeout)?? {
            connect::EndpointConnection::Plain(stream) => {
                exchange::post(stream, message, deadline, body_time).await
            }
            connect::EndpointConnection::Encrypted(stream) => {
                exchange::post(stream, message, deadline, body_time).await
            }
        }
    }

    /// Whether a connection to the host of `url` can be made.
    pub async fn reaches(&self, url: &Url) -> bool {
        let connected = tokio::time::timeout(self.deadline, self.connect(url)).await;
        matches!(connected, Ok(Ok(_)))
    }
}

// Made once: it keeps sessions of TLS, which later connections resume.
static TLS: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
    let config = ClientConfig::builder().with_root_certificates(shared::aws::system_roots());
    Arc::new(config.with_no_client_auth())
});
