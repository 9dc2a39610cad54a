//! Time and randomness. The rules in `domain` get both as arguments.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use domain::random::RandomSource;
use futures_util::future::BoxFuture;
use tokio::sync::Mutex;

/// A source of the current time.
pub trait Clock: Send + Sync + 'static {
    /// The current time in UTC.
    fn now(&self) -> DateTime<Utc>;

    /// Waits until the clock has advanced by `time`.
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        sleep(time)
    }

    /// Pauses to spare others: a service with a rate limit, or concurrent work. The work after the pause does not depend on the
    /// time, so a clock that stands still returns at once without advancing.
    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        sleep(time)
    }

    /// Whether [`pause`](Self::pause) takes time.
    fn has_pauses(&self) -> bool {
        true
    }

    /// Whether time passes by itself. If not, nothing times out.
    fn is_running(&self) -> bool {
        true
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place where the service waits for time to pass")]
fn sleep(time: Duration) -> BoxFuture<'static, ()> {
    Box::pin(tokio::time::sleep(time))
}

/// The operating system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place where time enters")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }
}

/// The operating system's random number generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl RandomSource for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "the one place where chance enters")]
    #[expect(clippy::expect_used, reason = "a service without randomness must not answer")]
    fn fill(&self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }
}

/// Measures durations, independent of the system's clock.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Option<Instant>);

impl Stopwatch {
    /// Starts now.
    #[expect(clippy::disallowed_methods, reason = "durations for logs, limits of time and benchmarks")]
    pub fn start() -> Self {
        Self(Some(Instant::now()))
    }

    /// Starts now if the time of `clock` passes by itself; otherwise the stopwatch stays at zero.
    pub fn by(clock: &dyn Clock) -> Self {
        if clock.is_running() { Self::start() } else { Self(None) }
    }

    /// The time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.map(|start| start.elapsed()).unwrap_or_default()
    }
}

/// Spaces steps in time, so that they leave capacity to others.
pub struct Pace {
    clock: Arc<dyn Clock>,
    between: Duration,
    stopwatch: Stopwatch,
    // A fair mutex: the step that has waited longest is next, so kinds of work that share a pace take turns.
    next_at: Mutex<Duration>,
}

impl Pace {
    /// A pace whose first step starts at once. Each further step starts `between` after the previous one.
    pub(crate) fn start(clock: Arc<dyn Clock>, between: Duration) -> Self {
        Self { clock, between, stopwatch: Stopwatch::start(), next_at: Mutex::default() }
    }

    /// Waits until the next step may start. After a late step, no burst follows to catch up.
    pub async fn wait(&self) {
        let mut next_at = self.next_at.lock().await;
        self.clock.pause(next_at.saturating_sub(self.stopwatch.elapsed())).await;
        *next_at = self.stopwatch.elapsed() + self.between;
    }
}
