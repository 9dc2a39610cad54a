//! Sends events to webhooks.

pub mod outgoing;
