//! Customers, named tokens, and what customers are told of completed interviews.

pub(super) mod customer;
pub(super) mod notice;
pub(super) mod token;
