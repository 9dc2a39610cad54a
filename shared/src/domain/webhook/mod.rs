//! Webhooks: the endpoints to which companies have their events sent.

mod secret;
mod signature;

pub use secret::{FormerSecret, SigningSecret};
pub use signature::signature;
