//! A company's retention run: passes over its candidates in the order of their keys, and survives crashes.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use shared::auth::SystemAccess;
use shared::clock::Pace;
use shared::domain::candidate::Candidate;
use shared::domain::history::erasure::ErasureReason;
use shared::domain::id::ProjectId;
use shared::domain::retention::RetentionVerdict;
use shared::domain::retention::review::RetentionReview;
use shared::domain::retention::run::{ErasureBatch, RetentionRun, RunCounts};
use shared::store::{RetryPolicy, ReviewPage, VersionedItem};
use shared::{Error, Result};

use crate::RetentionSummary;
use crate::batch::{self, BatchResult};
use crate::limits::{BATCH, InvocationLimits};

/// Continues a company's run until it ends or the time is over; returns the run if it has not ended. Fails with
/// [`Error::Changed`](shared::Error::Changed) if another worker continues the run.
pub(crate) async fn continue_run(
    system: &SystemAccess,
    limits: InvocationLimits,
    pace: &Pace,
    stored: VersionedItem<RetentionRun>,
    summary: &mut RetentionSummary,
) -> Result<Option<VersionedItem<RetentionRun>>> {
    let run = RetentionRun::clone(&stored).lease(system.now);
    let ends_at = limits.time.min(system.usage().elapsed().saturating_add(limits.company_time));
    let mut walk = RetentionWalk { system, stored, run, ends_at, pace, summary };
    // The lease is longer than any invocation, so two workers never work on one run.
    walk.save().await?;
    walk.settle().await?;
    if walk.look_at_all().await? {
        walk.complete().await?;
        return Ok(None);
    }
    // The rest of the run is due at once.
    walk.run = walk.run.release(system.now);
    walk.save().await?;
    Ok(Some(walk.stored))
}

struct RetentionWalk<'a> {
    system: &'a SystemAccess,
    stored: VersionedItem<RetentionRun>,
    /// The run with unsaved changes.
    run: RetentionRun,
    /// When the company's turn ends, measured from the start of the invocation.
    ends_at: Duration,
    pace: &'a Pace,
    summary: &'a mut RetentionSummary,
}

impl RetentionWalk<'_> {
    /// Counts the candidates that an interrupted invocation has erased.
    async fn settle(&mut self) -> Result<()> {
        if let Some(batch) = self.run.erasing.take() {
            let erased = self.system.store.count_erased(&self.run.company, &batch, self.system.now).await?;
            self.run.counts.count_erased(erased);
            self.save().await?;
        }
        Ok(())
    }

    /// Processes the candidates after the cursor. Returns false if the time is over before the end.
    async fn look_at_all(&mut self) -> Result<bool> {
        let store = &self.system.store;
        let review = store.review_of_run(&self.run.company, self.system.now).await?;
        let mut pages = store.review_pages(&review, self.run.cursor);
        while let Some(page) = pages.try_next().await? {
            let cursor = page.cursor;
            if !page.candidates.is_empty() {
                let Some(counts) = self.look_at_page(&review, page).await? else { return Ok(false) };
                // Save the cursor only after the whole page: after a crash, the page is read and counted again.
                self.run.counts.add(counts);
                self.run.cursor = Some(cursor);
                self.save().await?;
            }
            self.run.cursor = Some(cursor);
            if self.is_over() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Erases the due candidates of a page and counts the others. Returns `None` if the time is over before the end.
    async fn look_at_page(
        &mut self,
        review: &RetentionReview,
        page: ReviewPage,
    ) -> Result<Option<RunCounts>> {
        let mut counts = RunCounts::default();
        let mut due = Vec::new();
        for candidate in page.candidates {
            match review.judge(&candidate, &page.project) {
                RetentionVerdict::Due => due.push(candidate),
                verdict => counts.count(verdict),
            }
        }
        for (index, batch) in due.chunks(BATCH).enumerate() {
            // At least one batch per turn, so that every company progresses.
            if index > 0 && self.is_over() {
                return Ok(None);
            }
            self.pace.wait().await;
            self.erase(page.project.id, batch, &mut counts).await?;
        }
        Ok(Some(counts))
    }

    /// Erases the candidates of a batch who are still due, and counts the others in `counts`.
    async fn erase(
        &mut self,
        project: ProjectId,
        batch: &[VersionedItem<Candidate>],
        counts: &mut RunCounts,
    ) -> Result<()> {
        let SystemAccess { store, now, .. } = self.system;
        let company = self.run.company.clone();
        // Read the current rules. They are not conditions of the deletions, which would then conflict with each other.
        let Some((review, project)) = store.review_of_project(&company, project, *now).await? else {
            return Ok(());
        };
        let mut due = Vec::with_capacity(batch.len());
        for candidate in batch {
            match review.judge(candidate, &project) {
                RetentionVerdict::Due => due.push(candidate.clone()),
                verdict => counts.count(verdict),
            }
        }
        if due.is_empty() {
            return Ok(());
        }
        // Save the batch before the first erasure: after a crash, the erased candidates are counted.
        let candidates = due.iter().map(|candidate| candidate.id).collect();
        self.run.erasing = Some(ErasureBatch { project: project.id, candidates });
        self.save().await?;
        let number = due.len();
        let BatchResult { mut erased, moved_on, failed } =
            batch::erase(self.system, due, ErasureReason::Retention).await;
        if !failed.is_empty() {
            // A candidate may be erased despite the error, because the response was lost.
            let failed = ErasureBatch { project: project.id, candidates: failed };
            erased += store.count_erased(&company, &failed, *now).await?;
        }
        self.run.erasing = None;
        self.run.counts.count_erased(erased);
        counts.looked_at += (number - erased) as u64;
        self.summary.erased += erased;
        self.summary.moved_on += moved_on;
        self.summary.failed += number - erased - moved_on;
        Ok(())
    }

    async fn complete(&mut self) -> Result<()> {
        let SystemAccess { store, now, .. } = self.system;
        let id = &self.run.company;
        let company = store.company(id).await?.ok_or_else(|| Error::internal("a run without a company"))?;
        let next = self.run.clone().completed(&company, *now);
        // The write records the run in the policy's history, and fails if a client changes the policy in the meantime;
        // then read it again.
        let complete = async || {
            let policy = store.retention_policy(id).await?;
            self.system.commit(store.complete_retention_run(&self.stored, &next, policy.as_ref())).await
        };
        store.retry_on_conflict(RetryPolicy::CHANGE, complete).await
    }

    async fn save(&mut self) -> Result<()> {
        self.stored = self.system.store.update_retention_run(&self.stored, self.run.clone()).await?;
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.system.usage().elapsed() >= self.ends_at
    }
}
