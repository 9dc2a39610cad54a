//! One lane: some shards of the index, in sequence. Lanes run in parallel.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use shared::auth::SystemAccess;
use shared::domain::candidate::{Candidate, CandidateStatus};
use shared::domain::id::{CompanyId, ProjectId};
use shared::store::{DueCursor, Store, VersionedItem};
use shared::{Error, Result};

use crate::ExpirySummary;

/// The duration of one run.
const RUN: Duration = Duration::from_secs(40);
/// Projects of a lane that are processed in parallel.
const PROJECTS: usize = 8;

/// The number of candidates that a run may still read.
pub(crate) struct ReadBudget(AtomicUsize);

impl ReadBudget {
    pub(crate) fn new(limit: usize) -> Self {
        Self(AtomicUsize::new(limit))
    }

    /// Takes up to `wanted` candidates from the budget.
    fn take(&self, wanted: usize) -> usize {
        let take = |left: usize| Some(left - left.min(wanted));
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).map_or(0, |left| left.min(wanted))
    }
}

/// A candidate before and after the expiry.
type ExpiryMove = (VersionedItem<Candidate>, Candidate);

pub(crate) async fn run(
    system: &SystemAccess,
    budget: &ReadBudget,
    shards: impl Iterator<Item = DueCursor>,
) -> Result<ExpirySummary> {
    let mut summary = ExpirySummary::default();
    for first in shards {
        let mut page = Some(first);
        while let Some(cursor) = page {
            let due = system.store.due_candidates(cursor).await?;
            let room = budget.take(due.seen);
            if room < due.seen || system.usage().elapsed() > RUN {
                summary.more = true;
            }
            let mut projects: BTreeMap<(CompanyId, ProjectId), Vec<ExpiryMove>> = BTreeMap::new();
            for before in due.rows.into_iter().take(room) {
                if let Some(after) = Candidate::clone(&before).expire(system.now) {
                    let project = (before.company.clone(), before.project);
                    projects.entry(project).or_default().push((before, after));
                }
            }
            let projects: Vec<_> = projects.into_values().collect();
            for group in projects.chunks(PROJECTS) {
                let parts = group.iter().map(|moves| expire(system, moves));
                join_all(parts).await.into_iter().for_each(|part| summary.add(part));
            }
            page = due.next;
            if summary.more {
                return Ok(summary);
            }
        }
    }
    Ok(summary)
}

/// Moves candidates of one project and one tally shard: in one transaction, or one by one if that fails.
async fn expire(system: &SystemAccess, moves: &[ExpiryMove]) -> ExpirySummary {
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
                Err(Error::Changed | Error::NotFound) => summary.moved_on += 1,
                Err(error) => {
                    let candidate = one.0.id;
                    tracing::error!(target: "deadline-expiry", %candidate, %error, "not moved");
                    summary.failed += 1;
                }
            }
        }
    }
    summary
}

impl ExpirySummary {
    fn count(&mut self, (before, after): &ExpiryMove, now: DateTime<Utc>) {
        match after.status {
            CandidateStatus::Aborted => self.aborted += 1,
            _ => self.expired += 1,
        }
        let overdue = before.profile.deadline.map_or(0, |deadline| (now - deadline).num_seconds());
        self.lag_seconds = self.lag_seconds.max(overdue);
    }
}
