//! The operator's commands.

mod accounts;
mod addresses;
pub(crate) mod commands;
pub(crate) mod erase_company;
mod export;
pub(crate) mod import;
mod restore;
mod upkeep;
