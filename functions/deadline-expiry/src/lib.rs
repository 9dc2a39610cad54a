//! Moves candidates whose deadline has passed to expired, or to aborted if they had started.
//!
//! Every rule that reads a deadline applies at once; this makes lists and counts follow within a minute or two.

mod lane;

use futures_util::future::try_join_all;
use serde::Serialize;
use serde::de::IgnoredAny;
use shared::Result;
use shared::app::App;
use shared::auth::SystemAccess;
use shared::domain::project_counts::SHARDS;
use shared::store::{DueCursor, DueQueue};

use lane::ReadBudget;

/// The maximum number of candidates per run; the next run continues.
const LIMIT: usize = 20_000;

/// The result of one run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ExpirySummary {
    /// Candidates who had not started.
    pub expired: usize,
    /// Candidates who had started but not finished.
    pub aborted: usize,
    /// Candidates that another request moved first.
    pub moved_on: usize,
    /// Candidates who could not be moved; the next run retries them.
    pub failed: usize,
    /// How long the longest overdue candidate had been overdue.
    pub lag_seconds: i64,
    /// Whether work remains for the next run.
    pub more: bool,
}

/// Handles one scheduled run.
///
/// # Errors
/// If the storage cannot be read.
pub async fn handle(app: &App, _: IgnoredAny) -> Result<ExpirySummary> {
    let summary = sweep(app, LIMIT).await;
    if let Err(error) = &summary {
        tracing::error!(target: "deadline-expiry", %error, "the sweep failed");
    }
    summary
}

/// Expires up to `limit` candidates, the longest overdue ones first.
///
/// # Errors
/// If the storage cannot be read.
pub async fn sweep(app: &App, limit: usize) -> Result<ExpirySummary> {
    let system = SystemAccess::of(app);
    let budget = ReadBudget::new(limit);
    // The candidate's identifier determines both kinds of shards, so no two lanes write the same tally.
    let shards = |lane| {
        DueCursor::all(DueQueue::Candidates, system.now).filter(move |page| page.shard() % SHARDS == lane)
    };
    let lanes = (0..SHARDS).map(|lane| lane::run(&system, &budget, shards(lane)));
    let mut summary = ExpirySummary::default();
    for lane in try_join_all(lanes).await? {
        summary.add(lane);
    }
    summary.log(&system);
    Ok(summary)
}

impl ExpirySummary {
    fn add(&mut self, other: Self) {
        self.expired += other.expired;
        self.aborted += other.aborted;
        self.moved_on += other.moved_on;
        self.failed += other.failed;
        self.lag_seconds = self.lag_seconds.max(other.lag_seconds);
        self.more |= other.more;
    }

    fn log(&self, system: &SystemAccess) {
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
