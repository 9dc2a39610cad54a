//! Writes: their conditions, single items, transactions and their commit.

pub(in crate::store) mod amend;
pub(super) mod commit;
pub(in crate::store) mod condition;
pub(in crate::store) mod rewrite;
pub(in crate::store) mod single;
pub(in crate::store) mod transaction;
