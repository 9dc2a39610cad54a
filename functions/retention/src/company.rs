//! Erases companies at the end of their contract, step by step until nothing is left.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use shared::auth::SystemAccess;
use shared::clock::Pace;
use shared::domain::history::erasure::ErasureReason;
use shared::domain::retention::company_erasure::{
    CompanyErasure, ErasureStep, HeldCandidate, MAX_NAMED, StepResult,
};
use shared::invocation_summary::InvocationSummary as _;
use shared::store::VersionedItem;
use shared::work::{DueWork, due_again};
use shared::{Error, Result};

use crate::RetentionSummary;
use crate::batch;
use crate::limits::{BATCH, InvocationLimits};

/// The number of candidates per read.
const PAGE: usize = 5 * BATCH;

pub(crate) async fn continue_due_erasures(
    work: DueWork<'_>,
    limits: InvocationLimits,
    pace: &Pace,
    summary: &mut RetentionSummary,
) -> Result<()> {
    let system = work.system;
    let due: Vec<Vec<VersionedItem<CompanyErasure>>> =
        system.store.due_company_erasures(system.now).try_collect().await?;
    let due: Vec<VersionedItem<CompanyErasure>> = due.into_iter().flatten().collect();
    // Record all delays first: the first erasure may use up all the time.
    due.iter()
        .filter_map(|erasure| erasure.work.indexed_at())
        .for_each(|at| summary.note_delay(at, system.now));
    work.run_together(1, due_again(due), summary, |due| async move {
        let mut ended = RetentionSummary::default();
        for erasure in due {
            let ends_at = limits.time.min(system.usage().elapsed().saturating_add(limits.company_time));
            let summary = &mut ended;
            let eraser = CompanyEraser { system, erasure: erasure.clone(), ends_at, pace, summary };
            let result = eraser.run().await;
            ended.note_result(work.name, &erasure, result);
        }
        ended
    })
    .await
}

struct CompanyEraser<'a> {
    system: &'a SystemAccess,
    erasure: VersionedItem<CompanyErasure>,
    /// When the company's turn ends, measured from the start of the invocation.
    ends_at: Duration,
    pace: &'a Pace,
    summary: &'a mut RetentionSummary,
}

impl CompanyEraser<'_> {
    /// Takes steps until nothing is left, a step must wait, or the time is over. Fails with [`Error::Changed`] if
    /// another worker continues the erasure.
    async fn run(mut self) -> Result<()> {
        let now = self.system.now;
        self.save(CompanyErasure::clone(&self.erasure).lease(now)).await?;
        loop {
            let Some((step, result)) = self.take_steps().await? else {
                self.summary.companies += 1;
                return self.save(CompanyErasure::clone(&self.erasure).ended(now)).await;
            };
            let is_over = self.is_over();
            if is_over || result != StepResult::Worked {
                self.summary.more |= is_over;
                return self.save(CompanyErasure::clone(&self.erasure).release(step, result, now)).await;
            }
        }
    }

    /// Takes steps in order, up to the first that is not clear. Returns `None` if all are clear.
    // The remaining items show which steps are left, so no position needs to be stored for interrupted invocations.
    async fn take_steps(&mut self) -> Result<Option<(ErasureStep, StepResult)>> {
        for step in ErasureStep::ALL {
            let result = match self.take_step(step).await {
                // A request in progress was faster.
                Err(Error::Changed | Error::NotFound) => StepResult::Worked,
                result => result?,
            };
            if result != StepResult::Clear {
                return Ok(Some((step, result)));
            }
        }
        Ok(None)
    }

    async fn take_step(&mut self, step: ErasureStep) -> Result<StepResult> {
        let SystemAccess { store, now, .. } = self.system;
        let company = &self.erasure.company;
        Ok(match step {
            ErasureStep::Access => worked_if(store.end_access(company).await?),
            ErasureStep::Candidates => self.erase_candidates().await?,
            ErasureStep::Projects => self.erase_projects().await?,
            ErasureStep::Videos => worked_if(store.erase_videos(company, *now).await?),
            ErasureStep::Labels => worked_if(store.erase_labels(company, *now).await?),
            ErasureStep::Customers => worked_if(store.erase_customers(company, *now).await?),
            ErasureStep::Outbox => waiting_unless(store.is_outbox_done(company, *now).await?),
            ErasureStep::Deliveries => waiting_unless(
                self.erasure.may_give_up_deliveries(*now) || store.has_delivered_all(company).await?,
            ),
            ErasureStep::Webhooks => store.erase_webhooks(company, *now).await?,
            ErasureStep::Histories => store.erase_histories(company).await?,
            ErasureStep::Company => worked_if(store.erase_company_partition(company).await?),
        })
    }

    /// Erases the candidates of all projects, except those on hold.
    async fn erase_candidates(&mut self) -> Result<StepResult> {
        let store = &self.system.store;
        let mut held = Vec::new();
        let mut found = 0;
        let mut erased = 0;
        for project in store.all_projects(&self.erasure.company).await? {
            let mut last = None;
            loop {
                let page = store.candidates_after(&project, last, PAGE).await?;
                let Some(candidate) = page.last() else { break };
                last = Some(candidate.id);
                let (on_hold, free): (Vec<_>, Vec<_>) =
                    page.into_iter().partition(|candidate| candidate.hold_at(self.system.now).is_some());
                held.extend(
                    on_hold.iter().map(|held| HeldCandidate { project: held.project, candidate: held.id }),
                );
                held.truncate(MAX_NAMED);
                for candidates in free.chunks(BATCH) {
                    self.pace.wait().await;
                    let batch =
                        batch::erase(self.system, candidates.to_vec(), ErasureReason::CompanyClosed).await;
                    self.summary.of_companies += batch.erased;
                    self.summary.failed += batch.failed.len();
                    found += candidates.len();
                    erased += batch.erased;
                    if self.is_over() {
                        return Ok(StepResult::Worked);
                    }
                }
            }
        }
        Ok(match (found, erased) {
            (0, _) if held.is_empty() => StepResult::Clear,
            (0, _) => StepResult::Held(held),
            (_, 0) => StepResult::Waiting,
            _ => StepResult::Worked,
        })
    }

    /// Erases the projects. Their candidates are erased already.
    async fn erase_projects(&mut self) -> Result<StepResult> {
        let store = &self.system.store;
        let company = &self.erasure.company;
        let now = self.system.now;
        // Wait: a request in progress could still create candidates in an erased project, and the outbox counts erased
        // candidates in their projects.
        if !self.erasure.is_quiet(now) || !store.is_outbox_done(company, now).await? {
            return Ok(StepResult::Waiting);
        }
        let projects = store.all_projects(company).await?;
        for project in &projects {
            store.erase_project(project).await?;
            if self.is_over() {
                break;
            }
        }
        Ok(worked_if(!projects.is_empty()))
    }

    async fn save(&mut self, after: CompanyErasure) -> Result<()> {
        self.erasure = self.system.store.update_company_erasure(&self.erasure, after).await?;
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.system.usage().elapsed() >= self.ends_at
    }
}

fn worked_if(has_worked: bool) -> StepResult {
    if has_worked { StepResult::Worked } else { StepResult::Clear }
}

fn waiting_unless(is_done: bool) -> StepResult {
    if is_done { StepResult::Clear } else { StepResult::Waiting }
}
