//! Clock and randomness for tests.

use std::future::ready;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::BoxFuture;
use shared::clock::{Clock, SystemClock, SystemEntropy};
use shared::domain::random::RandomSource;
use tokio::task::yield_now;

/// A clock that advances only when a test moves it or the service pauses.
#[derive(Debug)]
pub struct ManualClock {
    moment: Mutex<DateTime<Utc>>,
    has_timeouts: bool,
    has_pauses: bool,
    pauses: Mutex<Vec<Duration>>,
}

impl ManualClock {
    /// The time at which every test begins.
    pub const START: &str = "2026-11-08T10:00:00Z";

    /// A clock that shows [`Self::START`].
    pub fn new() -> Self {
        Self {
            moment: Mutex::new(Self::START.parse().expect("a moment")),
            has_timeouts: true,
            has_pauses: false,
            pauses: Mutex::default(),
        }
    }

    /// A clock whose pauses take real time, for benchmarks of paced work.
    pub fn with_pauses() -> Self {
        Self { has_pauses: true, ..Self::new() }
    }

    /// A clock without timeouts: calls that a test holds never time out, however busy the computer is.
    pub fn without_timeouts() -> Self {
        Self { has_timeouts: false, ..Self::new() }
    }

    /// Moves the clock; a negative duration moves it back.
    pub fn advance(&self, by: TimeDelta) {
        *self.time() += by;
    }

    /// The time in `days` days, as in requests.
    pub fn in_days(&self, days: i64) -> String {
        (self.now() + TimeDelta::days(days)).format("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// The pauses so far. They take no real time, except [with pauses](Self::with_pauses).
    pub fn pauses(&self) -> Vec<Duration> {
        self.pauses.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn time(&self) -> MutexGuard<'_, DateTime<Utc>> {
        self.moment.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        *self.time()
    }

    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.advance(TimeDelta::from_std(time).expect("a time to wait"));
        Box::pin(ready(()))
    }

    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.pauses.lock().unwrap_or_else(PoisonError::into_inner).push(time);
        if self.has_pauses {
            return SystemClock.pause(time);
        }
        // Let other tasks run, as a real pause would.
        Box::pin(yield_now())
    }

    fn has_pauses(&self) -> bool {
        self.has_pauses
    }

    fn is_running(&self) -> bool {
        self.has_timeouts
    }
}

/// Randomness without delays: the random pause before a retry is always the shortest.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hasty;

impl Hasty {
    /// The number of random bytes for a pause; secrets and identifiers use more.
    const DELAY_BYTES: usize = 4;
}

impl RandomSource for Hasty {
    fn fill(&self, bytes: &mut [u8]) {
        match bytes.len() {
            Self::DELAY_BYTES => bytes.fill(0),
            _ => SystemEntropy.fill(bytes),
        }
    }
}
