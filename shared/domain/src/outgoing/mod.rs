//! Requests of the service to addresses that clients have chosen: endpoints of webhooks, issuers, and providers that staff sign in by.

mod address;
mod target;

use crate::names::named;

pub use address::{is_public, is_public_or_loopback};
pub use target::{AllowedTargets, OutgoingUrl};

named! {
    /// Why a request got no response.
    pub enum OutgoingError {
        /// The host has an address outside of the public internet.
        ForbiddenAddress = "forbidden_address",
        /// The host name resolves to no address.
        UnknownHost = "unknown_host",
        /// The connection could not be made, or it broke.
        Connection = "connection",
        /// TLS failed, for example because the certificate is invalid.
        Tls = "tls",
        /// The response was not complete in time.
        Timeout = "timeout",
        /// The response was not understood, or its head was too long.
        InvalidAnswer = "invalid_answer",
    }
}
