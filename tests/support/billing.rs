//! Computes Lambda's bill: milliseconds of a function that has the share of a processor that comes with its memory.

use std::error::Error;
use std::time::Duration;

use serde_json::Value;
use shared::clock::Stopwatch;

use crate::function::Function;
use crate::quota::CpuQuota;
use crate::tls::TlsDynamoDb;

/// Sizes of memory, in megabytes. The last one comes with a whole processor.
pub const SIZES: [u32; 5] = [128, 256, 512, 1_024, 1_769];

/// Dollars per million, in us-east-1 in November 2026: an invocation, and a gigabyte-millisecond on arm64.
pub const INVOCATIONS: f64 = 0.2;
/// See [`INVOCATIONS`].
pub const GIGABYTE_MILLISECONDS: f64 = 0.013_333_4;

/// The additional latency of a transaction and of any other request to DynamoDB, about as on AWS.
const LATENCIES: [Duration; 2] = [Duration::from_millis(15), Duration::from_millis(5)];

/// Makes this DynamoDB about as slow as on AWS: functions are billed while they wait.
pub fn slow_down(dynamodb: &TlsDynamoDb) {
    let [transactions, others] = LATENCIES;
    dynamodb.delay(transactions, others);
}

/// Gigabyte-milliseconds of so many milliseconds with this memory.
pub fn gigabyte_milliseconds(milliseconds: f64, megabytes: u32) -> f64 {
    milliseconds * f64::from(megabytes) / 1_024.0
}

/// The milliseconds billed for the start of a function that has just been started, and for its first response. Only the
/// response is within the quota: Lambda gives functions a whole processor until they ask for their first event.
///
/// # Errors
/// Those of the function, and when it answers with another status than one of success.
pub async fn billed_start(
    function: &mut Function,
    quota: &CpuQuota,
    event: &Value,
) -> Result<f64, Box<dyn Error>> {
    function.ready().await?;
    quota.hold(function.id().ok_or("the function has ended")?)?;
    succeed(function, event).await?;
    Ok(whole_milliseconds(function.age()))
}

/// The milliseconds billed for an event, by a function that has rested.
///
/// # Errors
/// Those of the function, and when it answers with another status than one of success.
pub async fn billed(function: &mut Function, number: usize, event: &Value) -> Result<f64, Box<dyn Error>> {
    // Two periods or more, so that its share is whole again. A request may come at any moment of a period.
    let rest = 40 + (number * 7) % 20;
    #[expect(clippy::disallowed_methods, reason = "another process rests in real time")]
    tokio::time::sleep(Duration::from_millis(u64::try_from(rest)?)).await;
    let stopwatch = Stopwatch::start();
    succeed(function, event).await?;
    Ok(whole_milliseconds(stopwatch.elapsed()))
}

/// Has an event answered.
///
/// # Errors
/// Those of the function, and when it answers with another status than one of success.
pub async fn succeed(function: &mut Function, event: &Value) -> Result<(), Box<dyn Error>> {
    let answer = function.invoke(event).await?;
    let is_failure = answer["statusCode"].as_u64().is_some_and(|status| status >= 300);
    let has_failures = answer["batchItemFailures"].as_array().is_some_and(|failures| !failures.is_empty());
    if is_failure || has_failures { Err(format!("unexpected answer: {answer}").into()) } else { Ok(()) }
}

/// Lambda bills each millisecond that has begun.
fn whole_milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e3).ceil()
}

/// The mean of these figures.
pub fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len() as f64
}
