//! How much one invocation does.

use std::time::Duration;

/// Candidates of one batch, which is as many as are erased in one [pause](InvocationLimits::pause), of all companies.
// 20 a second cost some 1,200 write units of the table (tests/bench retention), of the 4,000 that a new table has, and 200 of the
// 1,000 that a project's partition has.
pub(crate) const BATCH: usize = 20;

/// The limits of one invocation.
#[derive(Debug, Clone, Copy)]
pub struct InvocationLimits {
    /// How long it starts new work. Each kind of work gets further in any case, by a batch at least.
    pub time: Duration,
    /// How long it works for one company before others get their turn.
    pub company_time: Duration,
    /// The least time between the starts of two batches.
    pub pause: Duration,
}

impl InvocationLimits {
    /// The limits of a scheduled invocation.
    // The function is stopped after 300 seconds; a batch takes a second or two, even if DynamoDB throttles it for a while.
    pub const SCHEDULED: Self = Self {
        time: Duration::from_secs(240),
        company_time: Duration::from_secs(60),
        pause: Duration::from_secs(1),
    };

    /// How long calls of DynamoDB are retried.
    pub(crate) fn patience(&self) -> Duration {
        self.time.saturating_add(Duration::from_secs(40))
    }
}
