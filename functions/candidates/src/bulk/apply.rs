//! Acts on many candidates, in one transaction each. Skips entries that an earlier attempt at the request has done.

use std::collections::HashMap;

use shared::domain::candidate::Candidate;
use shared::domain::id::CandidateId;
use shared::domain::transition::{CandidateChange, PROJECT_NOT_RUNNING};
use shared::http::RequestAttempt;
use shared::store::{RetryPolicy, VersionedItem};
use shared::{Error, Result};

use super::plan::{EntryPlan, Planner};
use super::request::BulkRequest;
use super::selection::Selection;
use super::{ActedEntry, BulkAccess, EntryResult};
use crate::action::writes_of;
use crate::entries::dry_run;
use crate::entries::lanes::{EntryOutcome, LaneEntry, do_in_lanes};

/// Acts on all candidates of the selection. Returns the results in the order of the selection.
pub(super) async fn apply(
    access: &BulkAccess,
    request: &BulkRequest,
    selection: &Selection,
    attempt: &RequestAttempt,
) -> Result<Vec<EntryResult>> {
    let context = BulkContext { access, attempt, planner: Planner::new(access, request) };
    // Read candidates before marks, so that every entry that an earlier attempt has changed in the candidates read has
    // its mark.
    let company = access.company_id();
    let ids = selection.candidates.iter().flatten().copied();
    let mut found = attempt.store.candidates(company, access.target.project.id, ids).await?;
    let done = attempt.done_entries().await?;
    // Finish entries without a write at once: they must not wait for up to a thousand paced entries.
    let (mut settled, mut open) = (HashMap::new(), Vec::new());
    for (index, id) in selection.candidates.iter().enumerate() {
        let before = id.and_then(|id| found.remove(&id));
        let outcome = match before {
            None if done.contains(&index) => EntryOutcome::Done(ActedEntry::of_deleted()),
            None => EntryOutcome::Failed(Error::NotFound),
            Some(before) if done.contains(&index) => EntryOutcome::Done(context.acted(&before, None).await?),
            Some(before) => match context.planner.plan(&before).await {
                EntryPlan { change: None, refusal } => {
                    EntryOutcome::Done(context.acted(&before, refusal).await?)
                }
                EntryPlan { change: Some(_), .. } => {
                    open.push(LaneEntry { index, candidate: before.id, work: before });
                    continue;
                }
            },
        };
        settled.insert(index, outcome);
    }
    settled.extend(do_in_lanes(access, open, |entry| context.act(entry.index, entry.work)).await);
    let candidates = selection.candidates.iter().enumerate();
    let results = candidates.filter_map(|(index, candidate)| {
        Some(EntryResult { candidate: *candidate, outcome: settled.remove(&index)? })
    });
    Ok(results.collect())
}

/// Reports what the action would do to the selected candidates now, and how many mails they would get.
pub(super) async fn judge(
    access: &BulkAccess,
    request: &BulkRequest,
    selection: &Selection,
) -> Result<(Vec<EntryResult>, usize)> {
    let planner = Planner::new(access, request);
    let ids = selection.candidates.iter().flatten().copied();
    let found = access.store.candidates(access.company_id(), access.target.project.id, ids).await?;
    let mut mails = 0;
    let mut results = Vec::with_capacity(selection.candidates.len());
    for id in &selection.candidates {
        let outcome = match id.as_ref().and_then(|id| found.get(id)) {
            Some(candidate) => {
                let plan = planner.plan(candidate).await;
                mails += usize::from(plan.change.as_ref().is_some_and(dry_run::is_mailed));
                let has_deadline = planner.has_deadline(plan.after(candidate));
                EntryOutcome::Done(ActedEntry { refusal: plan.refusal, link: None, has_deadline })
            }
            None => EntryOutcome::Failed(Error::NotFound),
        };
        results.push(EntryResult { candidate: *id, outcome });
    }
    Ok((results, mails))
}

impl ActedEntry {
    /// The result for a candidate who was deleted after the action.
    fn of_deleted() -> Self {
        Self { refusal: None, link: None, has_deadline: false }
    }
}

