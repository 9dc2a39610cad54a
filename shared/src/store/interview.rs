//! Access patterns of interviews: all questions and criteria of a project are one item, which is missing while there
//! are none.

use super::Store;
use super::condition::{Condition, IS_ACTIVE};
use super::item::{Entity, Versioned};
use super::keys::{self, Key};
use super::tally::{self, HAS_BEGUN};
use super::transaction::Transaction;
use crate::domain::history::Change;
use crate::domain::id::{CompanyId, VideoId};
use crate::domain::interview::{Interview, QUESTIONS_IN_USE};
use crate::domain::project::Project;
use crate::error::{Error, Result};

impl Entity for Interview {
    fn key(&self) -> Key {
        keys::interview(&self.company, self.project)
    }

    fn recorded(before: Option<&Self>, after: Option<&Self>) -> Option<Change> {
        // The first question changes an interview that had none.
        let empty = after.map(|after| Self::new(after.company.clone(), after.project));
        Change::of(before.or(empty.as_ref()), after)
    }
}

impl Store {
    /// Replaces `before`, none for a project without questions and criteria, by `after`. Fails with [`Error::Changed`]
    /// also if another request creates the first one, with `QUESTIONS_IN_USE` if a candidate has begun whom the change
    /// would affect, and with a message on `video` if a new one does not exist.
    pub fn save_interview(&self, before: Option<&Versioned<Interview>>, after: &Interview) -> Transaction {
        let mut transaction = match before {
            Some(before) => self.replacing(before, after),
            None => {
                let mut transaction = self.transaction();
                transaction.create_unless(after, || Error::Changed);
                transaction
            }
        };
        let nothing = Interview::new(after.company.clone(), after.project);
        let before = before.map_or(&nothing, |before| before);
        if !before.asks_the_same_as(after) {
            for shard in tally::shards(&after.company, after.project) {
                transaction.require(shard, Condition::Without(HAS_BEGUN), QUESTIONS_IN_USE.into());
            }
        }
        for video in after.questions.iter().filter_map(|question| question.video) {
            if !before.shows(video) {
                let missing = Error::field("video", format!("There is no video {video}."));
                transaction.require(keys::video(&after.company, video), IS_ACTIVE, missing);
            }
        }
        transaction
    }

    /// Removes a video from all questions of the company that show it.
    pub(super) async fn detach_from_questions(&self, company: &CompanyId, video: VideoId) -> Result<()> {
        let projects = self.all_wanted::<Project>(keys::projects(company), |_| true).await?;
        let keys: Vec<Key> = projects.iter().map(|project| keys::interview(company, project.id)).collect();
        let mut batch = self.get(keys.iter().cloned()).await?;
        for key in &keys {
            let found = batch.take::<Interview>(key)?;
            let Some(interview) = found.filter(|interview| interview.shows(video)) else { continue };
            self.amend(interview, |before| {
                let after = Interview::clone(before).without_video(video);
                Some(self.replacing(before, &after))
            })
            .await?;
        }
        Ok(())
    }
}
