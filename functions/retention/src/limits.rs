//! The limits of one invocation.

use std::time::Duration;

/// The number of candidates per batch, and thus per [pause](InvocationLimits::pause) for all companies together.
// 20 candidates a second cost about 1,200 of the 4,000 write units of a new table (tests/bench retention), and 200 of
// the 1,000 of a project's partition.
pub(crate) const BATCH: usize = 20;

/// The limits of one invocation.
#[derive(Debug, Clone, Copy)]
pub struct InvocationLimits {
    /// For how long new work starts. Each kind of work does at least one batch in any case.
    pub time: Duration,
    /// The maximum time for one company before others get their turn.
    pub company_time: Duration,
    /// The minimum time between the starts of two batches.
    pub pause: Duration,
}

impl InvocationLimits {
    /// The limits of a scheduled invocation.
    // The function's timeout is 300 seconds. A batch takes a second or two, even while DynamoDB throttles.
    pub const SCHEDULED: Self = Self {
        time: Duration::from_secs(240),
        company_time: Duration::from_secs(60),
        pause: Duration::from_secs(1),
    };

    /// For how long DynamoDB calls are retried.
    pub(crate) fn patience(&self) -> Duration {
        self.time.saturating_add(Duration::from_secs(40))
    }
}
