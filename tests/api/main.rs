//! The service's behaviour through its public interface, on the local back end.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![recursion_limit = "256"]

mod access;
mod admin;
mod candidates;
mod chaos;
mod companies;
mod company_settings;
mod concurrency;
mod cost;
mod csrf;
mod import;
mod input;
mod labels;
mod lists;
mod login;
mod paths;
mod project_lists;
mod project_references;
mod project_status;
mod projects;
mod sessions;
mod tokens;
