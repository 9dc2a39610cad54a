//! Operators' commands: corrections of counts and search entries, new seals, the rules of a restore, and the check of stored items.

pub(super) mod recount;
pub(super) mod reindex;
pub(super) mod reseal;
pub(super) mod restore;
pub(super) mod sample;
