//! Reads: items by their keys, queries, pages of lists.

pub(in crate::store) mod batch;
pub mod page;
pub(in crate::store) mod projection;
pub(in crate::store) mod query;
pub(in crate::store) mod skip;
