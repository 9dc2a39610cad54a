//! Events that start functions, and the runtime that calls their handlers.

use std::time::Duration;

use lambda_runtime::{Diagnostic, LambdaEvent, service_fn};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::LambdaResult;
use crate::app::App;
use crate::auth::SystemAccess;
use crate::error::{Error, Result};
use crate::invocation_summary::InvocationSummary;
use crate::telemetry;

/// Handles events until the execution environment ends. Fails if a setting is missing or the Lambda runtime API fails.
pub fn serve<E, O>(handle: impl AsyncFn(&App, E) -> Result<O>) -> LambdaResult
where
    E: DeserializeOwned,
    O: Serialize,
{
    let app = App::from_environment()?;
    telemetry::install(app.config());
    // One thread is enough: an environment handles one event at a time.
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let service = service_fn(async |event: LambdaEvent<E>| {
            // Boxed, because nested futures would exceed the compiler's depth limit.
            let outcome = Box::pin(handle(&app, event.payload)).await;
            outcome.map_err(|error| Diagnostic {
                error_type: error.status().as_str().to_owned(),
                error_message: error.to_string(),
            })
        });
        lambda_runtime::run(service).await
    })
}

/// Like [`serve`], for a function whose events come from a queue. Only failed events return to the queue.
pub fn serve_queue<E, O>(process: impl AsyncFn(&App, E) -> Result<O>) -> LambdaResult
where
    E: DeserializeOwned,
{
    serve(async |app, batch: QueueBatch| Ok(batch.process(async |event| process(app, event).await).await))
}

/// The maximum number of attempts of [`persist`] at a step.
const STEP_ATTEMPTS: u32 = 4;

/// Attempts a step up to four times, as long as it fails because the storage is busy or a concurrent write was faster and the
/// invocation has run for less than `time`. Each attempt must start by reading. For functions whose invocations have nothing
/// else to do.
// Lambda would repeat the event too, but counts each failure as an error of the release, although clients can cause it. Within
// an attempt, calls to the table are retried for some seconds.
pub async fn persist<T, F>(system: &SystemAccess, time: Duration, step: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    for failed in 1..STEP_ATTEMPTS {
        match step().await {
            Err(Error::Busy(_) | Error::Changed) if system.usage().elapsed() < time => {}
            settled => return settled,
        }
        system.store.back_off(failed).await;
    }
    step().await
}

/// Turns a failure that clients can cause into an unfinished summary, because the next scheduled invocation continues the work.
// Lambda would repeat the invocation too, but count its failure as an error of the release.
pub fn leave_to_next_invocation<S: InvocationSummary>(summary: Result<S>) -> Result<S> {
    match summary {
        Err(error) if error.is_of_others() => Ok(S::unfinished()),
        summary => summary,
    }
}

/// The events of a function that the table's stream and a schedule start. Parsing any other event fails.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum TableEvent {
    /// The table's stream.
    Stream {
        /// The changes of items that pass the filters of the function's event source mapping.
        #[serde(rename = "Records")]
        records: Vec<StreamRecord>,
    },
    Schedule {
        /// EventBridge's type of the event.
        #[serde(rename = "detail-type")]
        kind: ScheduleKind,
    },
}

/// The kind of event that EventBridge sends for a schedule.
#[derive(Deserialize)]
pub enum ScheduleKind {
    /// A minute has passed since the last invocation.
    #[serde(rename = "Scheduled Event")]
    Scheduled,
}

/// A stream record: a change to one item.
#[derive(Deserialize)]
pub struct StreamRecord {
    dynamodb: ItemChange,
}

#[derive(Deserialize)]
struct ItemChange {
    #[serde(rename = "Keys")]
    keys: ItemKeys,
    #[serde(rename = "SequenceNumber")]
    sequence_number: String,
}

#[derive(Deserialize)]
struct ItemKeys {
    pk: TextAttribute,
    sk: TextAttribute,
}

#[derive(Deserialize)]
struct TextAttribute {
    #[serde(rename = "S")]
    value: String,
}

