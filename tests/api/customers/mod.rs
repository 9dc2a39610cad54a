//! Staff users, and their import.

mod changes;
mod crud;
mod import;
mod import_races;
mod notifications;
