//! The toolkit of the table: keys, items, queries, transactions. It knows no resource; the access patterns next to this
//! folder are built from it.

pub(super) mod attribute;
pub(super) mod capacity;
pub(super) mod handle;
pub(super) mod item;
pub(super) mod key;
pub(crate) mod keys;
pub(in crate::store) mod read;
pub(super) mod retry;
pub(in crate::store) mod write;
