//! Mails: who sends and gets them, and who gets no more.

pub mod address_change;
pub mod rate;
pub mod recipient;
pub mod sender;
pub mod suppression;
