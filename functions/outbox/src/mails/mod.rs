//! The mails that effects send.

pub(crate) mod account;
pub(crate) mod address;
pub(crate) mod candidate;
pub(crate) mod export;
pub(crate) mod help;
mod holder;
pub(crate) mod notice;
pub(crate) mod reset;
pub(crate) mod webhook;
