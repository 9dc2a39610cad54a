//! The operator's commands.

mod accounts;
mod commands;
mod restore;
mod upkeep;
