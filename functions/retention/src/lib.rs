//! Erases candidates: those whose erasure request is due, those whose retention time is over, and all of a company at
//! the end of its contract, with everything else of the company. Deletes named tokens that expired 30 days ago.
//!
//! Every erasure uses the transaction of a manager's deletion, so that neither a hold nor a file is missed. The kinds
//! of work run concurrently: erasures share one pace, and companies take turns.
//!
//! A retention run passes over the candidates of a company once a night, project by project in the order of their keys.
//! The whole state of a run is one item: a cursor (all candidates up to it are done), the counts, and the batch that is being
//! erased. The run saves a batch before erasing its first candidate, and advances the cursor only after a whole page. A
//! lease, longer than any invocation, keeps a second worker from the run. If the run is interrupted, another invocation
//! continues it after the lease: it counts the erased candidates of the saved batch, and reads the page again.
//!
//! Clients keep changing candidates and rules. So the run reads policy and project again before each batch, and the
//! deletion requires that the candidate is unchanged. A candidate who has changed or is on hold waits for the next
//! night.

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
        /// Candidates erased because their request was due.
        pub requested: usize,
        /// Requests postponed by a day because of a hold.
        pub postponed: usize,
        /// Candidates erased because their retention time was over.
        pub erased: usize,
        /// Completed retention runs.
        pub runs: usize,
        /// Candidates erased with their company.
        pub of_companies: usize,
        /// Companies completely erased.
        pub companies: usize,
        /// Named tokens deleted after they had expired.
        pub tokens: usize,
        /// How long the most overdue request, run or token has been overdue, in seconds.
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

/// Erases what is due, within `limits`.
///
/// # Errors
/// If the storage cannot be read.
pub async fn run(app: &App, limits: InvocationLimits) -> Result<RetentionSummary> {
    let system = SystemAccess::of(app).with_patience(limits.patience());
    // One pace for all kinds of work, whose batches take turns.
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
            // Other companies come first.
            Some(Some(stopped)) => due.push_back(stopped),
            None => {}
        }
        // Check the time only after a turn, so that runs always progress.
        if work.is_over() {
            summary.more |= !due.is_empty();
            break;
        }
    }
    Ok(())
}
