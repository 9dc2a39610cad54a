//! Access patterns of retention runs. Those that requests also use are in `retention/mod.rs`.

use chrono::{DateTime, Utc};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::domain::history::{ChangeAuthor, EventType, ResourceRef};
use crate::domain::id::{CompanyId, ProjectId};
use crate::domain::project::Project;
use crate::domain::retention::RetentionPolicy;
use crate::domain::retention::review::RetentionReview;
use crate::domain::retention::run::{ErasureBatch, RetentionRun};
use crate::error::Result;
use crate::store::table::handle::Store;
use crate::store::table::item::VersionedItem;
use crate::store::table::keys;
use crate::store::table::write::transaction::Transaction;

/// How many histories are read concurrently.
const HISTORIES: usize = 8;

impl Store {
    /// Reads the retention rules, by company and project, that apply at `now`.
    pub async fn review_of_run(&self, company: &CompanyId, now: DateTime<Utc>) -> Result<RetentionReview> {
        Ok(review(company, self.retention_policy(company).await?, now))
    }

    /// Reads the retention rules that apply at `now`, together with a project; `None` if the project does not exist.
    pub async fn review_of_project(
        &self,
        company: &CompanyId,
        project: ProjectId,
        now: DateTime<Utc>,
    ) -> Result<Option<(RetentionReview, VersionedItem<Project>)>> {
        let policy_key = keys::retention_policy(company);
        let project_key = keys::project(company, project);
        let mut batch = self.get([policy_key.clone(), project_key.clone()]).await?;
        let review = review(company, batch.take(&policy_key)?, now);
        Ok(batch.take(&project_key)?.map(|project| (review, project)))
    }

    /// Replaces `before` by `after`. Fails with [`Error::Changed`](crate::Error::Changed) if another worker continues the run.
    pub async fn update_retention_run(
        &self,
        before: &VersionedItem<RetentionRun>,
        after: RetentionRun,
    ) -> Result<VersionedItem<RetentionRun>> {
        self.replace(before, after).await
    }

    /// Ends the run `before`, makes `after` the next one, and records the end in the history of `policy` if the run's counts are notable.
    pub fn complete_retention_run(
        &self,
        before: &VersionedItem<RetentionRun>,
        after: &RetentionRun,
        policy: Option<&VersionedItem<RetentionPolicy>>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        transaction.replace(before, after);
        // A company that is being closed may never have had a policy.
        if let (Some(run), Some(policy)) = (after.last.filter(|run| run.counts.is_notable()), policy) {
            transaction.note_change_of_part(policy, policy.run_change(&run));
        }
        transaction
    }

    /// How many candidates of a batch the service itself has deleted.
    pub async fn count_erased(
        &self,
        company: &CompanyId,
        batch: &ErasureBatch,
        now: DateTime<Utc>,
    ) -> Result<usize> {
        let project = batch.project;
        let present = self.candidates(company, project, batch.candidates.iter().copied()).await?;
        let gone = batch.candidates.iter().copied().filter(|candidate| !present.contains_key(candidate));
        let deletions = gone.map(|candidate| async move {
            let resource = ResourceRef::Candidate { project, candidate };
            let events = self.events_of(company, resource, now).await?;
            // The author of the deletion is still known: an erasure strips everything else from the entry.
            let deleted = EventType::CandidateDeleted.as_str();
            let deletion = events.iter().rfind(|entry| entry.change.types.iter().any(|kind| kind == deleted));
            Ok(deletion.is_some_and(|entry| entry.origin.by == ChangeAuthor::System))
        });
        let is_by_system = stream::iter(deletions).buffer_unordered(HISTORIES);
        is_by_system.try_fold(0, async |count, is_by_system| Ok(count + usize::from(is_by_system))).await
    }
}

fn review(
    company: &CompanyId,
    policy: Option<VersionedItem<RetentionPolicy>>,
    now: DateTime<Utc>,
) -> RetentionReview {
    let policy = policy.as_deref().cloned().unwrap_or_else(|| RetentionPolicy::keep(company.clone()));
    RetentionReview::of_run(policy, now)
}
