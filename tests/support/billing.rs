//! Computes Lambda's bill: the milliseconds that a function takes with the share of a processor that its memory size
//! gives it.

use std::error::Error;
use std::time::Duration;

use serde_json::Value;
use shared::clock::Stopwatch;

use crate::function::Function;
use crate::quota::CpuQuota;
use crate::tls::TlsDynamoDb;

/// Memory sizes in megabytes. The last one gives a whole processor.
pub const SIZES: [u32; 5] = [128, 256, 512, 1_024, 1_769];

/// Dollars per million invocations, in us-east-1 in November 2026.
pub const INVOCATIONS: f64 = 0.2;
/// Dollars per million gigabyte-milliseconds on arm64, in the same region and month as [`INVOCATIONS`].
pub const GIGABYTE_MILLISECONDS: f64 = 0.013_333_4;

/// The latency added to transactions and to other requests, about as on AWS.
const LATENCIES: [Duration; 2] = [Duration::from_millis(15), Duration::from_millis(5)];

/// Makes DynamoDB about as slow as on AWS, because functions are also billed while they wait.
pub fn slow_down(dynamodb: &TlsDynamoDb) {
    let [transactions, others] = LATENCIES;
    dynamodb.delay(transactions, others);
}

/// Converts milliseconds with this memory to gigabyte-milliseconds.
pub fn gigabyte_milliseconds(milliseconds: f64, megabytes: u32) -> f64 {
    milliseconds * f64::from(megabytes) / 1_024.0
}

/// The milliseconds billed for the start of a new function and its first response. The quota limits only the response:
/// Lambda gives a function a whole processor until it requests its first event.
///
/// # Errors
/// If the function fails, or its response is not successful.
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

/// The milliseconds billed for an event, in a function that was idle before.
///
/// # Errors
/// If the function fails, or its response is not successful.
pub async fn billed(function: &mut Function, number: usize, event: &Value) -> Result<f64, Box<dyn Error>> {
    // At least two periods, so that the function has its whole share again. The length varies, because requests arrive
    // at any moment of a period.
    let rest = 40 + (number * 7) % 20;
    #[expect(clippy::disallowed_methods, reason = "another process rests in real time")]
    tokio::time::sleep(Duration::from_millis(u64::try_from(rest)?)).await;
    let stopwatch = Stopwatch::start();
    succeed(function, event).await?;
    Ok(whole_milliseconds(stopwatch.elapsed()))
}

/// Invokes the function with an event.
///
/// # Errors
/// If the function fails, or its response is not successful.
pub async fn succeed(function: &mut Function, event: &Value) -> Result<(), Box<dyn Error>> {
    let answer = function.invoke(event).await?;
    let is_failure = answer["statusCode"].as_u64().is_some_and(|status| status >= 300);
    let has_failures = answer["batchItemFailures"].as_array().is_some_and(|failures| !failures.is_empty());
    if is_failure || has_failures { Err(format!("unexpected answer: {answer}").into()) } else { Ok(()) }
}

/// Rounds up: Lambda bills each started millisecond.
fn whole_milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e3).ceil()
}

pub fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len() as f64
}
