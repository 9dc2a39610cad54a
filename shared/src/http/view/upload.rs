//! An upload as clients see it.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::file::FileKind;
use crate::domain::upload::{Upload, UploadStatus};
use crate::http::reference::References;
use crate::http::wire::{Timestamp, Uri};
use crate::media::SignedUpload;

/// An upload as clients see it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Upload")]
pub struct UploadView {
    /// Its own address, for seven days.
    resource_uri: Uri,
    /// What the file will be to its owner.
    field: FileKind,
    /// How far it is.
    status: UploadStatus,
    /// Why there is no file, in words.
    error: Option<String>,
    /// That of the file, found by its bytes; until it is its owner's, as it was announced, null without an announcement.
    #[schemars(example = &"application/pdf")]
    content_type: Option<String>,
    /// How many bytes were announced.
    #[schemars(example = 90000)]
    size: Option<u64>,
    /// The request by which the file is put. Only in the answer to the announcement.
    #[serde(skip_serializing_if = "Option::is_none")]
    upload: Option<SignedUploadView>,
}

/// The request by which a client puts a file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SignedUpload")]
pub struct SignedUploadView {
    /// Where the file goes.
    url: Uri,
    /// The method.
    #[schemars(example = &"PUT")]
    method: String,
    /// Headers that the request must have.
    headers: Map<String, Value>,
    /// Until when the request may begin.
    expires_at: Timestamp,
}

impl UploadView {
    /// The view of an upload.
    pub fn new(upload: &Upload, references: References<'_>) -> Self {
        let announced = upload.announced.as_ref();
        let found = upload.found.map(|file_type| file_type.content_type().to_owned());
        Self {
            resource_uri: references.upload(&upload.company, upload.owner, upload.id),
            field: upload.kind,
            status: upload.status,
            error: upload.failure.clone(),
            content_type: found.or_else(|| Some(announced?.content_type.clone())),
            size: announced.map(|announced| announced.size),
            upload: None,
        }
    }

    /// The view with the request by which the client puts the file.
    pub fn with_request(self, upload: &Upload, signed: SignedUpload) -> Self {
        Self { upload: Some(SignedUploadView::new(signed, upload.url_expires_at())), ..self }
    }
}

impl SignedUploadView {
    /// The view of a request that may begin until `expires_at`.
    pub fn new(signed: SignedUpload, expires_at: DateTime<Utc>) -> Self {
        let headers = signed.headers.into_iter().map(|(name, value)| (name, Value::String(value)));
        Self {
            url: Uri::new(signed.url),
            method: signed.method,
            headers: headers.collect(),
            expires_at: Timestamp(expires_at),
        }
    }
}
