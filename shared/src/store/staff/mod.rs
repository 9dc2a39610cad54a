//! Customers, their sign-in by a provider, named tokens, and the notices of ended interviews and requests for help.

pub(super) mod customer;
pub(super) mod exchange;
pub(super) mod help_notice;
pub(super) mod notice;
pub(super) mod reminder;
pub(super) mod sign_in;
pub(super) mod token;
