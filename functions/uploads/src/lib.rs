//! Takes in files that clients have put straight into the bucket: looks at them, and gives them to their owners.
//!
//! An event may come twice, late, or when the upload has been given up. What was put is deleted in any case: only what
//! was looked at is ever served, from another place, to which no client has a URL.

use serde::Serialize;
use shared::app::App;
use shared::auth::System;
use shared::domain::candidate::Candidate;
use shared::domain::customer::Customer;
use shared::domain::file::{Owner, StoredFile};
use shared::domain::id::FileId;
use shared::domain::upload::{Upload, UploadStatus};
use shared::event::ObjectCreated;
use shared::media::{Checked, object_key, upload_in, upload_key};
use shared::store::Versioned;
use shared::{Error, Result};

/// How often a file is given to its owner while others change the owner.
const TRIES: usize = 8;

const NOT_AS_ANNOUNCED: &str = "What arrived is not of the announced size.";
const NOT_ALLOWED: &str =
    "The person who announced this file may no longer upload it. Announce it again with an account that may.";
const OWNER_GONE: &str = "There is nobody any more to whom the file could belong.";

/// What an event came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The file is its owner's.
    TakenIn,
    /// The file is not what it should be, or of nobody.
    Refused,
    /// The upload had ended before, or there never was one.
    Ignored,
}

/// Handles one event.
///
/// # Errors
/// When the storage or the bucket fails. The event comes again, and after some tries is put aside for the operator.
pub async fn handle(app: &App, event: ObjectCreated) -> Result<Outcome> {
    let key = event.key();
    let Some(id) = upload_in(key) else { return Ok(Outcome::Ignored) };
    let outcome = settle(&System::of(app), id, key).await;
    match &outcome {
        Ok(outcome) => tracing::info!(target: "uploads", upload = %id, ?outcome),
        Err(error) => tracing::error!(target: "uploads", upload = %id, %error, "not taken in"),
    }
    outcome
}

/// Takes the object in if its upload waits for it, and deletes it in any case.
async fn settle(system: &System, id: FileId, key: &str) -> Result<Outcome> {
    let outcome = match system.store.upload(id).await? {
        Some(upload) if upload.status == UploadStatus::AwaitingUpload => take_in(system, upload).await?,
        _ => Outcome::Ignored,
    };
    system.objects()?.delete(key).await?;
    Ok(outcome)
}

async fn take_in(system: &System, upload: Versioned<Upload>) -> Result<Outcome> {
    let Some(announced) = &upload.announced else { return Ok(Outcome::Ignored) };
    let objects = system.objects()?;
    let bytes = objects.get(&upload_key(upload.id), announced.size).await?;
    let Some(bytes) = bytes.filter(|bytes| bytes.len() as u64 == announced.size) else {
        return refuse(system, &upload, NOT_AS_ANNOUNCED).await;
    };
    let checked = match Checked::new(upload.kind, bytes).await {
        Ok(checked) => checked,
        Err(Error::Fields(messages)) => return refuse(system, &upload, &messages.to_string()).await,
        Err(error) => return Err(error),
    };
    let key = object_key(&upload.company, upload.owner, upload.id);
    let file = objects.put(&key, upload.id, checked).await?;
    for _ in 0..TRIES {
        if !system.may_still_upload(&upload).await? {
            return refuse(system, &upload, NOT_ALLOWED).await;
        }
        match give(system, &upload, file).await {
            Ok(true) => return Ok(Outcome::TakenIn),
            Ok(false) => return refuse(system, &upload, OWNER_GONE).await,
            // The owner has changed, or the upload has ended.
            Err(Error::Changed | Error::NotFound) => {}
            Err(error) => return Err(error),
        }
        let status = system.store.upload(upload.id).await?.map(|upload| upload.status);
        if status != Some(UploadStatus::AwaitingUpload) {
            return Ok(Outcome::Ignored);
        }
    }
    Err(Error::Changed)
}

/// Writes the owner with the file; false when there is no such owner. An owner who has it already has changed.
async fn give(system: &System, upload: &Upload, file: StoredFile) -> Result<bool> {
    let (store, now) = (&system.store, system.now);
    match upload.owner {
        Owner::Candidate { project, candidate } => {
            let Some(before) = store.candidate(&upload.company, project, candidate).await? else {
                return Ok(false);
            };
            let mut after = Candidate::clone(&before);
            if after.file_mut(upload.kind).replace(file) == Some(file) {
                return Err(Error::Changed);
            }
            system.commit(store.change_candidate(&before, &after.into(), now)).await?;
        }
        Owner::Customer { customer } => {
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

async fn refuse(system: &System, upload: &Versioned<Upload>, reason: &str) -> Result<Outcome> {
    match system.commit(system.store.fail_upload(upload, reason, system.now)).await {
        Ok(()) => Ok(Outcome::Refused),
        // The same event, or the end of the time, was faster.
        Err(Error::Changed | Error::NotFound) => Ok(Outcome::Ignored),
        Err(error) => Err(error),
    }
}
