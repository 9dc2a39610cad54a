//! Retries calls that DynamoDB refuses temporarily, and work that has lost to a concurrent write.

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
    // The functions have ten seconds, and another attempt needs some of them.
    pub const REQUEST: Self = Self { attempts: 10, time: Duration::from_secs(5), has_pause: true };
    /// One change.
    // Few requests write the same item at once, and each conflict means that one of them has succeeded, so no pause is needed.
    pub const CHANGE: Self = Self { attempts: 10, time: Duration::MAX, has_pause: false };
    /// The counter of a company's events.
    // All functions that number the company's events compete for this counter. Without pauses, they would collide again and again.
    pub const COUNTER: Self = Self { has_pause: true, ..Self::CHANGE };
    /// A turn in the queue of conversions.
    // All executions that start at the same time compete for the queue of one company, and one wins at a time.
    pub const CLAIM: Self = Self { attempts: 200, ..Self::COUNTER };

    /// Whether work that has lost `lost` times starts again after this time.
    pub fn may_retry(self, lost: u32, elapsed: Duration) -> bool {
        lost < self.attempts && elapsed <= self.time
    }
}

#[derive(Debug)]
pub(in crate::store) enum CallFailure {
    /// Another transaction holds one of the items at the moment.
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
                        // The first attempt, which had the same token, is still running.
                        | "TransactionInProgressException"
                )
            );
        if overload { Self::Overload(error.into()) } else { Self::Final(Error::internal(error)) }
    }
}

impl Store {
    /// Makes a call until it succeeds or fails permanently. Fails with [`Error::Busy`] once attempts or time run out.
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

    /// Runs `attempt` until it does not lose to a concurrent write. Each attempt must start by reading. Fails with
    /// [`Error::Changed`] after too many attempts, and with any other error of an attempt.
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
                // An item that was deleted after it was read counts as changed: the next attempt reads again.
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

    /// Waits before a retry of work that has lost to concurrent writes `lost` times.
    pub async fn back_off(&self, lost: u32) {
        #[expect(
            clippy::disallowed_methods,
            reason = "other writers go on in real time, whatever the clock shows"
        )]
        tokio::time::sleep(self.jitter(Duration::from_millis(5 << lost.min(6)))).await;
    }

    /// A random time up to `slowest`.
    fn jitter(&self, slowest: Duration) -> Duration {
        // Random, because concurrent calls that have collided once would otherwise collide again.
        let mut random = [0; 4];
        self.app.entropy().fill(&mut random);
        slowest.mul_f64(f64::from(u32::from_be_bytes(random)) / f64::from(u32::MAX))
    }
}
