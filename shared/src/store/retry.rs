//! Which failures of DynamoDB are worth another try, and when.

use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

use super::Store;
use crate::clock::Stopwatch;
use crate::error::{Error, Source};

/// How often a call is made at most.
const ATTEMPTS: u32 = 8;
/// After this time no call is made again: one more may take [`crate::aws::ATTEMPT_TIMEOUT`], and the answer has to be
/// out before the function's own time is over.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why a call failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Another transaction held one of the items: soon over.
    Conflict(Source),
    /// Throttled, unreachable or timed out: give it time.
    Overload(Source),
    /// An answer, not an accident: another try would end the same.
    Final(Error),
}

impl Failure {
    /// Sorts an SDK error that no operation gives a meaning of its own.
    pub(super) fn of<E>(error: SdkError<E>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        let SdkError::ServiceError(service) = &error else { return Self::Overload(error.into()) };
        let overload = service.raw().status().as_u16() >= 500
            || matches!(
                error.code(),
                Some(
                    "ProvisionedThroughputExceededException"
                        | "ThrottlingException"
                        | "RequestLimitExceeded"
                        | "TransactionInProgressException"
                )
            );
        if overload { Self::Overload(error.into()) } else { Self::Final(Error::internal(error)) }
    }
}

impl Store {
    /// Makes a call until it succeeds, is answered for good, or has been tried often enough.
    pub(super) async fn with_retries<T, F>(&self, call: impl Fn() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let mut attempt = 1;
        let stopwatch = Stopwatch::start();
        loop {
            self.usage.count_call();
            let (source, slowest) = match call().await {
                Ok(value) => return Ok(value),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Conflict(source)) => (source, Duration::from_millis(5 << attempt)),
                Err(Failure::Overload(source)) => (source, Duration::from_millis(25 << attempt)),
            };
            if attempt == ATTEMPTS || stopwatch.elapsed() > PATIENCE {
                return Err(Error::Busy(source));
            }
            tokio::time::sleep(self.jitter(slowest)).await;
            attempt += 1;
        }
    }

    /// A random time up to `slowest`, so that those who met once do not meet again.
    fn jitter(&self, slowest: Duration) -> Duration {
        let mut random = [0; 4];
        self.app.entropy().fill(&mut random);
        slowest.mul_f64(f64::from(u32::from_be_bytes(random)) / f64::from(u32::MAX))
    }
}
