//! The operator's commands.

mod accounts;
mod addresses;
mod commands;
pub(crate) mod erase_company;
mod export;
mod restore;
mod upkeep;
