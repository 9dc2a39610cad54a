//! Events that start functions, and what runs their handlers as Lambda functions.

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

/// Handles events until the execution environment ends. Fails if a setting is missing, or if the Lambda runtime API
/// does.
pub fn serve<E, O>(handle: impl AsyncFn(&App, E) -> Result<O>) -> LambdaResult
where
    E: DeserializeOwned,
    O: Serialize,
{
    let app = App::from_environment()?;
    telemetry::install(app.config());
    // An environment handles one event at a time.
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let service = service_fn(async |event: LambdaEvent<E>| {
            // Boxed: the compiler cannot lay out a future that holds all futures nested in a handler.
            let outcome = Box::pin(handle(&app, event.payload)).await;
            outcome.map_err(|error| Diagnostic {
                error_type: error.status().as_str().to_owned(),
                error_message: error.to_string(),
            })
        });
        lambda_runtime::run(service).await
    })
}

/// Like [`serve`], for a function that reads its events from a queue. Events that fail are returned to the queue alone.
pub fn serve_queue<E, O>(process: impl AsyncFn(&App, E) -> Result<O>) -> LambdaResult
where
    E: DeserializeOwned,
{
    serve(async |app, batch: QueueBatch| Ok(batch.process(async |event| process(app, event).await).await))
}

/// The most attempts at a step of [`persist`].
const STEP_ATTEMPTS: u32 = 4;

/// Repeats a step that has failed because the storage is busy or others are faster, four times at most, and not once `time` is
/// over since the beginning of the invocation. For functions whose invocations have nothing else to do. Each attempt must start
/// by reading.
// Lambda, too, would repeat an event, but counts each failure as an error of the release, which others can cause. Calls of the
// table are repeated for some seconds in each attempt.
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

/// The result of a scheduled invocation, which is unfinished if it has failed because of others: the next invocation goes on.
// Lambda would repeat the invocation as well, and count its failure as an error of the release.
pub fn leave_to_next_invocation<S: InvocationSummary>(summary: Result<S>) -> Result<S> {
    match summary {
        Err(error) if error.is_of_others() => Ok(S::unfinished()),
        summary => summary,
    }
}

/// The events of a function that the table's stream and a schedule start; any other fails.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum TableEvent {
    /// The table's stream.
    Stream {
        /// Changes of items that the function's mapping lets through.
        #[serde(rename = "Records")]
        records: Vec<StreamRecord>,
    },
    Schedule {
        /// EventBridge's name for the event.
        #[serde(rename = "detail-type")]
        kind: ScheduleKind,
    },
}

/// The kind of event that EventBridge sends for a schedule.
#[derive(Deserialize)]
pub enum ScheduleKind {
    /// One minute has passed.
    #[serde(rename = "Scheduled Event")]
    Scheduled,
}

/// A stream record: a change of one item.
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

    /// The record's place in its shard of the stream.
    pub fn sequence_number(&self) -> &str {
        &self.dynamodb.sequence_number
    }
}

/// The response to a batch: Lambda delivers these records again, of a stream with all that follow the first of them.
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
    /// Has a record delivered again. `id` is its sequence number in a stream, or the identifier of a message.
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
    /// The response to the schedule, for tests and operators: Lambda ignores it.
    Sweep(S),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordOutcome {
    /// The record has changed its subject.
    Applied,
    /// The record was applied before.
    Duplicate,
    /// There is nothing to change in the present state, or what it is about was deleted.
    Ignored,
    /// Invalid; the resource shows clients the reason.
    Refused,
}

/// Messages of a queue, each with an event as its body.
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
    /// Processes the events in turn.
    async fn process<E, O>(self, process: impl AsyncFn(E) -> Result<O>) -> BatchReport
    where
        E: DeserializeOwned,
    {
        let mut report = BatchReport::default();
        for QueueMessage { message_id, body } in self.messages {
            let is_done = match serde_json::from_str(&body) {
                // `process` logs its failures.
                Ok(event) => process(event).await.is_ok(),
                // Another team's mistake. Dead letters have an alarm of their own.
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
    /// The event's identifier, the same for each redelivery.
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
