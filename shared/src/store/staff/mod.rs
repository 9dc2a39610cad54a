//! Customers and named tokens.

pub(super) mod customer;
pub(super) mod token;
