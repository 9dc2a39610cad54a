//! Moves candidates whose deadline has passed to expired, or to aborted if they had started. Interviews that
//! this service conducts end when they close: the candidate is interviewed, or aborted.
//!
//! Every rule that reads a deadline applies at once; this makes lists and counts follow within a minute or two.

mod interview;

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::future::try_join_all;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::Serialize;
use serde::de::IgnoredAny;
use shared::app::App;
use shared::auth::SystemAccess;
use shared::domain::candidate::{Candidate, CandidateStatus};
use shared::domain::id::{CompanyId, ProjectId};
use shared::domain::transition::project_counts::SHARDS;
use shared::event::leave_to_next_run;
use shared::store::{DuePages, Store, VersionedItem};
use shared::{Error, Result, log_failure, log_run};

/// The duration of one run; the next run continues.
const RUN: Duration = Duration::from_secs(40);
/// Projects of a shard of counts that are processed in parallel.
const PROJECTS: usize = 8;

/// The result of one run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ExpirySummary {
    /// Candidates who had not started.
    pub expired: usize,
    /// Candidates who had started but not finished.
    pub aborted: usize,
    /// Candidates who had answered everything that is required, but not said so.
    pub interviewed: usize,
    /// Candidates that another request moved first.
    pub moved_on: usize,
    /// Candidates who could not be moved; the next run retries them.
    pub failed: usize,
    /// How long the longest overdue candidate had been overdue.
    pub lag_seconds: i64,
    /// Whether work may remain for the next run.
    pub more: bool,
}

/// A candidate before and after the expiry.
type ExpiryMove = (VersionedItem<Candidate>, Candidate);

/// Handles one scheduled run.
///
/// # Errors
/// If the storage cannot be read.
pub async fn handle(app: &App, _: IgnoredAny) -> Result<ExpirySummary> {
    let summary = sweep(app, RUN).await.inspect_err(|error| {
        log_failure!(target: "deadline-expiry", error, "could not sweep");
    });
    leave_to_next_run(summary, ExpirySummary { more: true, ..ExpirySummary::default() })
}

/// Expires candidates for this time, companies in turn, a page of each shard of the counts at least.
///
/// # Errors
/// If the storage cannot be read.
pub async fn sweep(app: &App, time: Duration) -> Result<ExpirySummary> {
    let system = SystemAccess::of(app);
    // No two of these runs write the same counts, whose transactions would conflict.
    let runs =
        (0..SHARDS).map(|counts| expire_due(&system, system.store.due_candidates(counts, system.now), time));
    let runs: Vec<ExpirySummary> = try_join_all(runs).await?;
    let mut summary = ExpirySummary::default();
    runs.into_iter().for_each(|run| summary.add(run));
    let ExpirySummary { expired, aborted, interviewed, moved_on, failed, lag_seconds, more } = summary;
    log_run!(target: "deadline-expiry", system.usage(), expired, aborted, interviewed, moved_on, failed, lag_seconds, more, "swept");
    Ok(summary)
}

async fn expire_due(
    system: &SystemAccess,
    mut due: DuePages<'_, Candidate>,
    time: Duration,
) -> Result<ExpirySummary> {
    let mut summary = ExpirySummary::default();
    while let Some(page) = due.try_next().await? {
        let mut projects: BTreeMap<(CompanyId, ProjectId), Vec<ExpiryMove>> = BTreeMap::new();
        for before in page {
            if before.is_in_interview() {
                summary.add(interview::close(system, before).await);
            } else if let Some(after) = Candidate::clone(&before).expire(system.now) {
                let project = (before.company.clone(), before.project);
                projects.entry(project).or_default().push((before, after));
            }
        }
        let moves = projects.into_values().map(|moves| expire(system, moves));
        let mut parts = stream::iter(moves).buffer_unordered(PROJECTS);
        while let Some(part) = parts.next().await {
            summary.add(part);
        }
        if system.usage().elapsed() >= time {
            summary.more = true;
            break;
        }
    }
    Ok(summary)
}

/// Moves candidates of one project and one shard of its counts: in one transaction, or one by one if that fails.
async fn expire(system: &SystemAccess, moves: Vec<ExpiryMove>) -> ExpirySummary {
    let mut summary = ExpirySummary::default();
    for together in moves.chunks(Store::MAX_TOGETHER) {
        if system.commit(system.store.change_together(together)).await.is_ok() {
            together.iter().for_each(|done| summary.count(done, system.now));
            continue;
        }
        // One that another request has changed must not hold up the others.
        for one in together {
            match system.commit(system.store.change_together(std::slice::from_ref(one))).await {
                Ok(()) => summary.count(one, system.now),
                Err(error) => summary.count_failure(&one.0, &error),
            }
        }
    }
    summary
}

impl ExpirySummary {
    fn count(&mut self, done: &ExpiryMove, now: DateTime<Utc>) {
        match done.1.status {
            CandidateStatus::Aborted => self.aborted += 1,
            CandidateStatus::Interviewed => self.interviewed += 1,
            _ => self.expired += 1,
        }
        let overdue = done.0.expires_at().map_or(0, |end| (now - end).num_seconds());
        self.lag_seconds = self.lag_seconds.max(overdue);
    }

    fn count_failure(&mut self, candidate: &Candidate, error: &Error) {
        if let Error::Changed | Error::NotFound = error {
            self.moved_on += 1;
            return;
        }
        log_failure!(target: "deadline-expiry", error, candidate = %candidate.id, "could not expire the candidate");
        self.failed += 1;
    }

    fn add(&mut self, other: Self) {
        self.expired += other.expired;
        self.aborted += other.aborted;
        self.interviewed += other.interviewed;
        self.moved_on += other.moved_on;
        self.failed += other.failed;
        self.lag_seconds = self.lag_seconds.max(other.lag_seconds);
        self.more |= other.more;
    }
}
