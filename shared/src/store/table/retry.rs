//! Retries: of calls that DynamoDB refuses for a moment, and of work that has lost to a concurrent write.

use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

use crate::aws::ATTEMPT_TIMEOUT;
use crate::error::{Error, ErrorSource};
use crate::store::table::handle::Store;

/// The most attempts at one call.
const ATTEMPTS: u32 = 8;

/// How often work that has lost to a concurrent write starts again.
#[derive(Debug, Clone, Copy)]
pub struct RetryPolicy {
    /// The most attempts.
    pub attempts: u32,
    /// How long after the start of the invocation another attempt may begin.
    pub time: Duration,
    /// Whether a pause comes before a retry.
    pub has_pause: bool,
}

impl RetryPolicy {
    /// A whole request.
    // Another attempt still needs some seconds of the ten that the functions have.
    pub const REQUEST: Self = Self { attempts: 10, time: Duration::from_secs(5), has_pause: true };
    /// One change.
    // Few write the same item at once, and with each conflict one of them has succeeded, so no pause is needed.
    pub const CHANGE: Self = Self { attempts: 10, time: Duration::MAX, has_pause: false };
    /// The counter of a company's events.
    // All functions that number its events compete for it. Without pauses, they would meet again and again.
    pub const COUNTER: Self = Self { has_pause: true, ..Self::CHANGE };
    /// A turn in the queue of conversions.
    // All executions that start at the same time compete for the queue of one company, and one wins at a time.
    pub const CLAIM: Self = Self { attempts: 200, ..Self::COUNTER };

    /// Whether work that has lost so often, after this time, starts again.
    pub fn may_retry(self, lost: u32, elapsed: Duration) -> bool {
        lost < self.attempts && elapsed <= self.time
    }
}

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
            #[expect(
                clippy::disallowed_methods,
                reason = "DynamoDB recovers in real time, whatever the clock shows"
            )]
            tokio::time::sleep(delay).await;
            attempt += 1;
        }
    }

    /// Makes attempts at a change until one does not lose to a concurrent write. Each must start by reading. Fails with
    /// [`Error::Changed`] after too many attempts, and with other errors of an attempt.
    pub async fn retry_on_conflict<R, F>(
        &self,
        policy: RetryPolicy,
        attempt: impl Fn() -> F,
    ) -> Result<R, Error>
    where
        F: Future<Output = Result<R, Error>>,
    {
        let mut lost = 0;
        loop {
            match attempt().await {
                // An item that was deleted since it was read counts as changed: the next attempt reads what there is.
                Err(Error::Changed | Error::NotFound) => lost += 1,
                settled => return settled,
            }
            if !policy.may_retry(lost, self.usage.elapsed()) {
                return Err(Error::Changed);
            }
            if policy.has_pause {
                self.back_off(lost).await;
            }
        }
    }

    /// Waits before the retry of something that has lost to concurrent writes `lost` times.
    pub async fn back_off(&self, lost: u32) {
        #[expect(
            clippy::disallowed_methods,
            reason = "other writers go on in real time, whatever the clock shows"
        )]
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
