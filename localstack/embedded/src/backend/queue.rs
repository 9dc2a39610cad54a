//! A function's queue of EventBridge events, filled by an external rule.

use serde_json::{Value, json};

use super::external::{ExternalServices, Failure};
use crate::Error;

/// SQS's maximum number of messages per request.
const PAGE: u32 = 10;

pub(crate) struct EventQueue {
    services: ExternalServices,
    name: String,
    url: String,
}

/// A received event.
pub(crate) struct Queued {
    pub(crate) event: Value,
    receipt: String,
}

impl EventQueue {
    /// Finds the queue with this name.
    ///
    /// # Errors
    /// If there is no such queue.
    pub(crate) fn find(services: &ExternalServices, name: &str) -> Result<Self, Error> {
        let queue = call(services, "GetQueueUrl", &json!({ "QueueName": name }));
        let queue =
            queue.map_err(Error::because(format!("there is no queue {name} at {}", services.url())))?;
        let url = queue["QueueUrl"].as_str().unwrap_or_default().to_owned();
        Ok(Self { services: services.clone(), name: name.to_owned(), url })
    }

    /// The next events. They are hidden from other receivers until the queue's visibility timeout.
    pub(crate) fn receive(&self) -> Result<Vec<Queued>, Error> {
        let mut answer = self.call("ReceiveMessage", json!({ "MaxNumberOfMessages": PAGE }))?;
        let Value::Array(messages) = answer["Messages"].take() else { return Ok(Vec::new()) };
        let queued = messages.iter().map(|message| {
            let body = message["Body"].as_str().unwrap_or_default();
            let event = serde_json::from_str(body).map_err(Error::because("an event is not JSON"))?;
            Ok(Queued { event, receipt: message["ReceiptHandle"].as_str().unwrap_or_default().to_owned() })
        });
        queued.collect()
    }

    /// Deletes an event from the queue.
    pub(crate) fn done_with(&self, queued: &Queued) -> Result<(), Error> {
        self.call("DeleteMessage", json!({ "ReceiptHandle": queued.receipt })).map(drop)
    }

    /// Makes an event visible again at once. After the maximum number of receives, it becomes a dead letter.
    pub(crate) fn give_back(&self, queued: &Queued) -> Result<(), Error> {
        let parameters = json!({ "ReceiptHandle": queued.receipt, "VisibilityTimeout": 0 });
        self.call("ChangeMessageVisibility", parameters).map(drop)
    }

    fn call(&self, operation: &str, mut parameters: Value) -> Result<Value, Error> {
        parameters["QueueUrl"] = json!(self.url);
        let failed = || format!("the queue {} does not do {operation}", self.name);
        call(&self.services, operation, &parameters).map_err(Error::because(failed()))
    }
}

fn call(services: &ExternalServices, operation: &str, parameters: &Value) -> Result<Value, Failure> {
    services.call("sqs", &format!("AmazonSQS.{operation}"), parameters)
}
