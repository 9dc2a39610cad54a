//! HTTP: routes in, guarded handlers, views out.

pub mod expand;
pub(crate) mod idempotency;
pub mod json;
pub mod mounts;
pub mod multipart;
pub mod page;
pub mod reference;
pub(crate) mod request;
pub mod respond;
pub mod routes;
mod serve;
mod tag;
pub mod view;

pub use json::{Entries, Fields};
pub use multipart::{FileChange, SentFile, WithFiles};
pub use routes::Routes;
pub use serve::{serve, serve_without_table};