impl StreamRecord {
    /// The item's partition key.
    pub fn pk(&self) -> &str {
        &self.dynamodb.keys.pk.value
    }

    /// The item's sort key.
    pub fn sk(&self) -> &str {
        &self.dynamodb.keys.sk.value
    }

    /// The record's position in its shard of the stream.
    pub fn sequence_number(&self) -> &str {
        &self.dynamodb.sequence_number
    }
}

/// The response to a batch. Lambda redelivers the failed messages of a queue, or all records of a stream from the first
/// failed one on.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchReport {
    batch_item_failures: Vec<FailedRecord>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct FailedRecord {
    item_identifier: String,
}

impl BatchReport {
    /// Makes Lambda redeliver a record. `id` is the sequence number in a stream, or the identifier of a queue's message.
    pub fn add_failure(&mut self, id: impl Into<String>) {
        self.batch_item_failures.push(FailedRecord { item_identifier: id.into() });
    }
}

/// The response of a function that the table's stream and a schedule start.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum TableResponse<S> {
    /// The response to the stream.
    Batch(BatchReport),
    /// The response to the schedule. Lambda ignores it; tests and operators read it.
    Sweep(S),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordOutcome {
    /// The record was applied to its subject.
    Applied,
    /// The record had already been applied.
    Duplicate,
    /// The subject's state allows no change, or the subject was deleted.
    Ignored,
    /// The record is invalid. The resource shows clients the reason.
    Refused,
}

/// A batch of messages from a queue, each with an event as its body.
#[derive(Debug, Deserialize)]
struct QueueBatch {
    #[serde(rename = "Records")]
    messages: Vec<QueueMessage>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct QueueMessage {
    message_id: String,
    body: String,
}

impl QueueBatch {
    /// Processes the events one after the other.
    async fn process<E, O>(self, process: impl AsyncFn(E) -> Result<O>) -> BatchReport
    where
        E: DeserializeOwned,
    {
        let mut report = BatchReport::default();
        for QueueMessage { message_id, body } in self.messages {
            let is_done = match serde_json::from_str(&body) {
                // `process` logs its failures.
                Ok(event) => process(event).await.is_ok(),
                // Only a warning, because the sender is at fault. Dead letters have an alarm of their own.
                Err(error) => {
                    tracing::warn!(message_id, %error, "could not parse a message of the queue");
                    false
                }
            };
            if !is_done {
                report.add_failure(message_id);
            }
        }
        report
    }
}

/// EventBridge's event about a new object in the bucket.
#[derive(Debug, Deserialize)]
pub struct ObjectCreated {
    /// The event's identifier, equal in each redelivery.
    pub id: String,
    detail: UploadDetail,
}

#[derive(Debug, Deserialize)]
struct UploadDetail {
    object: UploadedObject,
}

#[derive(Debug, Deserialize)]
struct UploadedObject {
    key: String,
}

impl ObjectCreated {
    /// The object's key.
    pub fn key(&self) -> &str {
        &self.detail.object.key
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Error;

    #[tokio::test]
    async fn only_events_that_fail_are_returned_to_the_queue() {
        let message =
            |id: &str, body: &str| json!({ "messageId": id, "body": body, "eventSource": "aws:sqs" });
        let messages = [
            message("a", "1"),
            message("b", "2"),
            message("c", "nothing"),
            message("d", "{}"),
            message("e", "3"),
        ];
        let batch: QueueBatch = serde_json::from_value(json!({ "Records": messages })).unwrap();
        let handled = std::cell::RefCell::new(Vec::new());
        let returned = batch.process(async |event: u32| {
            handled.borrow_mut().push(event);
            if event == 2 { Err(Error::internal("expected by the test")) } else { Ok(()) }
        });
        let returned = serde_json::to_value(returned.await).unwrap();
        let failures = ["b", "c", "d"].map(|id| json!({ "itemIdentifier": id }));
        assert_eq!(returned, json!({ "batchItemFailures": failures }));
        assert_eq!(*handled.borrow(), [1, 2, 3]);
    }
}
