//! Stores the files of requests, and prepares announced uploads.

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

/// Stores files and signs upload requests on behalf of a caller.
pub struct FileWriter<'a> {
    pub(crate) store: &'a Store,
    pub(crate) objects: ObjectStore<'a>,
    pub(crate) company: &'a CompanyId,
    pub(crate) author: UploadAuthor,
    pub(crate) now: DateTime<Utc>,
}

impl FileWriter<'_> {
    /// Returns the owner's file after `change`. Stores a new file at once; it belongs to the owner as soon as the
    /// caller commits the owner with it. A file that no commit refers to is deleted later.
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
                // Record the upload before storing the object, so that a failure in between leaves no unknown object.
                self.store.note_upload(&upload).await?;
                let key = object_key(self.company, owner, upload.id);
                self.objects.put(&key, upload.id, file).await.map(Some)
            }
        }
    }

    /// Prepares an upload: the client puts the owner's file straight into the bucket with the signed request.
    pub async fn announce(
        &self,
        owner: Account,
        kind: FileKind,
        announced: AnnouncedFile,
    ) -> Result<(Upload, SignedUpload)> {
        let upload = self.new_upload(owner, kind, Some(announced.clone()));
        let lifetime = (upload.url_expires_at() - self.now).to_std().map_err(Error::internal)?;
        // Clients upload to a different key than the one that serves the file: a signed URL works until it expires, so a client
        // could replace a validated file.
        let key = upload_key(upload.id);
        let AnnouncedFile { content_type, size } = announced;
        let signed = self.objects.upload_to(&key, &content_type, size, lifetime).await?;
        Ok((upload, signed))
    }

    /// Returns the signed request with which the client puts the file of a new video straight into the bucket.
    pub async fn announce_video(&self, video: &Video) -> Result<SignedUpload> {
        let AnnouncedFile { content_type, size } = &video.file;
        let lifetime = (video.url_expires_at() - self.now).to_std().map_err(Error::internal)?;
        self.objects
            .upload_to(&video_upload_key(&video.company, video.id), content_type, *size, lifetime)
            .await
    }

    /// Stores the file of a video. The new object starts its conversion.
    pub async fn put_video(&self, video: &Video, bytes: Bytes) -> Result<()> {
        // Unchecked: the conversion validates the file, in a process where a decoder may crash without harm.
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
