//! The table: every read and write of the service, by access pattern.
//!
//! Only guards hand out a [`Store`], so nothing is read or written for a caller who was not admitted.

mod batch;
mod candidate;
mod capacity;
mod company;
mod customer;
mod item;
pub(crate) mod keys;
mod login;
pub mod page;
mod project;
mod retry;
mod search;
mod session;
mod tally;
mod transaction;

use std::sync::Arc;

use chrono::{DateTime, Utc};

pub(crate) use batch::Batch;
pub use capacity::Usage;
pub use item::Versioned;
pub(crate) use keys::Key;
pub use project::Counted;
pub(crate) use session::caller_keys;
pub use session::{Session, SessionKind};
pub(crate) use tally::shards;

use crate::app::App;
use crate::domain::id::Id;

/// Access to the table on behalf of one request, whose [`Usage`] it counts.
#[derive(Clone)]
pub struct Store {
    app: App,
    usage: Arc<Usage>,
}

impl Store {
    /// Access that counts towards `usage`.
    pub(crate) fn new(app: App, usage: Arc<Usage>) -> Self {
        Self { app, usage }
    }

    /// A new identifier, made at `now`.
    pub fn next_id<T>(&self, now: DateTime<Utc>) -> Id<T> {
        self.app.ids().next(now)
    }

    /// Opens the connection to DynamoDB by one cheap read, so that the first request does not wait for it.
    ///
    /// A failure is left to that request, which can answer it.
    pub(crate) async fn warm_up(app: &App) {
        let nowhere = keys::nothing().into_attributes();
        let _ = app
            .aws()
            .dynamodb()
            .get_item()
            .table_name(&app.config().table)
            .set_key(Some(nowhere))
            .send()
            .await;
    }

    fn client(&self) -> &aws_sdk_dynamodb::Client {
        self.app.aws().dynamodb()
    }

    fn table(&self) -> &str {
        &self.app.config().table
    }
}
