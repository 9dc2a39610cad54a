//! The toolkit of the table: keys, items, queries, transactions. It knows no resource; the access patterns next to this
//! folder are built from it.

pub(super) mod amend;
pub(super) mod attribute;
pub(super) mod batch;
pub(super) mod capacity;
mod commit;
pub(super) mod condition;
pub(super) mod handle;
pub(super) mod item;
pub(super) mod key;
pub(crate) mod keys;
pub mod page;
pub(super) mod projection;
pub(super) mod query;
pub(super) mod retry;
pub(super) mod rewrite;
pub(super) mod sealed;
pub(super) mod single;
pub(super) mod skip;
pub(super) mod transaction;
