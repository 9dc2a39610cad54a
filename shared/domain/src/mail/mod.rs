//! Mails: senders, recipients, rate limits, and addresses that get no more mail.

pub mod address_change;
pub mod rate;
pub mod recipient;
pub mod sender;
pub mod suppression;
