//! Acting on many candidates, on each in one transaction. What an earlier run of the same request has done is not done again.

use std::collections::HashMap;

use shared::domain::candidate::Candidate;
use shared::domain::id::CandidateId;
use shared::domain::transition::{CandidateChange, PROJECT_NOT_RUNNING};
use shared::http::IdempotentRun;
use shared::http::wire::Uri;
use shared::store::{RetryPolicy, VersionedItem};
use shared::{Error, Result};

use super::plan::Planner;
use super::request::BulkRequest;
use super::selection::Selection;
use super::{BulkAccess, EntryResult};
use crate::entries::dry_run;
use crate::entries::lanes::{EntryOutcome, LaneEntry, do_in_lanes};

/// The link to the interview of a candidate, as long as it is open.
type InterviewLink = Option<Uri>;

/// Acts on all candidates of the selection. Returns the results in its order.
pub(super) async fn apply(
    access: &BulkAccess,
    request: &BulkRequest,
    selection: &Selection,
    run: &IdempotentRun,
) -> Result<Vec<EntryResult>> {
    let context = BulkContext { access, run, planner: Planner::new(access, request) };
    let mut settled = context.done_before(selection).await?;
    let mut open = Vec::new();
    for (index, candidate) in selection.candidates.iter().enumerate() {
        match candidate {
            _ if settled.contains_key(&index) => {}
            None => drop(settled.insert(index, EntryOutcome::Failed(Error::NotFound))),
            Some(candidate) => open.push(LaneEntry { index, candidate: *candidate, work: () }),
        }
    }
    settled.extend(do_in_lanes(access, open, |entry| context.act(entry.index, entry.candidate)).await);
    let candidates = selection.candidates.iter().enumerate();
    let results = candidates.filter_map(|(index, candidate)| {
        Some(EntryResult { candidate: *candidate, outcome: settled.remove(&index)? })
    });
    Ok(results.collect())
}

/// Says what would become of the candidates of the selection as things stand, and how many mails they would get.
pub(super) async fn judge(
    access: &BulkAccess,
    request: &BulkRequest,
    selection: &Selection,
) -> Result<(Vec<EntryResult>, usize)> {
    let planner = Planner::new(access, request);
    let ids = selection.candidates.iter().flatten().copied();
    let found = access.store.candidates(access.company_id(), access.target.project.id, ids).await?;
    let mut mails = 0;
    let mut judge = |candidate: &Candidate| {
        let plan = planner.plan(candidate);
        mails += usize::from(plan.change.as_ref().is_some_and(dry_run::is_mailed));
        plan.refusal.map_or(EntryOutcome::Done(None), EntryOutcome::Failed)
    };
    let results = selection.candidates.iter().map(|id| {
        let candidate = id.as_ref().and_then(|id| found.get(id));
        let outcome = candidate.map_or(EntryOutcome::Failed(Error::NotFound), |candidate| judge(candidate));
        EntryResult { candidate: *id, outcome }
    });
    Ok((results.collect(), mails))
}

/// What all entries have in common.
struct BulkContext<'a> {
    access: &'a BulkAccess,
    run: &'a IdempotentRun,
    planner: Planner<'a>,
}

impl BulkContext<'_> {
    /// The entries that earlier runs of the same request have done.
    async fn done_before(
        &self,
        selection: &Selection,
    ) -> Result<HashMap<usize, EntryOutcome<InterviewLink>>> {
        let done = self.run.done_entries().await?;
        let id = |index: &usize| selection.candidates.get(*index).copied().flatten();
        let found = self.candidates(done.iter().filter_map(id)).await?;
        let outcome = |index: usize| {
            let candidate = id(&index).and_then(|id| found.get(&id));
            (index, EntryOutcome::Done(candidate.and_then(|candidate| self.link(candidate))))
        };
        Ok(done.into_iter().map(outcome).collect())
    }

    async fn candidates(
        &self,
        ids: impl Iterator<Item = CandidateId>,
    ) -> Result<HashMap<CandidateId, VersionedItem<Candidate>>> {
        self.run.store.candidates(self.access.company_id(), self.access.target.project.id, ids).await
    }

    /// Acts on one candidate, again after each write of others that came between. Fails with [`Error::Changed`] after too many.
    async fn act(&self, index: usize, id: CandidateId) -> Result<InterviewLink> {
        let acted = self.run.store.retry_on_conflict(RetryPolicy::CHANGE, || self.act_once(index, id)).await;
        acted.flatten().inspect_err(|error| {
            if error.status().is_server_error() {
                tracing::warn!(target: "bulk", candidate = %id, %error, "an entry was not done");
            }
        })
    }

    /// The inner result is final. The outer error may be one of a concurrent write.
    async fn act_once(&self, index: usize, id: CandidateId) -> Result<Result<InterviewLink>> {
        let company = self.access.company_id();
        let read = || self.run.store.candidate(company, self.access.target.project.id, id);
        let Some(before) = read().await? else { return Ok(Err(Error::NotFound)) };
        let plan = self.planner.plan(&before);
        match (plan.change, plan.refusal) {
            (None, None) => Ok(Ok(self.link(&before))),
            // Refused because of what another run of the request has made of the candidate.
            (_, Some(_)) if self.run.is_done(index).await? => Ok(Ok(self.link(&before))),
            (change, Some(refusal)) => {
                self.keep_deadline(&before, change).await?;
                Ok(Err(refusal))
            }
            (Some(change), None) => {
                let writes = self.run.store.change_candidate(&before, &change, self.access.now);
                match self.run.commit_entry(index, writes).await {
                    Ok(true) => Ok(Ok(self.link(&change.candidate))),
                    // A run of the same request that this one was thought to have succeeded has done it.
                    Ok(false) => Ok(Ok(read().await?.and_then(|candidate| self.link(&candidate)))),
                    // The project was read when the request began, and may have stopped since.
                    Err(Error::Refused(PROJECT_NOT_RUNNING)) => {
                        let deadline = self.planner.deadline_change(&before)?;
                        self.keep_deadline(&before, deadline).await?;
                        Ok(Err(PROJECT_NOT_RUNNING.into()))
                    }
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// Writes the new deadline of a candidate whose advance is refused.
    // Without a mark: to set it again changes nothing.
    async fn keep_deadline(
        &self,
        before: &VersionedItem<Candidate>,
        deadline: Option<CandidateChange>,
    ) -> Result<()> {
        match deadline {
            Some(change) => {
                self.run.commit(self.run.store.change_candidate(before, &change, self.access.now)).await
            }
            None => Ok(()),
        }
    }

    fn link(&self, candidate: &Candidate) -> InterviewLink {
        self.access.references().interview_url(candidate, &self.access.target.project)
    }
}
