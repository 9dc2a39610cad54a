//! Connects to checked addresses.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::domain::outgoing::OutgoingError;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

use super::Outgoing;

/// How long to wait for a connection to one address before trying the next.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);

/// A TCP or TLS connection.
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for S {}

impl Outgoing {
    /// Connects to the host of `url`, with TLS for `https`.
    pub(super) async fn connect(&self, url: &Url) -> Result<Box<dyn ByteStream>, OutgoingError> {
        let stream = first_of(self.checked_addresses(url).await?).await?;
        if url.scheme() != "https" {
            return Ok(Box::new(stream));
        }
        let name = url.host_str().and_then(|name| ServerName::try_from(name.to_owned()).ok());
        let encrypted =
            TlsConnector::from(self.tls.clone()).connect(name.ok_or(OutgoingError::Tls)?, stream).await;
        Ok(Box::new(encrypted.map_err(|_| OutgoingError::Tls)?))
    }

    /// All addresses of the host of `url`. Fails if any of them is forbidden: a name with both kinds may be an attempt to
    /// reach the forbidden one.
    async fn checked_addresses(&self, url: &Url) -> Result<Vec<SocketAddr>, OutgoingError> {
        let port = url.port_or_known_default().ok_or(OutgoingError::UnknownHost)?;
        let addresses = match url.host().ok_or(OutgoingError::UnknownHost)? {
            Host::Domain(name) => {
                self.resolver.resolve(name, port).await.map_err(|_| OutgoingError::UnknownHost)?
            }
            Host::Ipv4(address) => vec![(address, port).into()],
            Host::Ipv6(address) => vec![(address, port).into()],
        };
        // Unencrypted requests may only go to this computer, whatever URL is stored.
        let is_plain = url.scheme() != "https";
        let is_refused = |ip: IpAddr| !(self.is_allowed)(ip) || is_plain && !ip.to_canonical().is_loopback();
        if addresses.iter().any(|address| is_refused(address.ip())) {
            return Err(OutgoingError::ForbiddenAddress);
        }
        Ok(addresses)
    }
}

async fn first_of(addresses: Vec<SocketAddr>) -> Result<TcpStream, OutgoingError> {
    if addresses.is_empty() {
        return Err(OutgoingError::UnknownHost);
    }
    for address in addresses {
        if let Ok(Ok(stream)) = timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            return Ok(stream);
        }
    }
    Err(OutgoingError::Connection)
}
