//! Access patterns of questionnaires. All questions and criteria of a project are one item, which is missing if there are none.

use crate::domain::id::{CompanyId, ProjectId, VideoId};
use crate::domain::project::Project;
use crate::domain::questionnaire::{QUESTIONS_IN_USE, Questionnaire};
use crate::error::{Error, Result};
use crate::store::project::counts::{HAS_BEGUN, shards};
use crate::store::table::handle::Store;
use crate::store::table::item::{StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::retry::RetryPolicy;
use crate::store::table::write::condition::{IS_ACTIVE, WriteCondition};
use crate::store::table::write::transaction::Transaction;

impl StoredEntity for Questionnaire {
    fn key(&self) -> ItemKey {
        keys::questionnaire(&self.company, self.project)
    }
}

impl Transaction {
    /// Requires that no candidate of the project has begun; fails with `error` otherwise.
    pub(in crate::store) fn require_not_begun(&mut self, project: &Project, error: impl Fn() -> Error) {
        // A condition, not a check of shards read before: a candidate may begin in the meantime.
        for shard in shards(&project.company, project.id) {
            self.require(shard, WriteCondition::Without(HAS_BEGUN), error());
        }
    }
}

impl Store {
    /// Replaces `before` by `after`, or creates it if the project had no questions and criteria. Fails with
    /// [`Error::Changed`] also after a concurrent write of the project, with `QUESTIONS_IN_USE` if the change would
    /// affect a candidate who has begun, and with a message on `video` if a new video does not exist.
    pub fn save_questionnaire(
        &self,
        project: &VersionedItem<Project>,
        before: &VersionedItem<Questionnaire>,
        after: &Questionnaire,
    ) -> Transaction {
        let mut transaction = self.write_interview(project, before, after);
        if !before.asks_the_same_as(after) {
            transaction.require_not_begun(project, || QUESTIONS_IN_USE.into());
        } else if !before.has_its_texts_in(after) {
            // A candidate who begins in the meantime may be asked one of the former texts.
            transaction.require_not_begun(project, || Error::Changed);
        }
        for video in after.questions.iter().filter_map(|question| question.video) {
            if !before.shows(video) {
                let missing = Error::field("video", format!("Video {video} does not exist."));
                transaction.require(keys::video(&after.company, video), IS_ACTIVE, missing);
            }
        }
        transaction
    }

    /// Writes the questions and criteria of a project, and notes the change in the project's history.
    fn write_interview(
        &self,
        project: &VersionedItem<Project>,
        before: &VersionedItem<Questionnaire>,
        after: &Questionnaire,
    ) -> Transaction {
        let mut transaction = self.transaction();
        if **before == *after {
            return transaction;
        }
        transaction.save(before, after);
        // The project and its questions have one URL for clients, so their events need one order. The project's `ETag`
        // stays the same, because the project shows neither questions nor criteria.
        transaction.note_change_of_part(project, project.questionnaire_change(before, after));
        transaction
    }

    /// Removes a video from all questions of the company that show it.
    pub(in crate::store) async fn detach_from_questions(
        &self,
        company: &CompanyId,
        video: VideoId,
    ) -> Result<()> {
        let projects = self.all_wanted::<Project>(keys::projects(company), |_| true).await?;
        let keys: Vec<ItemKey> =
            projects.iter().map(|project| keys::questionnaire(company, project.id)).collect();
        let mut batch = self.get(keys.iter().cloned()).await?;
        for (project, key) in projects.iter().zip(&keys) {
            let found = batch.take::<Questionnaire>(key)?;
            if found.is_some_and(|questionnaire| questionnaire.shows(video)) {
                self.retry_on_conflict(RetryPolicy::CHANGE, || {
                    self.detach_from_interview(company, project.id, video)
                })
                .await?;
            }
        }
        Ok(())
    }

    async fn detach_from_interview(
        &self,
        company: &CompanyId,
        project: ProjectId,
        video: VideoId,
    ) -> Result<()> {
        let questionnaire = keys::questionnaire(company, project);
        let project = keys::project(company, project);
        let mut batch = self.get([project.clone(), questionnaire.clone()]).await?;
        let project = batch.take::<Project>(&project)?;
        let before = batch.take::<Questionnaire>(&questionnaire)?;
        let (Some(project), Some(before)) = (project, before) else { return Ok(()) };
        let after = Questionnaire::clone(&before).without_video(video);
        self.commit(self.write_interview(&project, &before, &after)).await
    }
}
