//! Erases candidates: those whose request for erasure is due, those whom the retention of their company or project keeps
//! no longer, and at the end of a contract all of a company, with everything else of it. Deletes named tokens that expired 30
//! days ago.
//!
//! All candidates go through the transaction of a manager's deletion, so that nothing can be missed: not the hold, not a
//! file. The kinds of work run side by side: those that erase share one pace, and companies take turns in each.
//!
//! A retention run passes over the candidates of a company once a night, project by project in the order of
//! their keys. Its item in the table is all that it knows: a cursor (the candidates up to it are done), the
//! counts so far, and the batch of candidates whom it is about to erase. It notes a batch before it erases
//! the first of them, and moves the cursor only after a whole page. A lease, longer than any invocation,
//! keeps two workers from one run. If the run breaks off, another invocation continues it after the lease: it
//! counts those of the noted batch whom the service has erased, and reads the page again.
//!
//! Clients go on changing candidates and rules. So the run reads policy and project again before each batch,
//! and the deletion requires the candidate as it was read. A candidate who has changed since, or was put on
//! hold, stays for the next night.

mod batch;
mod company;
mod limits;
mod requests;
mod tokens;
mod walk;

use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use futures_util::TryStreamExt as _;
use futures_util::future::join4;
use serde::de::IgnoredAny;
use shared::app::App;
use shared::auth::SystemAccess;
use shared::clock::Pace;
use shared::domain::retention::run::RetentionRun;
use shared::event::leave_to_next_invocation;
use shared::invocation_summary::InvocationSummary;
use shared::store::VersionedItem;
use shared::work::DueWork;
use shared::{Result, invocation_summary, log_failure};

pub use limits::InvocationLimits;

invocation_summary! {
    "retention", "erased";
    /// The result of one invocation.
    pub struct RetentionSummary {
        /// Candidates who were erased since their request was due.
        pub requested: usize,
        /// Requests that were moved to the next day by a hold.
        pub postponed: usize,
        /// Candidates who were erased since they were kept long enough.
        pub erased: usize,
        /// Retention runs that have ended.
        pub runs: usize,
        /// Candidates who were erased with their company.
        pub of_companies: usize,
        /// Companies whose erasure has ended.
        pub companies: usize,
        /// Named tokens that were deleted because they had expired.
        pub tokens: usize,
        /// How long the longest overdue request, run or token has been overdue.
        pub retention_delay_seconds: i64,
    }
}

impl RetentionSummary {
    fn note_delay(&mut self, planned_at: DateTime<Utc>, now: DateTime<Utc>) {
        self.retention_delay_seconds = self.retention_delay_seconds.max((now - planned_at).num_seconds());
    }
}

/// Handles one scheduled invocation.
///
/// # Errors
/// If the storage cannot be read.
pub async fn handle(app: &App, _: IgnoredAny) -> Result<RetentionSummary> {
    let summary = run(app, InvocationLimits::SCHEDULED).await.inspect_err(|error| {
        log_failure!(target: "retention", error, "could not run");
    });
    leave_to_next_invocation(summary)
}

/// Erases the candidates that are due, within `limits`.
///
/// # Errors
/// If the storage cannot be read.
pub async fn run(app: &App, limits: InvocationLimits) -> Result<RetentionSummary> {
    let system = SystemAccess::of(app).with_patience(limits.patience());
    // One for all kinds of work, whose batches take turns.
    let pace = system.start_pace(limits.pause);
    let mut kinds = [RetentionSummary::default(); 4];
    let [of_requests, of_runs, of_companies, of_tokens] = &mut kinds;
    let work = |name| DueWork { system: &system, name, time: limits.time };
    let results = join4(
        requests::erase_due(work("requests for erasure"), &pace, of_requests),
        continue_due_runs(work("retention runs"), limits, &pace, of_runs),
        company::continue_due_erasures(work("erasures of companies"), limits, &pace, of_companies),
        tokens::delete_due(work("tokens"), of_tokens),
    );
    let (requests, runs, companies, tokens) = results.await;
    let mut summary = RetentionSummary::default();
    kinds.into_iter().for_each(|kind| summary.add(kind));
    summary.log(system.usage());
    requests.and(runs).and(companies).and(tokens).map(|()| summary)
}

async fn continue_due_runs(
    work: DueWork<'_>,
    limits: InvocationLimits,
    pace: &Pace,
    summary: &mut RetentionSummary,
) -> Result<()> {
    let system = work.system;
    let pages: Vec<Vec<VersionedItem<RetentionRun>>> =
        system.store.due_retention_runs(system.now).try_collect().await?;
    let mut due: Vec<VersionedItem<RetentionRun>> = pages.into_iter().flatten().collect();
    due.sort_by_key(|run| run.work.indexed_at());
    for run in &due {
        summary.note_delay(run.planned_at, system.now);
    }
    let mut due = VecDeque::from(due);
    while let Some(run) = due.pop_front() {
        let walked = walk::continue_run(system, limits, pace, run.clone(), summary).await;
        match summary.note_result(work.name, &run, walked) {
            Some(None) => summary.runs += 1,
            // The company's next turn comes after that of the others.
            Some(Some(stopped)) => due.push_back(stopped),
            None => {}
        }
        // The time is checked after one turn at least, so that runs get further in any case.
        if work.is_over() {
            summary.more |= !due.is_empty();
            break;
        }
    }
    Ok(())
}
