//! Files on their way: noted before the first byte is stored, so that none is ever left that nothing knows of.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::account::Claim;
use super::file::{FileKind, FileType, Owner};
use super::id::{CompanyId, FileId, TokenId};
use super::names::named;

/// How long a client may begin to send a file by the URL that it was given.
const URL_LIFETIME: TimeDelta = TimeDelta::hours(1);
/// How long sending may take, once begun, and taking the file in.
const GRACE: TimeDelta = TimeDelta::hours(1);
/// How long a request that brings a file may take; functions have half a minute.
const REQUEST: TimeDelta = TimeDelta::minutes(5);
/// How long it is known what became of an upload.
const REMEMBERED: TimeDelta = TimeDelta::days(7);

named! {
    /// How far an upload is.
    pub enum UploadStatus {
        /// The file has not arrived, or has not been looked at.
        AwaitingUpload = "awaiting-upload",
        /// The file is its owner's.
        Successful = "successful",
        /// There is no file, and will be none.
        Failed = "failed",
    }
}

/// A file on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upload {
    /// The identifier that the file will have.
    pub id: FileId,
    /// The company of its owner.
    pub company: CompanyId,
    /// Whose it will be.
    #[serde(flatten)]
    pub owner: Owner,
    /// What it will be to its owner.
    pub kind: FileKind,
    /// How far it is.
    pub status: UploadStatus,
    /// What was announced, when the client sends it to S3 itself.
    pub announced: Option<Announced>,
    /// What its bytes are, once the file is its owner's.
    #[serde(default)]
    pub found: Option<FileType>,
    /// Who began it; none when that was not noted yet.
    #[serde(default)]
    pub author: Option<Author>,
    /// When it began.
    pub created_at: DateTime<Utc>,
    /// Why there is no file, in words.
    pub failure: Option<String>,
}

/// Who began an upload, by what decides whether they may still change its owner when the file arrives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Author {
    /// A staff user or a candidate.
    Account {
        /// Who, and who acts in their name.
        claim: Claim,
        /// The session epoch in which they began it; none when a candidate's key was enough.
        epoch: Option<u32>,
        /// The session epoch of who acts in their name.
        actor_epoch: Option<u32>,
    },
    /// A named token.
    NamedToken {
        /// Which.
        token: TokenId,
    },
}

/// What a client says of a file that it is going to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announced {
    /// The content type that it declares.
    pub content_type: String,
    /// The size in bytes.
    pub size: u64,
}

impl Upload {
    /// An upload that `author` begins at `now`; without an announcement it is part of a request.
    pub fn new(
        id: FileId,
        company: CompanyId,
        (owner, kind): (Owner, FileKind),
        announced: Option<Announced>,
        (author, now): (Author, DateTime<Utc>),
    ) -> Self {
        let (status, author) = (UploadStatus::AwaitingUpload, Some(author));
        Self {
            id,
            company,
            owner,
            kind,
            status,
            announced,
            found: None,
            author,
            created_at: now,
            failure: None,
        }
    }

    /// Until when the client may begin to send the file.
    pub fn url_expires_at(&self) -> DateTime<Utc> {
        self.created_at + URL_LIFETIME
    }

    /// When it has failed, unless it has ended before.
    pub fn given_up_at(&self) -> DateTime<Utc> {
        match self.announced {
            Some(_) => self.url_expires_at() + GRACE,
            None => self.created_at + REQUEST,
        }
    }

    /// When it need not be known any more what became of an upload that ended at `now`.
    pub fn forgotten_at(now: DateTime<Utc>) -> DateTime<Utc> {
        now + REMEMBERED
    }

    /// The upload that has failed, because of `reason`.
    pub fn failed(self, reason: impl Into<String>) -> Self {
        Self { status: UploadStatus::Failed, failure: Some(reason.into()), ..self }
    }
}
