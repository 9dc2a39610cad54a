//! What the test suites and benchmarks have in common.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

pub mod app;
pub mod binaries;
pub mod caller;
pub mod callgrind;
pub mod chaos;
pub mod clock;
pub mod document;
pub mod figures;
pub mod files;
pub mod fill;
pub mod function;
mod history;
pub mod hostile;
pub mod http;
pub mod logs;
pub mod platform;
pub mod receiver;
mod recorder;
pub mod runtime_api;
mod soundness;
pub mod table;
mod traffic;
pub mod videos;
