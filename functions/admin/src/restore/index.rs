//! An in-memory index of the restored table's items.

use super::hash::ItemHash;

/// The restored table's items by the hashes of their keys, and which of them the live table has.
pub(super) struct ItemIndex {
    /// Sorted: a hash map would take up to twice the memory.
    items: Vec<ItemHash>,
    is_live: Vec<bool>,
}

/// An item of the live table that the restored table has too.
pub(super) struct FoundItem {
    pub(super) position: u64,
    /// Whether the live item has the restored content.
    pub(super) is_equal: bool,
}

impl ItemIndex {
    pub(super) fn new(mut items: Vec<ItemHash>) -> Self {
        items.sort_unstable();
        Self { is_live: vec![false; items.len()], items }
    }

    pub(super) fn find(&self, item: ItemHash) -> Option<FoundItem> {
        let position = self.items.binary_search_by_key(&item.key(), ItemHash::key).ok()?;
        Some(FoundItem { position: position as u64, is_equal: self.items[position].has_content_of(&item) })
    }

    /// Marks the item at this position as one that the live table has.
    pub(super) fn cross_out(&mut self, position: u64) {
        self.is_live[position as usize] = true;
    }

    /// Whether the restored table has this item and the live table does not.
    pub(super) fn is_missing(&self, item: ItemHash) -> bool {
        self.find(item).is_some_and(|found| !self.is_live[found.position as usize])
    }

    /// The number of items that the live table does not have.
    pub(super) fn missing(&self) -> u64 {
        self.is_live.iter().filter(|is_live| !**is_live).count() as u64
    }
}
