//! Operators' commands: recounts, new search entries, restores, and the check of stored items.

pub(super) mod recount;
pub(super) mod reindex;
pub(super) mod reseal;
pub(super) mod restore;
pub(super) mod sample;
