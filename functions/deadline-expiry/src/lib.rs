//! Expires the deadlines of candidates: those who were to begin become expired, those who were at it aborted.
//!
//! Every rule that looks at a deadline holds at once; this makes lists and counts show it, within a minute or two.

mod lane;

use futures_util::future::try_join_all;
use serde::Serialize;
use serde::de::IgnoredAny;
use shared::Result;
use shared::app::App;
use shared::auth::System;
use shared::domain::tally::SHARDS;
use shared::store::Store;

use lane::Budget;

/// How many candidates one run looks at, at most; the next goes on where it ended.
const LIMIT: usize = 20_000;

/// What one run did.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Candidates who had not begun.
    pub expired: usize,
    /// Candidates who had not finished.
    pub aborted: usize,
    /// Candidates whom somebody else moved at the same moment.
    pub moved_on: usize,
    /// Candidates who could not be moved, for the next run.
    pub failed: usize,
    /// Seconds that the longest overdue of them had been overdue.
    pub lag_seconds: i64,
    /// Whether the run ended before it was through.
    pub more: bool,
}

/// Handles one tick of the schedule.
///
/// # Errors
/// When the storage cannot be read.
pub async fn handle(app: &App, _: IgnoredAny) -> Result<Summary> {
    let summary = sweep(app, LIMIT).await;
    if let Err(error) = &summary {
        tracing::error!(target: "deadline-expiry", %error, "the sweep failed");
    }
    summary
}

/// Expires up to `limit` candidates, those first who have been overdue longest.
///
/// # Errors
/// When the storage cannot be read.
pub async fn sweep(app: &App, limit: usize) -> Result<Summary> {
    let system = System::of(app);
    let budget = Budget::new(limit);
    // Both kinds of shards follow from the candidate's identifier, so that no two lanes write the same tally.
    let shards = |lane| Store::candidate_shards().filter(move |shard| shard % SHARDS == lane);
    let lanes = (0..SHARDS).map(|lane| lane::run(&system, &budget, shards(lane)));
    let mut summary = Summary::default();
    for lane in try_join_all(lanes).await? {
        summary.add(lane);
    }
    summary.log(&system);
    Ok(summary)
}

impl Summary {
    fn add(&mut self, other: Self) {
        self.expired += other.expired;
        self.aborted += other.aborted;
        self.moved_on += other.moved_on;
        self.failed += other.failed;
        self.lag_seconds = self.lag_seconds.max(other.lag_seconds);
        self.more |= other.more;
    }

    fn log(&self, system: &System) {
        let usage = system.usage();
        tracing::info!(
            target: "deadline-expiry",
            expired = self.expired,
            aborted = self.aborted,
            moved_on = self.moved_on,
            failed = self.failed,
            lag_seconds = self.lag_seconds,
            more = self.more,
            milliseconds = usage.elapsed().as_secs_f64() * 1000.0,
            dynamodb_calls = usage.calls(),
            read_units = usage.read_units(),
            write_units = usage.write_units(),
            "swept",
        );
    }
}
