//! One batch of stream records on its way to a function, with the tries that Lambda's event source mapping makes.

use std::time::Duration;

use serde_json::{Value, json};

use crate::function::invoke;
use crate::template::StreamTrigger;
use crate::{Error, Function};

/// The wait before the first further try; each wait is twice the one before.
const BACK_OFF: Duration = Duration::from_millis(50);

/// Hands over records in order. After a failure that the function reports, it goes on with the first record that failed;
/// when the function as a whole fails, with all of them, in two halves if the mapping bisects.
///
/// # Errors
/// When some were given up; those behind them have still been handed over.
pub(super) async fn deliver(
    function: &Function,
    trigger: &StreamTrigger,
    records: &[Value],
) -> Result<(), Error> {
    // The next one is the last in the list.
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
            tokio::time::sleep(BACK_OFF * 2_u32.saturating_pow(tries.try_into().unwrap_or(u32::MAX))).await;
            pending.push((rest, tries + 1));
        } else {
            let what = format!("{} did not take {} records of the stream", trigger.function, rest.len());
            given_up.get_or_insert(Error::because(what)(why));
        }
    }
    given_up.map_or(Ok(()), Err)
}

/// The place of the first record that the function reports as failed. A report that names no record of the batch counts
/// for the whole batch, as it does in Lambda.
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
