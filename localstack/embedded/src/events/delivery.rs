//! Delivers one batch of stream records to a function, with the retries of Lambda's event source mapping.

use std::time::Duration;

use serde_json::{Value, json};
use shared::app::App;

use crate::function::invoke;
use crate::template::StreamTrigger;
use crate::{Error, Function};

/// The pause before the first retry, which doubles with each retry.
const BACK_OFF: Duration = Duration::from_millis(50);

/// Delivers records in order. If the function reports failed records, delivery continues with the first of them. If the
/// invocation fails, all records are delivered again, in two halves if the mapping bisects.
///
/// # Errors
/// If records were given up. The records after them are still delivered.
pub(super) async fn deliver(
    app: &App,
    function: &Function,
    trigger: &StreamTrigger,
    records: &[Value],
) -> Result<(), Error> {
    // A stack: the next batch is the last element.
    let mut pending = vec![(records, 0)];
    let mut given_up = None;
    while let Some((batch, tries)) = pending.pop() {
        let (rest, why) = match invoke(function, &json!({ "Records": batch })).await {
            Ok(answer) => match first_failure(&answer, batch).filter(|_| trigger.reports_failures) {
                None => continue,
                Some(first) => (&batch[first..], Error::new("it reported a failure")),
            },
            Err(_) if trigger.bisects && batch.len() > 1 => {
                let (first, second) = batch.split_at(batch.len() / 2);
                pending.extend([(second, tries), (first, tries)]);
                continue;
            }
            Err(error) => (batch, error),
        };
        if tries < trigger.retries {
            app.pause(BACK_OFF * 2_u32.saturating_pow(tries.try_into().unwrap_or(u32::MAX))).await;
            pending.push((rest, tries + 1));
        } else {
            let what = format!("{} did not take {} records of the stream", trigger.function, rest.len());
            given_up.get_or_insert(Error::because(what)(why));
        }
    }
    given_up.map_or(Ok(()), Err)
}

/// The index of the first record that the function reports as failed. As in Lambda, a report that names no record of
/// the batch fails the whole batch.
fn first_failure(answer: &Value, batch: &[Value]) -> Option<usize> {
    let failures = answer["batchItemFailures"].as_array()?;
    let places = failures.iter().map(|failure| {
        let failed = failure["itemIdentifier"].as_str()?;
        batch.iter().position(|record| sequence_number(record) == failed)
    });
    places.map(Option::unwrap_or_default).min()
}

pub(super) fn sequence_number(record: &Value) -> &str {
    record["dynamodb"]["SequenceNumber"].as_str().unwrap_or_default()
}
