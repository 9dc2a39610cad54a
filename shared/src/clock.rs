//! Time and randomness, which rules take as arguments.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use domain::random::RandomSource;
use futures_util::future::BoxFuture;

/// Tells the time of day.
pub trait Clock: Send + Sync + 'static {
    /// The current time in UTC.
    fn now(&self) -> DateTime<Utc>;

    /// Waits until the clock has gone on for `time`.
    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }

    /// Whether time passes by itself. If not, no call and no request takes too long.
    fn is_running(&self) -> bool {
        true
    }
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

    /// Starts now if the time of `clock` passes by itself; else it stands at zero.
    pub fn by(clock: &dyn Clock) -> Self {
        if clock.is_running() { Self::start() } else { Self(None) }
    }

    /// Time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.map(|start| start.elapsed()).unwrap_or_default()
    }
}
