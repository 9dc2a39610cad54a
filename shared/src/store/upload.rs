//! Access patterns of uploads: noted before a file is stored, ended with the change that gives it to its owner.

use chrono::{DateTime, Utc};
use serde_dynamo::to_attribute_value;

use super::Store;
use super::due::{Due, DueCursor};
use super::item::{EXPIRES_AT, Entity, VERSION, Versioned, number, string};
use super::keys::{self, DUE_AT, DUE_SHARD, Key};
use super::transaction::{Change, Transaction};
use crate::domain::effect::{Effect, Task};
use crate::domain::file::{Owner, StoredFile};
use crate::domain::id::{CompanyId, FileId};
use crate::domain::upload::{Upload, UploadStatus};
use crate::error::{Error, Result};
use crate::media::{object_key, upload_key};

impl Entity for Upload {
    fn key(&self) -> Key {
        keys::upload(self.id)
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        let has_ended = self.status != UploadStatus::AwaitingUpload;
        has_ended.then(|| Self::forgotten_at(self.given_up_at()))
    }

    fn due(&self) -> Option<(u8, DateTime<Utc>)> {
        let is_awaited = self.status == UploadStatus::AwaitingUpload;
        is_awaited.then(|| (keys::upload_due_shard(self.id), self.given_up_at()))
    }
}

/// The files of somebody, before or after a change.
pub(super) struct FilesOf<'a> {
    /// The company.
    pub(super) company: &'a CompanyId,
    /// Whose they are.
    pub(super) owner: Owner,
    /// What there is.
    pub(super) files: Vec<StoredFile>,
}

impl FilesOf<'_> {
    fn ids(&self) -> Vec<FileId> {
        self.files.iter().map(|file| file.id).collect()
    }

    /// The keys of the objects that hold them.
    pub(super) fn keys(&self) -> Vec<String> {
        self.files.iter().map(|file| object_key(self.company, self.owner, file.id)).collect()
    }
}

impl Transaction {
    /// Ends the uploads of files that come with this change, and has those deleted that go.
    pub(super) fn files(&mut self, before: Option<FilesOf<'_>>, after: FilesOf<'_>, now: DateTime<Utc>) {
        let old = before.as_ref().map(FilesOf::ids).unwrap_or_default();
        let new = after.ids();
        for file in after.files.iter().filter(|file| !old.contains(&file.id)) {
            self.end_upload(*file, now);
        }
        let Some(before) = before else { return };
        for file in old.into_iter().filter(|file| !new.contains(file)) {
            let keys = vec![object_key(before.company, before.owner, file)];
            let task = Task::ObjectsDeleted { keys };
            self.effect(Some(Effect::new(before.company.clone(), file, task, now)));
        }
    }

    /// Notes that a file is its owner's, unless it was given up meanwhile.
    fn end_upload(&mut self, file: StoredFile, now: DateTime<Utc>) {
        let Some(found) = self.or_fault(to_attribute_value(file.file_type).map_err(Error::internal)) else {
            return;
        };
        let change = Change {
            expression: format!(
                "SET #status = :ended, #found = :found, {EXPIRES_AT} = :end REMOVE {DUE_SHARD}, {DUE_AT} ADD {VERSION} :one"
            ),
            condition: Some("#status = :awaited".to_owned()),
            names: [("#status", "status"), ("#found", "found")]
                .map(|(name, attribute)| (name.to_owned(), attribute.to_owned()))
                .into(),
            values: vec![
                (":ended".to_owned(), string(UploadStatus::Successful.as_str())),
                (":awaited".to_owned(), string(UploadStatus::AwaitingUpload.as_str())),
                (":found".to_owned(), found),
                (":end".to_owned(), number(Upload::forgotten_at(now).timestamp())),
                (":one".to_owned(), number(1)),
            ],
        };
        self.update(keys::upload(file.id), change, Error::Changed);
    }
}

impl Store {
    /// Notes an upload at once, before its file is stored.
    ///
    /// # Errors
    /// [`Error::Changed`] when there is one with its identifier.
    pub(crate) async fn note_upload(&self, upload: &Upload) -> Result<()> {
        self.create_alone(upload).await
    }

    /// Creates an upload that a client announces.
    ///
    /// # Errors
    /// [`Error::Busy`].
    pub fn create_upload(&self, upload: &Upload) -> Transaction {
        let mut transaction = self.transaction();
        transaction.create(upload, Error::internal("a new identifier is taken"));
        transaction
    }

    /// The upload with this identifier.
    pub async fn upload(&self, id: FileId) -> Result<Option<Versioned<Upload>>> {
        let key = keys::upload(id);
        self.get([key.clone()]).await?.take(&key)
    }

    /// Uploads of one shard that have not ended and are to be given up at `now`.
    pub async fn overdue_uploads(
        &self,
        shard: u8,
        now: DateTime<Utc>,
        from: Option<DueCursor>,
    ) -> Result<Due<Upload>> {
        self.due(shard, now, from).await
    }

    /// Ends an upload without a file, because of `reason`, and has deleted what there may be of it.
    ///
    /// # Errors
    /// [`Error::Changed`] when it has ended meanwhile.
    pub fn fail_upload(&self, upload: &Versioned<Upload>, reason: &str, now: DateTime<Utc>) -> Transaction {
        let Upload { id, company, owner, announced, .. } = &**upload;
        let put_by_client = announced.is_some().then(|| upload_key(*id));
        let keys = put_by_client.into_iter().chain([object_key(company, *owner, *id)]).collect();
        let mut transaction = self.transaction();
        transaction.replace(upload, &Upload::clone(upload).failed(reason));
        let task = Task::ObjectsDeleted { keys };
        transaction.effect(Some(Effect::new(company.clone(), id, task, now)));
        transaction
    }

    /// The partitions of the index in which uploads stand that have not ended.
    pub fn upload_shards() -> impl Iterator<Item = u8> {
        keys::upload_due_shards()
    }
}
