//! Access patterns of interviews: all questions and criteria of a project are one item, which is missing while there
//! are none.

use super::Store;
use super::table::condition::{IS_ACTIVE, WriteCondition};
use super::table::item::{StoredEntity, VersionedItem};
use super::table::keys::{self, ItemKey};
use super::table::transaction::Transaction;
use super::tally::{self, HAS_BEGUN};
use crate::domain::id::{CompanyId, ProjectId, VideoId};
use crate::domain::interview::{Interview, QUESTIONS_IN_USE};
use crate::domain::project::Project;
use crate::error::{Error, Result};

impl StoredEntity for Interview {
    fn key(&self) -> ItemKey {
        // One item, so that a page of projects nests them in one read. Each question has a revision of its own: two
        // people who change different ones do not meet.
        keys::interview(&self.company, self.project)
    }
}

impl Store {
    /// Replaces `before`, none for a project without questions and criteria, by `after`. Fails with [`Error::Changed`]
    /// also after a concurrent write of the project, with `QUESTIONS_IN_USE` if a candidate has begun whom the change
    /// would affect, and with a message on `video` if a new one does not exist.
    pub fn save_interview(
        &self,
        project: &VersionedItem<Project>,
        before: Option<&VersionedItem<Interview>>,
        after: &Interview,
    ) -> Transaction {
        let mut transaction = self.write_interview(project, before, after);
        let nothing = Interview::new(after.company.clone(), after.project);
        let before = before.map_or(&nothing, |before| before);
        if !before.asks_the_same_as(after) {
            // Every candidate who begins writes a shard. The mark stays when they are aborted or deleted.
            for shard in tally::shards(&after.company, after.project) {
                transaction.require(shard, WriteCondition::Without(HAS_BEGUN), QUESTIONS_IN_USE.into());
            }
        }
        for video in after.questions.iter().filter_map(|question| question.video) {
            if !before.shows(video) {
                let missing = Error::field("video", format!("Video {video} does not exist."));
                transaction.require(keys::video(&after.company, video), IS_ACTIVE, missing);
            }
        }
        transaction
    }

    /// Writes the questions and criteria of a project, and notes the change in the project's history: clients know both
    /// by one URL, so their events need one order.
    fn write_interview(
        &self,
        project: &VersionedItem<Project>,
        before: Option<&VersionedItem<Interview>>,
        after: &Interview,
    ) -> Transaction {
        let mut transaction = self.transaction();
        let nothing = Interview::new(after.company.clone(), after.project);
        if before.map_or(&nothing, |before| before) == after {
            return transaction;
        }
        match before {
            Some(before) => transaction.replace(before, after),
            None => transaction.create_unless(after, || Error::Changed),
        }
        let before = before.map_or(&nothing, |before| before);
        // A new version of the project, whose tag stays: it shows neither questions nor criteria.
        transaction.note_change_of_part(project, Interview::change(project, before, after));
        transaction
    }

    /// Removes a video from all questions of the company that show it.
    pub(super) async fn detach_from_questions(&self, company: &CompanyId, video: VideoId) -> Result<()> {
        let projects = self.all_wanted::<Project>(keys::projects(company), |_| true).await?;
        let keys: Vec<ItemKey> =
            projects.iter().map(|project| keys::interview(company, project.id)).collect();
        let mut batch = self.get(keys.iter().cloned()).await?;
        for (project, key) in projects.iter().zip(&keys) {
            let found = batch.take::<Interview>(key)?;
            if found.is_some_and(|interview| interview.shows(video)) {
                self.retry_on_conflict(|| self.detach_from_interview(company, project.id, video)).await?;
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
        let (project, interview) = (keys::project(company, project), keys::interview(company, project));
        let mut batch = self.get([project.clone(), interview.clone()]).await?;
        let (project, before) = (batch.take::<Project>(&project)?, batch.take::<Interview>(&interview)?);
        let (Some(project), Some(before)) = (project, before) else { return Ok(()) };
        let after = Interview::clone(&before).without_video(video);
        self.commit(self.write_interview(&project, Some(&before), &after)).await
    }
}
