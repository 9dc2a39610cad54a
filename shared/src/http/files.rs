//! Files that requests bring, and those that they announce.

use axum::body::Bytes;
use chrono::{DateTime, Utc};

use super::FileChange;
use crate::domain::account::Account;
use crate::domain::id::CompanyId;
use crate::domain::media::file::{FileKind, StoredFile};
use crate::domain::media::upload::{AnnouncedFile, Upload, UploadAuthor, UploadStatus};
use crate::domain::media::video::Video;
use crate::error::{Error, Result};
use crate::media::{CheckedFile, ObjectStore, SignedUpload, object_key, upload_key, video_upload_key};
use crate::store::Store;

/// Stores files on behalf of a request.
pub struct FileWriter<'a> {
    pub(crate) store: &'a Store,
    pub(crate) objects: ObjectStore<'a>,
    pub(crate) company: &'a CompanyId,
    pub(crate) author: UploadAuthor,
    pub(crate) now: DateTime<Utc>,
}

impl FileWriter<'_> {
    /// The file that an owner has after a change: a new one is stored at once, and belongs to the owner as soon as the
    /// owner is written with it. One that no owner is written with is deleted later.
    pub async fn change(
        &self,
        owner: Account,
        kind: FileKind,
        before: Option<StoredFile>,
        change: Option<FileChange>,
    ) -> Result<Option<StoredFile>> {
        match change {
            None => Ok(before),
            Some(FileChange::Remove) => Ok(None),
            Some(FileChange::Put(bytes)) => {
                let file = CheckedFile::new(kind, bytes).await?;
                let upload = self.new_upload(owner, kind, None);
                // The upload is noted before the first byte is stored: whatever fails in between, no object is left unknown.
                self.store.note_upload(&upload).await?;
                let key = object_key(self.company, owner, upload.id);
                self.objects.put(&key, upload.id, file).await.map(Some)
            }
        }
    }

    /// An upload that lets the client put a file for an owner straight into the bucket, and the request to do so.
    pub async fn announce(
        &self,
        owner: Account,
        kind: FileKind,
        announced: AnnouncedFile,
    ) -> Result<(Upload, SignedUpload)> {
        let upload = self.new_upload(owner, kind, Some(announced.clone()));
        let lifetime = (upload.url_expires_at() - self.now).to_std().map_err(Error::internal)?;
        // Clients do not upload to where files are served from: a signed URL works until it expires, so a client could replace a
        // validated file.
        let key = upload_key(upload.id);
        let AnnouncedFile { content_type, size } = announced;
        let signed = self.objects.upload_to(&key, &content_type, size, lifetime).await?;
        Ok((upload, signed))
    }

    /// The request that lets the client put the file of a new video straight into the bucket.
    pub async fn announce_video(&self, video: &Video) -> Result<SignedUpload> {
        let AnnouncedFile { content_type, size } = &video.file;
        let lifetime = (video.url_expires_at() - self.now).to_std().map_err(Error::internal)?;
        self.objects
            .upload_to(&video_upload_key(&video.company, video.id), content_type, *size, lifetime)
            .await
    }

    /// Stores the file of a video, which is converted as soon as it is there.
    pub async fn put_video(&self, video: &Video, bytes: Bytes) -> Result<()> {
        // The conversion checks it, where a decoder may fail without harm.
        self.objects.put_unchecked(&video_upload_key(&video.company, video.id), bytes).await
    }

    fn new_upload(&self, owner: Account, kind: FileKind, announced: Option<AnnouncedFile>) -> Upload {
        Upload {
            id: self.store.next_id(self.now),
            company: self.company.clone(),
            owner,
            kind,
            status: UploadStatus::AwaitingUpload,
            announced,
            found: None,
            author: self.author.clone(),
            created_at: self.now,
            failure: None,
        }
    }
}
