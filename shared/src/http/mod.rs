//! HTTP: routes in, guarded handlers, views out.

mod announcement;
mod body;
mod condition;
pub mod event;
pub mod example_uri;
pub mod exchange;
pub mod expand;
pub mod fields;
pub mod files;
pub mod iso8601;
mod json;
pub mod mounts;
mod multipart;
mod origin;
pub(crate) mod outline;
pub mod page;
pub mod reference;
mod request;
pub mod respond;
mod retry_and_replay;
pub(crate) mod routes;
pub(crate) mod schema;
mod serve;
pub(crate) mod state;
mod tag;
pub mod view;
pub mod wire;

pub use announcement::read_announcement;
pub use condition::RequestConditions;
pub use exchange::{HttpExchange, IdempotentRun, RunResult};
pub use fields::{BodyChanges, BodyFields, SentFile};
pub use json::JsonEntries;
pub use multipart::{FileChange, MAX_FILES_BYTES, WithFiles};
pub use routes::{HttpService, RouteGroup};
pub use serve::{serve, serve_without_table};
pub use tag::EntityTag;
