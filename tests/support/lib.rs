//! What the test suites and benchmarks have in common.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

pub mod app;
mod behind_chaos;
pub mod billing;
pub mod binaries;
pub mod caller;
pub mod callgrind;
pub mod chaos;
pub mod clock;
pub mod document;
mod erased;
mod fault;
pub mod figures;
pub mod files;
pub mod fill;
pub mod floor;
pub mod function;
mod functions;
pub mod heat;
mod history;
pub mod hostile;
pub mod http;
pub mod logs;
pub mod meter;
pub mod moment;
pub mod platform;
pub mod quota;
pub mod receiver;
mod recorder;
mod refusals;
pub mod runtime_api;
mod soundness;
pub mod table;
pub mod takes;
pub mod tls;
mod traffic;
pub mod videos;
