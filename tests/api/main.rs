//! The service's behaviour through its public interface, on the local back end.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![recursion_limit = "256"]

mod access;
mod accounts;
mod admin;
mod batch_import;
mod canary;
mod candidate_self;
mod candidates;
mod chaos;
mod companies;
mod company_settings;
mod concurrency;
mod cost;
mod csrf;
mod customers;
mod deadlines;
mod effects;
mod events;
mod expiry;
mod hash_login;
mod histories;
mod import;
mod input;
mod labels;
mod life;
mod lists;
mod login;
mod on_behalf;
mod outbox;
mod paths;
mod project_lists;
mod project_references;
mod project_status;
mod projects;
mod races;
mod refusals;
mod roles;
mod sessions;
mod shares;
mod throttling;
mod tokens;
mod undeliverable;
mod upkeep;
