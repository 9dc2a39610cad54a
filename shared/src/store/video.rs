//! Access patterns of welcome videos.

use chrono::{DateTime, Utc};

use super::Store;
use super::due::{Due, DueCursor};
use super::item::{Entity, Versioned};
use super::keys::{self, Key};
use super::page::{Listing, Page, PageRequest};
use super::tally::Owned;
use super::transaction::Transaction;
use crate::domain::deletion::Deletion;
use crate::domain::effect::{Effect, Task};
use crate::domain::erasure::Erased;
use crate::domain::id::{CompanyId, VideoId};
use crate::domain::project::Project;
use crate::domain::video::Video;
use crate::error::{Error, Result};
use crate::media::video_keys;

impl Entity for Video {
    const UNSHOWN: &'static [&'static str] = &["attempt", "given_up_at", "is_active"];

    fn key(&self) -> Key {
        keys::video(&self.company, self.id)
    }

    fn due(&self) -> Option<(u8, DateTime<Utc>)> {
        self.given_up_at.map(|at| (keys::video_due_shard(self.id), at))
    }
}

impl Store {
    /// Creates a video, whose file is still to come.
    ///
    /// # Errors
    /// [`Error::Busy`].
    pub fn create_video(&self, video: &Video) -> Transaction {
        let mut transaction = self.transaction();
        transaction.create(video, Error::internal("a new identifier is taken"));
        transaction.company_tally(&video.company, &[(Owned::Videos, 1)]);
        transaction
    }

    /// A video.
    pub async fn video(&self, company: &CompanyId, id: VideoId) -> Result<Option<Versioned<Video>>> {
        let key = keys::video(company, id);
        self.get([key.clone()]).await?.take(&key)
    }

    /// A page of a company's videos, and how many there are.
    pub async fn list_videos(
        &self,
        company: &CompanyId,
        request: &PageRequest,
    ) -> Result<(Page<Versioned<Video>>, u64)> {
        let listing = Listing::All(keys::videos(company));
        tokio::try_join!(self.page(&listing, request), self.count_owned(company, Owned::Videos))
    }

    /// Puts `after` in place of `before`.
    ///
    /// # Errors
    /// [`Error::Changed`], [`Error::NotFound`].
    pub fn update_video(&self, before: &Versioned<Video>, after: &Video) -> Transaction {
        self.replacing(before, after)
    }

    /// Puts `after` in place of `before` at once, for whoever goes on to change it.
    ///
    /// # Errors
    /// As [`Self::update_video`].
    pub async fn begin_conversion(
        &self,
        before: &Versioned<Video>,
        after: Video,
    ) -> Result<Versioned<Video>> {
        self.commit(self.update_video(before, &after)).await?;
        before.followed_by(after)
    }

    /// Ends a video without anything to play, because of `reason`, and has deleted what there may be of it.
    ///
    /// # Errors
    /// [`Error::Changed`], [`Error::NotFound`].
    pub fn fail_video(&self, video: &Versioned<Video>, reason: &str, now: DateTime<Utc>) -> Transaction {
        let mut transaction = self.transaction();
        transaction.replace(video, &Video::clone(video).failed(reason));
        let task = Task::ObjectsDeleted { keys: video_keys(&video.company, video.id).into() };
        let cause = format!("{}-{}", video.id, video.version() + 1);
        transaction.effect(Some(Effect::new(video.company.clone(), cause, task, now)));
        transaction
    }

    /// Takes a video from all projects that show it and deletes it, and has its objects deleted.
    ///
    /// Not one transaction, since projects may be many: the outbox finishes one that broke off.
    ///
    /// # Errors
    /// [`Error::Changed`] when somebody keeps changing the video or one of the projects.
    pub async fn delete_video(&self, video: &Versioned<Video>, now: DateTime<Utc>) -> Result<()> {
        // From here on no project can take it on.
        let after = Video { is_active: false, ..Video::clone(video) };
        let mut transaction = self.transaction();
        transaction.replace(video, &after);
        transaction.begin_deletion(&video.company, Deletion::Video { video: video.id }, now);
        self.commit(transaction).await?;
        self.finish_video(&video.followed_by(after)?, now).await
    }

    /// Deletes a video that is not active any more.
    ///
    /// # Errors
    /// [`Error::Changed`].
    pub(super) async fn finish_video(&self, video: &Versioned<Video>, now: DateTime<Utc>) -> Result<()> {
        let shows = |project: &Project| project.settings.shows(video.id);
        for project in self.all_wanted(keys::projects(&video.company), shows).await? {
            self.insist_on(project, |project| {
                project.settings.videos.retain(|placed| placed.video != video.id);
            })
            .await?;
        }
        let mut transaction = self.transaction();
        transaction.delete(video);
        transaction.end_deletion(&Deletion::Video { video: video.id });
        transaction.company_tally(&video.company, &[(Owned::Videos, -1)]);
        let objects = video_keys(&video.company, video.id).into();
        transaction.erased((&video.company, Erased::Video { video: video.id }), objects, now);
        self.commit(transaction).await
    }

    /// Videos of one shard that have come to nothing at `now`.
    pub async fn overdue_videos(
        &self,
        shard: u8,
        now: DateTime<Utc>,
        from: Option<DueCursor>,
    ) -> Result<Due<Video>> {
        self.due(shard, now, from).await
    }

    /// The partitions of the index in which videos stand that are under way.
    pub fn video_shards() -> impl Iterator<Item = u8> {
        keys::video_due_shards()
    }
}
