//! The code that all functions share.
//!
//! Modules depend on each other in one direction: the crate `domain` on no other of ours, `store` on `domain`, `http` on both.
//! `auth` admits requests to the store; `archive` reads companies with that access. `routes` and `openapi`, which serve and
//! describe routes, depend on all of these.

pub mod app;
pub mod archive;
pub mod auth;
pub mod aws;
pub mod clock;
pub mod config;
pub mod endpoint;
pub mod error;
pub mod event;
pub mod http;
pub mod invocation_summary;
pub(crate) mod issuers;
pub mod mail;
pub mod media;
pub mod openapi;
pub mod outgoing;
pub(crate) mod receipt_keys;
pub mod routes;
pub mod scratch;
pub mod seals;
pub mod store;
pub mod telemetry;
pub mod work;

pub use domain;
pub use error::{Error, Result};
pub use routes::RouteReader;

/// The result of a function's process, which returns only because of an error: otherwise Lambda ends it.
pub type LambdaResult = std::result::Result<(), lambda_runtime::Error>;

#[cfg(panic = "abort")]
compile_error!("a panic must end one request, not the process: set `panic = \"unwind\"` in the profile");
