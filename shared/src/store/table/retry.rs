//! Retries of failed calls.

use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

use crate::aws::ATTEMPT_TIMEOUT;
use crate::error::{Error, ErrorSource};
use crate::store::Store;

/// The most attempts at one call.
const ATTEMPTS: u32 = 8;

#[derive(Debug)]
pub(in crate::store) enum CallFailure {
    /// Another transaction holds one of the items, for a moment.
    Conflict(ErrorSource),
    /// Throttled, unreachable or timed out.
    Overload(ErrorSource),
    /// A response that a retry would not change.
    Final(Error),
}

impl CallFailure {
    /// Classifies an SDK error that the operation does not handle itself.
    pub(in crate::store) fn of<E>(error: SdkError<E>) -> Self
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
                        // The first attempt is still under way: its token is the same.
                        | "TransactionInProgressException"
                )
            );
        if overload { Self::Overload(error.into()) } else { Self::Final(Error::internal(error)) }
    }
}

impl Store {
    /// Makes a call until it succeeds, fails for good, or has been retried often enough.
    pub(in crate::store) async fn with_retries<T, F>(&self, call: impl Fn() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, CallFailure>>,
    {
        let mut attempt = 1;
        loop {
            self.usage.count_call();
            let (source, slowest) = match call().await {
                Ok(value) => return Ok(value),
                Err(CallFailure::Final(error)) => return Err(error),
                Err(CallFailure::Conflict(source)) => (source, Duration::from_millis(5 << attempt)),
                Err(CallFailure::Overload(source)) => (source, Duration::from_millis(25 << attempt)),
            };
            let delay = self.jitter(slowest);
            // Gives up while there is time to answer 503 with `Retry-After`, instead of being stopped by Lambda.
            if attempt == ATTEMPTS || self.usage.elapsed() + delay + ATTEMPT_TIMEOUT > self.patience {
                return Err(Error::Busy(source));
            }
            tokio::time::sleep(delay).await;
            attempt += 1;
        }
    }

    /// Waits before the retry of something that has lost to concurrent writes `lost` times.
    pub async fn back_off(&self, lost: u32) {
        tokio::time::sleep(self.jitter(Duration::from_millis(5 << lost.min(6)))).await;
    }

    /// A random time up to `slowest`.
    fn jitter(&self, slowest: Duration) -> Duration {
        // Random, or concurrent calls that have met once would meet again.
        let mut random = [0; 4];
        self.app.entropy().fill(&mut random);
        slowest.mul_f64(f64::from(u32::from_be_bytes(random)) / f64::from(u32::MAX))
    }
}
