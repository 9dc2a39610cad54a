//! Uploads. Each is recorded before its first byte is stored, so that the bucket contains no unknown object.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::account::{Account, CredentialClaim};
use crate::id::{CompanyId, FileId, TokenId};
use crate::media::file::{FileKind, FileType};
use crate::names::named;

/// Validity of the signed URL of a part of a take: a client must start to send the part within this time.
pub const PART_URL_LIFETIME: Duration = Duration::from_secs(15 * 60);
/// How long after a candidate's deletion parts of takes and files of a running conversion may still arrive.
// S3 checks a URL when an upload begins, not when it ends, and aborts stalled uploads, but not slow ones. The page gives up a
// part after ten minutes, and a conversion ends within fifteen. Twenty more minutes are for clients other than the page: a part
// of 8 MiB that began at the last moment arrives in time at 40 kbit/s. The bucket deletes later parts after 30 days.
pub const ARRIVAL: Duration = Duration::from_secs(PART_URL_LIFETIME.as_secs() + (10 + 20) * 60);
/// Validity of the signed URL: a client must start the upload within this time.
const URL_LIFETIME: TimeDelta = TimeDelta::hours(1);
/// The time for transfer and processing after the URL has expired.
const GRACE: TimeDelta = TimeDelta::hours(1);
/// The time for a request that contains the file.
// Functions time out after half a minute.
const REQUEST: TimeDelta = TimeDelta::minutes(5);
/// How long the result of an upload is kept.
const REMEMBERED: TimeDelta = TimeDelta::days(7);

named! {
    /// How far an upload is.
    #[schemars(extend("x-closed-set" = true))]
    pub enum UploadStatus {
        /// The file has not arrived, or has not been validated.
        AwaitingUpload = "awaiting-upload",
        /// The file is attached.
        Successful = "successful",
        /// The upload has failed, and no file will be attached.
        Failed = "failed",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upload {
    /// The identifier of the future file.
    pub id: FileId,
    pub company: CompanyId,
    /// The future owner.
    #[serde(flatten)]
    pub owner: Account,
    /// The field that the file is for.
    pub kind: FileKind,
    /// The progress.
    pub status: UploadStatus,
    /// The announcement, if the client uploads to S3.
    pub announced: Option<AnnouncedFile>,
    /// The detected type, once the file is attached.
    pub found: Option<FileType>,
    pub author: UploadAuthor,
    /// When the upload began.
    pub created_at: DateTime<Utc>,
    /// Why the upload failed, a sentence.
    pub failure: Option<String>,
}

/// The author of an upload, with the data that shows whether they may still change the owner when the file arrives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum UploadAuthor {
    /// A staff user or a candidate.
    Account {
        /// The account, and the customer who acts on its behalf.
        claim: CredentialClaim,
        /// The session epoch; `None` if a candidate's key was the credential.
        epoch: Option<u32>,
        /// The session epoch of the customer who acts on behalf of the account.
        actor_epoch: Option<u32>,
    },
    NamedToken {
        /// The token's identifier.
        token: TokenId,
    },
}

/// A client's announcement of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnouncedFile {
    /// The declared content type.
    pub content_type: String,
    /// The size in bytes.
    pub size: u64,
}

impl Upload {
    /// When the signed URL expires.
    pub fn url_expires_at(&self) -> DateTime<Utc> {
        self.created_at + URL_LIFETIME
    }

    /// When the upload fails if it has not ended.
    pub fn given_up_at(&self) -> DateTime<Utc> {
        match self.announced {
            Some(_) => self.url_expires_at() + GRACE,
            None => self.created_at + REQUEST,
        }
    }

    /// When an upload that ended at `now` is deleted.
    pub fn forgotten_at(now: DateTime<Utc>) -> DateTime<Utc> {
        now + REMEMBERED
    }

    /// The upload after it failed for this reason.
    pub fn failed(self, reason: impl Into<String>) -> Self {
        Self { status: UploadStatus::Failed, failure: Some(reason.into()), ..self }
    }
}
