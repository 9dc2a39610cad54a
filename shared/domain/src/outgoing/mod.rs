//! Requests of the service to addresses that clients have chosen: endpoints of webhooks, issuers, and providers that staff sign in by.

mod address;
mod target;

use crate::names::named;

pub use address::{is_public, is_public_or_loopback};
pub use target::{AllowedTargets, OutgoingUrl};

named! {
    /// Why there is no answer.
    pub enum OutgoingError {
        /// The host has an address outside of the public internet.
        ForbiddenAddress = "forbidden_address",
        /// The name of the host leads to no address.
        UnknownHost = "unknown_host",
        /// No connection could be made, or it broke.
        Connection = "connection",
        /// No encrypted connection could be made, for example for want of a valid certificate.
        Tls = "tls",
        /// The answer was not complete in time.
        Timeout = "timeout",
        /// The answer was not understood, or its head was too long.
        InvalidAnswer = "invalid_answer",
    }
}
