//! Access patterns of copies of projects.

use std::collections::BTreeSet;

use crate::domain::company::label::Label;
use crate::domain::id::{CompanyId, LabelId, ProjectId, VideoId};
use crate::domain::media::video::Video;
use crate::domain::project::Project;
use crate::domain::questionnaire::Questionnaire;
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::VersionedItem;
use crate::store::table::keys;
use crate::store::table::write::condition::IS_ACTIVE;
use crate::store::table::write::transaction::Transaction;

/// A project to be copied, with its questions and criteria.
#[derive(Debug)]
pub struct CopySource {
    pub project: VersionedItem<Project>,
    pub questionnaire: VersionedItem<Questionnaire>,
}

/// The labels and videos of a project and its questions that can be copied: they exist and are not being deleted.
#[derive(Debug, Default)]
pub struct CopiedAttachments {
    pub labels: BTreeSet<LabelId>,
    pub videos: BTreeSet<VideoId>,
}

impl Store {
    /// Reads a project to be copied; `None` if it does not exist.
    pub async fn copy_source(&self, company: &CompanyId, id: ProjectId) -> Result<Option<CopySource>> {
        let [project, questionnaire] = [keys::project(company, id), keys::questionnaire(company, id)];
        let mut batch = self.get([project.clone(), questionnaire.clone()]).await?;
        let Some(project) = batch.take(&project)? else { return Ok(None) };
        let questionnaire = batch.take(&questionnaire)?;
        let none = || VersionedItem::not_stored(Questionnaire::new(company.clone(), id));
        Ok(Some(CopySource { project, questionnaire: questionnaire.unwrap_or_else(none) }))
    }

    /// Reads which labels and videos of a project can be copied.
    pub async fn copied_attachments(&self, source: &CopySource) -> Result<CopiedAttachments> {
        let company = &source.project.company;
        let labels = &source.project.settings.labels;
        let placed = source.project.settings.videos.iter().map(|placed| placed.video);
        let asking = source.questionnaire.questions.iter().filter_map(|question| question.video);
        let videos: BTreeSet<VideoId> = placed.chain(asking).collect();
        let keys = labels.iter().map(|label| keys::label(company, *label));
        let mut batch = self.get(keys.chain(videos.iter().map(|video| keys::video(company, *video)))).await?;
        let mut found = CopiedAttachments::default();
        for label in labels {
            let item = batch.take_listed::<Label>(&keys::label(company, *label))?;
            found.labels.extend(item.filter(|item| item.is_active).map(|item| item.id));
        }
        for video in videos {
            let item = batch.take_listed::<Video>(&keys::video(company, video))?;
            found.videos.extend(item.filter(|item| item.is_active).map(|item| item.id));
        }
        Ok(found)
    }

    /// Creates a copy of a project with its questions and criteria. Fails like [`Store::create_project`], and with
    /// [`Error::Changed`] or [`Error::NotFound`] if the source, or a label or video copied from it, has changed since
    /// it was read.
    // One transaction, even for 30 questions, 20 criteria, 20 labels and 20 videos, so that a copy is never partial.
    pub fn copy_project(
        &self,
        project: &Project,
        questionnaire: &Questionnaire,
        source: &CopySource,
        copied: &CopiedAttachments,
    ) -> Transaction {
        let mut transaction = self.transaction();
        // Require both: the batch read may have returned the project after a change of the questions, but the questions before it.
        transaction.require_unchanged(&source.project);
        transaction.require_unchanged(&source.questionnaire);
        transaction.new_project(project);
        if !questionnaire.is_empty() {
            transaction.create(questionnaire);
        }
        let c = &project.company;
        for label in &project.settings.labels {
            let missing = Error::field("labels", format!("Label {label} does not exist."));
            // The client did not send references that were copied, so they cause no field error: the next attempt copies without them.
            let missing = if copied.labels.contains(label) { Error::Changed } else { missing };
            transaction.require(keys::label(c, *label), IS_ACTIVE, missing);
        }
        let placed = project.settings.videos.iter().map(|placed| placed.video);
        let asking = questionnaire.questions.iter().filter_map(|question| question.video);
        for video in placed.chain(asking).collect::<BTreeSet<_>>() {
            let missing = Error::field("videos", format!("Video {video} does not exist."));
            let missing = if copied.videos.contains(&video) { Error::Changed } else { missing };
            transaction.require(keys::video(c, video), IS_ACTIVE, missing);
        }
        transaction
    }
}
