//! Access to the table on behalf of one request.

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
/// How long all calls for one event may take together. After that, the event is left for another attempt.
// The functions have a minute per invocation.
pub const EVENT_PATIENCE: Duration = Duration::from_secs(40);
/// How long all calls of an invocation of the webhook sender may take together.
// The sender starts deliveries for 40 seconds, and the last one may take 15 more.
pub const SENDER_PATIENCE: Duration = Duration::from_secs(55);
/// How long all calls of a command of the operator may take together.
// The function has fifteen minutes.
pub const COMMAND_PATIENCE: Duration = Duration::from_secs(14 * 60);

/// Access to the table on behalf of one request. Counts its calls in a [`RequestUsage`].
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

    /// Sets the origin that the history records. Without an origin, resources with a history cannot be changed.
    pub(crate) fn with_origin(self, origin: ChangeOrigin) -> Self {
        Self { origin: Some(Arc::new(origin)), ..self }
    }

    /// Sets how long all calls may take together; [`REQUEST_PATIENCE`] if unset.
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

    /// Opens the connection to DynamoDB with one cheap read, so that the first request need not wait for it.
    ///
    /// Ignores failures: the first request meets them again and can answer them.
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
