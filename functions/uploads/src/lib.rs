//! Validates uploaded photos and CVs and attaches them, and admits uploaded videos to their conversion.
//!
//! Events may be duplicated, late, or arrive after the upload has failed. The uploaded object is always deleted: only
//! validated copies are served, and clients have no upload URLs for their keys.

mod video;

use shared::app::App;
use shared::auth::SystemAccess;
use shared::domain::account::Account;
use shared::domain::candidate::Candidate;
use shared::domain::id::FileId;
use shared::domain::media::file::StoredFile;
use shared::domain::media::upload::{Upload, UploadStatus};
use shared::domain::staff::customer::Customer;
use shared::event::{ObjectCreated, RecordOutcome, persist};
use shared::media::{CheckedFile, object_key, upload_in, upload_key, video_upload_in};
use shared::store::{EVENT_PATIENCE, RetryPolicy, VersionedItem};
use shared::{Error, Result, log_failure, log_invocation};

const NOT_AS_ANNOUNCED: &str =
    "The uploaded file does not have the announced size. Announce it again with the correct size.";
const NOT_ALLOWED: &str =
    "The person who announced this file may no longer upload it. Announce it again with an account that may.";
const OWNER_GONE: &str = "The person this file was for no longer exists.";

/// Processes one event.
///
/// # Errors
/// If the storage or the bucket fails. The event is retried and becomes a dead letter after some attempts.
pub async fn process(app: &App, event: ObjectCreated) -> Result<RecordOutcome> {
    let key = event.key();
    let system = SystemAccess::of(app);
    let (outcome, id) = if let Some(id) = upload_in(key) {
        (persist(&system, EVENT_PATIENCE, || process_upload(&system, id, key)).await, id.to_string())
    } else if let Some((company, id)) = video_upload_in(key) {
        (persist(&system, EVENT_PATIENCE, || video::admit(&system, &company, id)).await, id.to_string())
    } else {
        return Ok(RecordOutcome::Ignored);
    };
    match &outcome {
        Ok(outcome) => {
            log_invocation!(target: "uploads", system.usage(), upload = %id, ?outcome, "processed")
        }
        Err(error) => {
            log_failure!(target: "uploads", error, upload = %id, "could not process the upload")
        }
    }
    outcome
}

/// Attaches the file if its upload is pending. Always deletes the uploaded object.
async fn process_upload(system: &SystemAccess, id: FileId, key: &str) -> Result<RecordOutcome> {
    let outcome = match system.store.upload(id).await? {
        Some(upload) if upload.status == UploadStatus::AwaitingUpload => attach_file(system, upload).await?,
        _ => RecordOutcome::Ignored,
    };
    // The uploaded object is never served: its validated copy has another key.
    system.objects()?.delete(key).await?;
    Ok(outcome)
}

async fn attach_file(system: &SystemAccess, upload: VersionedItem<Upload>) -> Result<RecordOutcome> {
    let Some(announced) = &upload.announced else { return Ok(RecordOutcome::Ignored) };
    let objects = system.objects()?;
    let bytes = objects.get(&upload_key(upload.id), announced.size).await?;
    let Some(bytes) = bytes.filter(|bytes| bytes.len() as u64 == announced.size) else {
        return refuse(system, &upload, NOT_AS_ANNOUNCED).await;
    };
    let checked = match CheckedFile::new(upload.kind, bytes).await {
        Ok(checked) => checked,
        Err(Error::Fields(messages)) => return refuse(system, &upload, &messages.to_string()).await,
        Err(error) => return Err(error),
    };
    let key = object_key(&upload.company, upload.owner, upload.id);
    let file = objects.put(&key, upload.id, checked).await?;
    system.store.retry_on_conflict(RetryPolicy::CHANGE, || finish_upload(system, &upload, file)).await
}

/// Attaches a validated file to its owner, unless the uploader has lost the right to upload it.
async fn finish_upload(
    system: &SystemAccess,
    upload: &VersionedItem<Upload>,
    file: StoredFile,
) -> Result<RecordOutcome> {
    // The signed URL is valid for an hour. In the meantime, the uploader's role, session or account may have ended.
    if !system.may_still_upload(upload).await? {
        return refuse(system, upload, NOT_ALLOWED).await;
    }
    let lost = match give(system, upload, file).await {
        Ok(true) => return Ok(RecordOutcome::Applied),
        Ok(false) => return refuse(system, upload, OWNER_GONE).await,
        Err(error @ (Error::Changed | Error::NotFound)) => error,
        Err(error) => return Err(error),
    };
    // The conflict may come from a duplicate of this event, or from a change of the owner. Only the latter needs a
    // retry.
    let status = system.store.upload(upload.id).await?.map(|upload| upload.status);
    if status == Some(UploadStatus::AwaitingUpload) { Err(lost) } else { Ok(RecordOutcome::Ignored) }
}

/// Attaches the file; false if the owner no longer exists. Fails with [`Error::Changed`] if the file is attached
/// already.
async fn give(system: &SystemAccess, upload: &Upload, file: StoredFile) -> Result<bool> {
    let store = system.store_of(upload);
    let now = system.now;
    match upload.owner {
        Account::Candidate { project, candidate } => {
            let Some(before) = store.candidate(&upload.company, project, candidate).await? else {
                return Ok(false);
            };
            let mut after = Candidate::clone(&before);
            if after.file_mut(upload.kind).replace(file) == Some(file) {
                return Err(Error::Changed);
            }
            system.commit(store.change_candidate(&before, &after.into(), now)).await?;
        }
        Account::Customer { customer } => {
            let Some(before) = store.customer(&upload.company, customer).await? else { return Ok(false) };
            if before.photo == Some(file) {
                return Err(Error::Changed);
            }
            let after = Customer { photo: Some(file), ..Customer::clone(&before) };
            system.commit(store.update_customer(&before, &after, now)).await?;
        }
    }
    Ok(true)
}

async fn refuse(
    system: &SystemAccess,
    upload: &VersionedItem<Upload>,
    reason: &str,
) -> Result<RecordOutcome> {
    match system.commit(system.store.fail_upload(upload, reason, system.now)).await {
        Ok(()) => Ok(RecordOutcome::Refused),
        // A duplicate of this event, or the end of the upload's time limit, came first.
        Err(Error::Changed | Error::NotFound) => Ok(RecordOutcome::Ignored),
        Err(error) => Err(error),
    }
}
