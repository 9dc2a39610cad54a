//! Starts an imported company: puts its items into the index by due date, so that scheduled functions handle them.

use chrono::{DateTime, Utc};
use futures_util::future::try_join_all;

use crate::domain::answers::Answers;
use crate::domain::company::Company;
use crate::domain::id::CompanyId;
use crate::domain::media::video::Video;
use crate::domain::project::Project;
use crate::domain::retention::RetentionPolicy;
use crate::domain::retention::run::RetentionRun;
use crate::domain::staff::named_token::NamedToken;
use crate::domain::staff::reminder::EvaluationRound;
use crate::error::Result;
use crate::store::table::handle::Store;
use crate::store::table::item::{StoredEntity, VersionedItem};
use crate::store::table::keys;
use crate::store::table::retry::RetryPolicy;
use crate::store::table::write::condition::WriteCondition;

/// How many items are written concurrently.
const AT_ONCE: usize = 32;

impl Store {
    /// Puts those items of a company into the index by due date that are not in it yet, and restarts interrupted
    /// conversions of answers. Idempotent. Fails with [`Error::Unreadable`](crate::Error::Unreadable) if an item cannot
    /// be read.
    pub async fn schedule_company(&self, company: &Company, now: DateTime<Utc>) -> Result<()> {
        let tokens: Vec<VersionedItem<NamedToken>> =
            self.all_wanted(keys::tokens(&company.id), |_| true).await?;
        self.schedule_all(&tokens).await?;
        self.schedule_all(&self.all_company_videos(&company.id).await?).await?;
        for project in self.all_projects(&company.id).await? {
            self.schedule_project(&project, now).await?;
            if project.settings.evaluation_days.is_some() {
                self.create_unless_there(EvaluationRound::unplanned(company.id.clone())).await?;
            }
        }
        if self.one::<RetentionPolicy>(keys::retention_policy(&company.id)).await?.is_some() {
            self.create_unless_there(RetentionRun::first_after_import(company, now)).await?;
        }
        Ok(())
    }

    /// All welcome videos of a company.
    pub async fn all_company_videos(&self, company: &CompanyId) -> Result<Vec<VersionedItem<Video>>> {
        self.all_wanted(keys::videos(company), |_| true).await
    }

    async fn schedule_project(&self, project: &Project, now: DateTime<Utc>) -> Result<()> {
        let mut last = None;
        loop {
            let candidates = self.candidates_after(project, last, AT_ONCE).await?;
            let Some(candidate) = candidates.last() else { break };
            last = Some(candidate.id);
            self.schedule_all(&candidates).await?;
        }
        let all = keys::all_answers(&project.company, project.id);
        let due: Vec<VersionedItem<Answers>> =
            self.all_wanted(all, |answers: &Answers| answers.due_at().is_some()).await?;
        for together in due.chunks(AT_ONCE) {
            try_join_all(together.iter().map(|answers| self.restart_answers(answers, now))).await?;
        }
        Ok(())
    }

    async fn restart_answers(&self, found: &VersionedItem<Answers>, now: DateTime<Utc>) -> Result<()> {
        let restart = async || {
            let Answers { company, project, candidate, .. } = &**found;
            let Some(before) = self.answers(company, *project, *candidate).await? else { return Ok(()) };
            match Answers::clone(&before).restart_conversions(now) {
                (_, 0) => self.schedule(&before).await,
                (after, _) => self.commit(self.update_answers(&before, &after, now)).await,
            }
        };
        self.retry_on_conflict(RetryPolicy::CHANGE, restart).await
    }

    async fn schedule_all<T: StoredEntity + Clone>(&self, items: &[VersionedItem<T>]) -> Result<()> {
        for together in items.chunks(AT_ONCE) {
            try_join_all(together.iter().map(|item| self.schedule(item))).await?;
        }
        Ok(())
    }

    async fn schedule<T: StoredEntity + Clone>(&self, item: &VersionedItem<T>) -> Result<()> {
        if item.due().is_none() {
            return Ok(());
        }
        // Keep the version, because the value stays the same. If a concurrent write was faster, it has put the item into the index.
        let due = item.with_value(T::clone(item))?;
        let _faster = self.put_item(due.stored().clone(), WriteCondition::Version(due.version())).await?;
        Ok(())
    }
}
