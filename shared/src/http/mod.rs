//! HTTP: routes in, views out.

pub mod body;
pub mod example_uri;
pub mod exchange;
pub mod expand;
pub mod files;
pub mod iso8601;
mod names;
mod packed;
pub mod page;
mod query;
pub mod reference;
pub(crate) mod schema;
pub mod serve;
pub mod view;
pub mod wire;

pub use body::announcement::read_announcement;
pub use body::fields::{BodyChanges, BodyFields, ListItem};
pub use body::json::JsonEntries;
pub use body::known_names::{ViewSchema, schema_of};
pub use body::multipart::{FileChange, FormFields, MAX_FILES_BYTES, SentFile, WithFiles};
pub use body::oauth::OAuthBody;
pub use exchange::condition::RequestConditions;
pub use exchange::tag::EntityTag;
pub use exchange::{AttemptResult, HttpExchange, RequestAttempt};
pub use packed::{CACHE_FOR_EVER, CACHE_SHORTLY, FileReader, PackedFile};
pub use query::QueryParameters;
pub use serve::routes::{HttpService, RouteGroup};
pub use serve::{MakeService, serve, serve_without_table};
