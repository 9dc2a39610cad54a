//! Which failures of DynamoDB are worth another try, and when.

use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

use super::Store;
use crate::aws::ATTEMPT_TIMEOUT;
use crate::error::{Error, Source};

/// How often a call is made at most.
const ATTEMPTS: u32 = 8;

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
        let service = match &error {
            SdkError::ServiceError(service) => service,
            SdkError::ConstructionFailure(_) => return Self::Final(Error::internal(error)),
            _ => return Self::Overload(error.into()),
        };
        if error.code() == Some("TransactionConflictException") {
            return Self::Conflict(error.into());
        }
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
        loop {
            self.usage.count_call();
            let (source, slowest) = match call().await {
                Ok(value) => return Ok(value),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Conflict(source)) => (source, Duration::from_millis(5 << attempt)),
                Err(Failure::Overload(source)) => (source, Duration::from_millis(25 << attempt)),
            };
            let delay = self.jitter(slowest);
            if attempt == ATTEMPTS || self.usage.elapsed() + delay + ATTEMPT_TIMEOUT > self.patience {
                return Err(Error::Busy(source));
            }
            tokio::time::sleep(delay).await;
            attempt += 1;
        }
    }

    /// Waits a moment before what has lost to another write `lost` times is done again.
    pub async fn give_way(&self, lost: u32) {
        tokio::time::sleep(self.jitter(Duration::from_millis(5 << lost.min(6)))).await;
    }

    /// Waits until the time since the request began is a multiple of `step`.
    pub(crate) async fn round_time_up(&self, step: Duration) {
        let elapsed = self.usage.elapsed().as_micros();
        let steps = elapsed.div_ceil(step.as_micros());
        let left = u64::try_from(steps * step.as_micros() - elapsed).unwrap_or(0);
        tokio::time::sleep(Duration::from_micros(left)).await;
    }

    /// A random time up to `slowest`, so that those who met once do not meet again.
    fn jitter(&self, slowest: Duration) -> Duration {
        let mut random = [0; 4];
        self.app.entropy().fill(&mut random);
        slowest.mul_f64(f64::from(u32::from_be_bytes(random)) / f64::from(u32::MAX))
    }
}
