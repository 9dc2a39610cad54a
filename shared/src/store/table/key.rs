//! The types of keys: of one item, of items of one kind in one partition, and the key schemas of the table and its indexes.

pub(crate) const PK: &str = "pk";
pub(crate) const SK: &str = "sk";

/// The attribute names of a key schema: of the table, or of one of its indexes.
#[derive(Clone, Copy)]
pub(crate) struct KeySchema {
    /// The name of the index; `None` for the table.
    pub(crate) name: Option<&'static str>,
    pub(crate) pk: &'static str,
    pub(crate) sk: &'static str,
}

pub(crate) const TABLE: KeySchema = KeySchema { name: None, pk: PK, sk: SK };

pub(crate) const BY_STATUS: KeySchema =
    KeySchema { name: Some("by_status"), pk: "by_status_pk", sk: "by_status_sk" };

/// The index of a company's search entries by word.
pub(crate) const SEARCH: KeySchema = KeySchema { name: Some("search"), pk: "search_pk", sk: "search_sk" };

pub(crate) const DUE: KeySchema = KeySchema { name: Some("due"), pk: "due_shard", sk: "due_at" };

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKey {
    pub(crate) pk: String,
    pub(crate) sk: String,
}

impl ItemKey {
    pub(in crate::store) fn new(pk: String, sk: impl Into<String>) -> Self {
        Self { pk, sk: sk.into() }
    }

    /// The key of an item that has its partition to itself.
    pub(in crate::store) fn alone(pk: String) -> Self {
        Self { sk: pk.clone(), pk }
    }
}

/// The items of one kind in one partition, in the order of their identifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ItemCollection {
    pub(crate) pk: String,
    /// The prefix of every sort key.
    pub(crate) prefix: &'static str,
}

impl ItemCollection {
    pub(crate) fn key(&self, id: impl std::fmt::Display) -> ItemKey {
        ItemKey::new(self.pk.clone(), format!("{}{id}", self.prefix))
    }
}
