//! Customers, named tokens, and the notices of interviews that have ended.

pub(super) mod customer;
pub(super) mod notice;
pub(super) mod token;