struct BulkContext<'a> {
    access: &'a BulkAccess,
    attempt: &'a RequestAttempt,
    planner: Planner<'a>,
}

impl BulkContext<'_> {
    /// Acts on a candidate who was read as `before`; retries after concurrent changes. Fails with [`Error::Changed`]
    /// after too many retries.
    async fn act(&self, index: usize, before: VersionedItem<Candidate>) -> Result<ActedEntry> {
        let id = before.id;
        let acted = match self.act_as_read(index, &before).await {
            Err(Error::Changed | Error::NotFound) => {
                self.attempt.store.retry_on_conflict(RetryPolicy::CHANGE, || self.act_anew(index, id)).await
            }
            acted => acted,
        };
        acted.inspect_err(|error| {
            if error.status().is_server_error() {
                tracing::warn!(target: "bulk", candidate = %id, %error, "an entry was not done");
            }
        })
    }

    async fn act_anew(&self, index: usize, id: CandidateId) -> Result<ActedEntry> {
        match self.read(id).await? {
            Some(before) => self.act_as_read(index, &before).await,
            None => Ok(ActedEntry { refusal: Some(Error::NotFound), ..ActedEntry::of_deleted() }),
        }
    }

    /// Acts on the candidate once. Fails with [`Error::Changed`] or [`Error::NotFound`] if another request has written
    /// the candidate since `before`.
    async fn act_as_read(&self, index: usize, before: &VersionedItem<Candidate>) -> Result<ActedEntry> {
        let EntryPlan { change, refusal } = self.planner.plan(before).await;
        match (change, refusal) {
            (Some(change), None) => {
                // Make the result before the write: otherwise a written entry might be reported as failed.
                let acted = self.acted(&change.candidate, None).await?;
                let writes = writes_of(self.access, &self.attempt.store, before, &change).await?;
                match self.attempt.commit_entry(index, writes).await {
                    Ok(true) => Ok(acted),
                    // A concurrent attempt at the same request has done the entry.
                    Ok(false) => match self.read(before.id).await? {
                        Some(now) => self.acted(&now, None).await,
                        None => Ok(ActedEntry::of_deleted()),
                    },
                    // The project was read at the beginning of the request and may have stopped since.
                    Err(Error::Refused(PROJECT_NOT_RUNNING)) => {
                        let deadline = self.planner.deadline_change(before).await?;
                        self.refuse(before, deadline, PROJECT_NOT_RUNNING.into()).await
                    }
                    Err(error) => Err(error),
                }
            }
            // The refusal comes from the change that another attempt at this request has made.
            (_, Some(_)) if self.attempt.is_done(index).await? => self.acted(before, None).await,
            (deadline, Some(refusal)) => self.refuse(before, deadline, refusal).await,
            (None, None) => self.acted(before, None).await,
        }
    }

    /// Refuses the action, but writes the new deadline that precedes it.
    async fn refuse(
        &self,
        before: &VersionedItem<Candidate>,
        deadline: Option<CandidateChange>,
        refusal: Error,
    ) -> Result<ActedEntry> {
        let Some(change) = deadline else { return self.acted(before, Some(refusal)).await };
        let acted = self.acted(&change.candidate, Some(refusal)).await?;
        // Needs no mark: repeating it changes nothing.
        self.attempt.commit(self.attempt.store.change_candidate(before, &change, self.access.now)).await?;
        Ok(acted)
    }

    async fn read(&self, id: CandidateId) -> Result<Option<VersionedItem<Candidate>>> {
        self.attempt.store.candidate(self.access.company_id(), self.access.target.project.id, id).await
    }

    /// The result for a candidate in the state after the action or its refusal.
    async fn acted(&self, candidate: &Candidate, refusal: Option<Error>) -> Result<ActedEntry> {
        let has_deadline = self.planner.has_deadline(candidate);
        if refusal.is_some() {
            return Ok(ActedEntry { link: None, refusal, has_deadline });
        }
        let keys = self.attempt.store.open_access_keys([candidate]).await?;
        let link = self.access.references().interview_url(candidate, &self.access.target.project, &keys);
        Ok(ActedEntry { link, refusal, has_deadline })
    }
}
