//! The operator's commands.

mod accounts;
mod addresses;
mod commands;
mod erase_company;
mod restore;
mod upkeep;
