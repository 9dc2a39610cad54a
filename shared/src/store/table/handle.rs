//! The access to the table that one request has.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::capacity::RequestUsage;
use super::keys;
use crate::app::App;
use crate::domain::history::ChangeOrigin;
use crate::domain::id::{Id, IdBlock};

/// How long all calls of a request may take together.
// The functions have ten seconds to answer.
pub const REQUEST_PATIENCE: Duration = Duration::from_secs(9);
/// How long all calls of an import may take together.
// Leaves some of the function's 29 seconds to answer.
pub const IMPORT_PATIENCE: Duration = Duration::from_secs(26);
/// How long all calls for an event may take together, which is then left for another try.
// Functions have a minute.
pub const EVENT_PATIENCE: Duration = Duration::from_secs(40);
/// How long all calls of an invocation of the webhook sender may take together.
// The sender sends for 40 seconds, and a request of 15 may follow.
pub const SENDER_PATIENCE: Duration = Duration::from_secs(55);
/// How long all calls of a command of the operator may take together.
// The function has fifteen minutes.
pub const COMMAND_PATIENCE: Duration = Duration::from_secs(14 * 60);

/// Access to the table on behalf of one request, whose [`RequestUsage`] it counts.
#[derive(Clone)]
pub struct Store {
    pub(in crate::store) app: App,
    pub(in crate::store) usage: Arc<RequestUsage>,
    pub(super) patience: Duration,
    /// `None` before the author is known.
    pub(in crate::store) origin: Option<Arc<ChangeOrigin>>,
}

impl Store {
    pub(crate) fn new(app: App, usage: Arc<RequestUsage>) -> Self {
        Self { app, usage, patience: REQUEST_PATIENCE, origin: None }
    }

    /// Access for changes of this origin. Without one, no resource with a history can be changed.
    pub(crate) fn with_origin(self, origin: ChangeOrigin) -> Self {
        Self { origin: Some(Arc::new(origin)), ..self }
    }

    /// Access for work that may take longer than a request.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// A new identifier, made at `now`.
    pub fn next_id<T>(&self, now: DateTime<Utc>) -> Id<T> {
        self.app.ids().next(now)
    }

    pub(crate) fn next_ids(&self, now: DateTime<Utc>) -> IdBlock {
        self.app.ids().next_block(now)
    }

    /// Opens the connection to DynamoDB by one cheap read.
    ///
    /// A failure is left to that request, which can answer it.
    // The first request must not wait for it.
    pub(crate) async fn warm_up(app: &App) {
        let nowhere = keys::absent_key().into_attributes();
        let _ = app
            .aws()
            .dynamodb()
            .get_item()
            .table_name(&app.config().table)
            .set_key(Some(nowhere))
            .send()
            .await;
    }

    pub(in crate::store) fn client(&self) -> &aws_sdk_dynamodb::Client {
        self.app.aws().dynamodb()
    }

    pub(in crate::store) fn table(&self) -> &str {
        &self.app.config().table
    }
}
