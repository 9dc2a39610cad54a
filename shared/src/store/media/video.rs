//! Access patterns of welcome videos.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::domain::answers::Answers;
use crate::domain::candidate::Candidate;
use crate::domain::effect::{Effect, EffectTask};
use crate::domain::history::ResourceChange;
use crate::domain::id::{CompanyId, VideoId};
use crate::domain::language::Language;
use crate::domain::media::captions::Captions;
use crate::domain::media::conversion::Conversion;
use crate::domain::media::video::Video;
use crate::domain::project::Project;
use crate::domain::questionnaire::Questionnaire;
use crate::error::Result;
use crate::media::video_keys;
use crate::store::company::counts::CompanyCount;
use crate::store::due::DueQueue;
use crate::store::table::handle::Store;
use crate::store::table::item::{self, DueEntry, StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::read::page::{ListSource, Page, PageRequest};
use crate::store::table::write::transaction::Transaction;

impl StoredEntity for Video {
    const INTERNAL_FIELDS: &'static [&'static str] = &["attempt", "attempts", "given_up_at", "is_active"];

    fn history_change(before: Option<&Self>, after: Option<&Self>) -> Option<ResourceChange> {
        ResourceChange::of(before, after)
    }

    fn key(&self) -> ItemKey {
        keys::video(&self.company, self.id)
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let shard = DueQueue::Videos.shard_of(self.id);
        self.conversion.overdue_at().map(|at| DueEntry { shard, at, company: &self.company })
    }
}

impl StoredEntity for Captions {
    fn key(&self) -> ItemKey {
        keys::captions(&self.company, self.video, self.language)
    }
}

impl Store {
    /// Creates a video. Its file is uploaded later.
    pub fn create_video(&self, video: &Video) -> Transaction {
        let mut transaction = self.transaction();
        transaction.create(video);
        transaction.change_company_counts(&video.company, &[(CompanyCount::Videos, 1)]);
        transaction
    }

    pub async fn video(&self, company: &CompanyId, id: VideoId) -> Result<Option<VersionedItem<Video>>> {
        self.one(keys::video(company, id)).await
    }

    /// Reads the videos that ask questions. Those that were deleted are missing. Makes no call if no video asks a question.
    pub async fn question_videos(&self, questionnaire: &Questionnaire) -> Result<Vec<VersionedItem<Video>>> {
        let Questionnaire { company, questions, .. } = questionnaire;
        let videos: BTreeSet<VideoId> = questions.iter().filter_map(|question| question.video).collect();
        self.listed(videos.into_iter().map(|video| keys::video(company, video)).collect()).await
    }

    /// Whether a candidate may see a video: as a video of their project, or in a question.
    pub(crate) async fn shows_video(&self, candidate: &Candidate, id: VideoId) -> Result<bool> {
        let Candidate { company, project, .. } = candidate;
        let answers = keys::answers(company, *project, candidate.id);
        let questionnaire = keys::questionnaire(company, *project);
        let project = keys::project(company, *project);
        let mut batch = self.get([project.clone(), questionnaire.clone(), answers.clone()]).await?;
        let questionnaire =
            batch.take::<Questionnaire>(&questionnaire)?.filter(|_| candidate.sees_questions());
        let answers = batch.take::<Answers>(&answers)?;
        let Some(project) = batch.take::<Project>(&project)? else { return Ok(false) };
        let is_seen = questionnaire.is_some_and(|questionnaire| {
            let conducts = project.conducts(&questionnaire);
            let mut asking = questionnaire.questions.iter().filter(|question| question.video == Some(id));
            asking.any(|question| !conducts || !question.is_concealed_from(candidate, answers.as_deref()))
        });
        Ok(project.settings.shows(id) || is_seen)
    }

    /// A page of a company's videos, and their number.
    pub async fn list_videos(
        &self,
        company: &CompanyId,
        request: &PageRequest,
    ) -> Result<(Page<VersionedItem<Video>>, u64)> {
        self.list_owned(company, &ListSource::All(keys::videos(company)), &[CompanyCount::Videos], request)
            .await
    }

    pub fn update_video(&self, before: &VersionedItem<Video>, after: &Video) -> Transaction {
        self.replacing(before, after)
    }

    /// Reads the captions of a video in a language.
    pub async fn captions(&self, video: &Video, language: Language) -> Result<Option<Captions>> {
        let found = self.one::<Captions>(keys::captions(&video.company, video.id, language)).await?;
        Ok(found.map(|captions| Captions::clone(&captions)))
    }

    /// Stores captions of a video; `after` has their digest. Does nothing if `before` equals `after`.
    pub fn put_captions(
        &self,
        before: &VersionedItem<Video>,
        after: &Video,
        captions: &Captions,
    ) -> Transaction {
        let mut transaction = self.replacing(before, after);
        // Write captions only together with the video, whose deletion deletes the captions that it names.
        if **before != *after
            && let Some(item) = transaction.or_fault(item::write(captions, 1))
        {
            transaction.put_derived(captions.key(), item);
        }
        transaction
    }

    /// Deletes the captions of a video in a language. `after` no longer names them.
    pub fn delete_captions(
        &self,
        before: &VersionedItem<Video>,
        after: &Video,
        language: Language,
    ) -> Transaction {
        let mut transaction = self.replacing(before, after);
        transaction.delete_derived(keys::captions(&before.company, before.id, language));
        transaction
    }

    /// Marks a video, whose file has arrived, as waiting for its conversion, and records the effect that queues it.
    /// Fails with [`Error::Changed`](crate::Error::Changed) after a concurrent write.
    pub fn await_conversion(&self, video: &VersionedItem<Video>, now: DateTime<Utc>) -> Transaction {
        let mut transaction = self.transaction();
        let waiting = video.conversion.waiting_again(now);
        transaction.replace(video, &Video::clone(video).with_conversion(waiting));
        transaction.effect(Some(Effect::of_video(video, video.version() + 1, now)));
        transaction
    }

    /// Replaces `before` by `after` and commits. Returns the new item for further changes. Fails after a concurrent write or deletion.
    pub async fn begin_conversion(
        &self,
        before: &VersionedItem<Video>,
        after: Video,
    ) -> Result<VersionedItem<Video>> {
        // Commit before the conversion, so that of two deliveries of the same event only one converts the video.
        let mut transaction = self.transaction();
        transaction.replace(before, &after);
        self.commit(transaction).await?;
        before.followed_by(after)
    }

    /// Ends a conversion as failed because of `reason`, and records the effect that deletes the video's objects.
    pub fn fail_video(&self, video: &VersionedItem<Video>, reason: &str, now: DateTime<Utc>) -> Transaction {
        let mut transaction = self.transaction();
        transaction.replace(video, &Video::clone(video).with_conversion(Conversion::failed(reason)));
        let task = EffectTask::ObjectsDeleted { keys: video_keys(&video.company, video.id).into() };
        let cause = format!("{}-{}", video.id, video.version() + 1);
        transaction.effect(Some(Effect::new(video.company.clone(), cause, task, now)));
        transaction
    }
}
