//! Access patterns of uploads: each is created before its file is stored, and ended by the change that attaches the file to its owner.

use chrono::{DateTime, Utc};
use serde_dynamo::to_attribute_value;

use crate::domain::account::Account;
use crate::domain::candidate::Candidate;
use crate::domain::effect::{Effect, EffectTask};
use crate::domain::id::{CompanyId, FileId};
use crate::domain::media::file::StoredFile;
use crate::domain::media::upload::{Upload, UploadStatus};
use crate::error::{Error, Result};
use crate::media::{object_key, upload_key};
use crate::store::due::DueQueue;
use crate::store::table::handle::Store;
use crate::store::table::item::{DueEntry, EXPIRES_AT, StoredEntity, VersionedItem, number, string};
use crate::store::table::keys::{self, DUE, ItemKey};
use crate::store::table::write::condition::AttributeUpdate;
use crate::store::table::write::transaction::Transaction;

impl StoredEntity for Upload {
    fn key(&self) -> ItemKey {
        keys::upload(self.id)
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        let has_ended = self.status != UploadStatus::AwaitingUpload;
        has_ended.then(|| Self::forgotten_at(self.given_up_at()))
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let is_awaited = self.status == UploadStatus::AwaitingUpload;
        let shard = DueQueue::Uploads.shard_of(self.id);
        is_awaited.then(|| DueEntry { shard, at: self.given_up_at(), company: &self.company })
    }
}

pub(in crate::store) struct OwnedFiles<'a> {
    pub(in crate::store) company: &'a CompanyId,
    pub(in crate::store) owner: Account,
    pub(in crate::store) files: Vec<StoredFile>,
}

impl OwnedFiles<'_> {
    fn ids(&self) -> Vec<FileId> {
        self.files.iter().map(|file| file.id).collect()
    }
}

impl Transaction {
    /// Ends the uploads of new files, and records effects that delete the objects of removed files.
    pub(in crate::store) fn files(
        &mut self,
        before: Option<OwnedFiles<'_>>,
        after: OwnedFiles<'_>,
        now: DateTime<Utc>,
    ) {
        let old = before.as_ref().map(OwnedFiles::ids).unwrap_or_default();
        let new = after.ids();
        for file in after.files.iter().filter(|file| !old.contains(&file.id)) {
            self.end_upload(*file, now);
        }
        let Some(before) = before else { return };
        for file in old.into_iter().filter(|file| !new.contains(file)) {
            let keys = vec![object_key(before.company, before.owner, file)];
            let task = EffectTask::ObjectsDeleted { keys };
            self.effect(Some(Effect::new(before.company.clone(), file, task, now)));
        }
    }

    /// Ends an upload as successful. Fails with [`Error::Changed`] if it has already ended.
    fn end_upload(&mut self, file: StoredFile, now: DateTime<Utc>) {
        let Some(found) = self.or_fault(to_attribute_value(file.file_type).map_err(Error::internal)) else {
            return;
        };
        let expression = format!(
            "SET #status = :ended, #found = :found, {EXPIRES_AT} = :end REMOVE {}, {}",
            DUE.pk, DUE.sk
        );
        let values = [
            (":ended", string(UploadStatus::Successful.as_str())),
            (":awaited", string(UploadStatus::AwaitingUpload.as_str())),
            (":found", found),
            (":end", number(Upload::forgotten_at(now).timestamp())),
        ];
        let names = [("#status", "status"), ("#found", "found")];
        // Of two deliveries of the same event, only one may attach the file.
        let mut change = AttributeUpdate::set(&expression, values).when("#status = :awaited");
        change.names = names.map(|(name, attribute)| (name.to_owned(), attribute.to_owned())).into();
        self.update(keys::upload(file.id), change, Error::Changed);
    }
}

impl Store {
    /// Creates an upload with a single write, before its file is stored. Fails with [`Error::Changed`] if the identifier exists.
    pub(crate) async fn note_upload(&self, upload: &Upload) -> Result<()> {
        self.create_alone(upload.clone()).await.map(drop)
    }

    /// Creates an upload that a client announces.
    pub fn create_upload(&self, upload: &Upload) -> Transaction {
        let mut transaction = self.transaction();
        transaction.create(upload);
        transaction
    }

    /// Creates an upload that a client announces for a candidate. If the announcement changes the candidate, also
    /// replaces them by `after`.
    pub fn announce_candidate_file(
        &self,
        upload: &Upload,
        before: &VersionedItem<Candidate>,
        after: &Candidate,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.create_upload(upload);
        if **before != *after {
            transaction.change_candidate(before, &after.clone().into(), now);
        }
        transaction
    }

    pub async fn upload(&self, id: FileId) -> Result<Option<VersionedItem<Upload>>> {
        self.one(keys::upload(id)).await
    }

    /// Ends an upload as failed because of `reason`, and records the effect that deletes its objects.
    pub fn fail_upload(
        &self,
        upload: &VersionedItem<Upload>,
        reason: &str,
        now: DateTime<Utc>,
    ) -> Transaction {
        let Upload { id, company, owner, announced, .. } = &**upload;
        let put_by_client = announced.is_some().then(|| upload_key(*id));
        // The validated copy may exist, because it is stored before it is attached.
        let keys = put_by_client.into_iter().chain([object_key(company, *owner, *id)]).collect();
        let mut transaction = self.transaction();
        transaction.replace(upload, &Upload::clone(upload).failed(reason));
        let task = EffectTask::ObjectsDeleted { keys };
        transaction.effect(Some(Effect::new(company.clone(), id, task, now)));
        transaction
    }
}
