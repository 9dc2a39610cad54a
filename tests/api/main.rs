//! The service's behaviour through its public interface, on the local back end.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![recursion_limit = "256"]

// The system's allocator takes 15 % of the processor time of these tests.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod admin;
mod auth;
mod candidates;
mod companies;
mod customers;
mod docs;
mod evaluations;
mod events;
mod interviews;
mod page;
mod projects;
mod search;
mod system;
mod videos;
