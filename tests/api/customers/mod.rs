//! Staff users, and their import.

mod addresses;
mod changes;
mod crud;
mod import;
mod import_races;
mod notifications;
mod reminders;
mod waves;
