//! The operator's commands.

mod accounts;
mod addresses;
mod commands;
mod restore;
mod upkeep;
