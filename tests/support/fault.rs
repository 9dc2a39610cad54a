//! Faults that can happen to a request on its way to AWS.

use std::sync::Arc;

use tokio::sync::Notify;

/// A fault of one request.
#[derive(Debug, Clone)]
pub enum Fault {
    /// A transaction is cancelled because another one uses its items. Nothing is written.
    Conflict,
    /// The request is refused because there are too many. Nothing is written.
    Throttled,
    /// The connection breaks before the request is processed.
    Unreachable,
    /// The request is processed, and the connection breaks before the response.
    AnswerLost,
    /// Only the first half of the keys is read, or of the items written; the rest is returned as unprocessed.
    HalfProcessed,
    /// The request is refused with this code, as by SES or S3. Nothing is done.
    Refused(&'static str),
    /// The request waits until the test resumes it.
    Paused(Pause),
}

/// A request that is held before DynamoDB.
#[derive(Debug, Clone, Default)]
pub struct Pause(Arc<(Notify, Notify)>);

impl Pause {
    /// Returns once the request has arrived.
    pub async fn reached(&self) {
        self.0.0.notified().await;
    }

    /// Lets the request continue.
    pub fn resume(&self) {
        self.0.1.notify_one();
    }

    pub(crate) async fn wait(&self) {
        self.0.0.notify_one();
        self.0.1.notified().await;
    }
}
