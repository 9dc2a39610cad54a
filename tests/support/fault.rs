//! Faults that can happen to a request on its way to AWS.

use std::sync::Arc;

use tokio::sync::Notify;

/// The fault of one request.
#[derive(Debug, Clone)]
pub enum Fault {
    /// A transaction is cancelled because another one holds its items. Nothing is done.
    Conflict,
    /// The request is refused because there are too many. Nothing is done.
    Throttled,
    /// The connection breaks before anything is done.
    Unreachable,
    /// It is done, and the connection breaks before the answer arrives.
    AnswerLost,
    /// Only the first half of the keys is read, or of the items written, and the rest handed back.
    HalfProcessed,
    /// It is refused with this code, as SES or S3 does. Nothing is done.
    Refused(&'static str),
    /// It waits until the test lets it go on.
    Paused(Pause),
}

/// A request that has come as far as DynamoDB's door.
#[derive(Debug, Clone, Default)]
pub struct Pause(Arc<(Notify, Notify)>);

impl Pause {
    /// Returns once the request has come.
    pub async fn reached(&self) {
        self.0.0.notified().await;
    }

    /// Lets the request go on.
    pub fn resume(&self) {
        self.0.1.notify_one();
    }

    pub(crate) async fn wait(&self) {
        self.0.0.notify_one();
        self.0.1.notified().await;
    }
}
