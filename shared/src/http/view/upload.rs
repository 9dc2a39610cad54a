//! The view of an upload.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::id::FileId;
use crate::domain::media::file::FileKind;
use crate::domain::media::upload::{Upload, UploadStatus};
use crate::http::example_uri;
use crate::http::reference::ReferenceUris;
use crate::http::wire::{Identifier, Timestamp, Uri};
use crate::media::SignedUpload;

/// An upload of a photo or a CV.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Upload")]
pub struct UploadView {
    id: Identifier<FileId>,
    /// The URL of the upload, valid for seven days after its end.
    #[schemars(example = example_uri::UPLOAD)]
    resource_uri: Uri,
    /// The field that the file is for.
    field: FileKind,
    /// The progress of the upload.
    status: UploadStatus,
    /// Why the upload failed, a sentence; null otherwise.
    #[schemars(example = ())]
    error: Option<String>,
    /// The detected content type once the file is attached; before, the announced one, or null without an
    /// announcement.
    #[schemars(example = &"image/jpeg")]
    content_type: Option<String>,
    /// The announced size, in bytes; null without an announcement.
    #[schemars(example = 90000)]
    size: Option<u64>,
    /// The request that uploads the file. Only in the response to the announcement.
    #[serde(skip_serializing_if = "Option::is_none")]
    upload: Option<SignedUploadView>,
}

/// The request that uploads the file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SignedUpload")]
pub struct SignedUploadView {
    /// The URL to upload to.
    #[schemars(example = example_uri::UPLOAD_TARGET)]
    url: Uri,
    /// The HTTP method.
    #[schemars(example = &"PUT")]
    method: String,
    /// Headers to send.
    headers: BTreeMap<String, String>,
    /// When the URL expires; an upload must have started by then.
    expires_at: Timestamp,
}

impl UploadView {
    /// The view of an upload.
    pub fn new(upload: &Upload, references: ReferenceUris<'_>) -> Self {
        let announced = upload.announced.as_ref();
        let found = upload.found.map(|file_type| file_type.content_type().to_owned());
        Self {
            id: Identifier(upload.id),
            resource_uri: references.upload(&upload.company, upload.owner, upload.id),
            field: upload.kind,
            status: upload.status,
            error: upload.failure.clone(),
            content_type: found.or_else(|| Some(announced?.content_type.clone())),
            size: announced.map(|announced| announced.size),
            upload: None,
        }
    }

    /// Adds the signed request that uploads the file.
    pub fn with_request(self, upload: &Upload, signed: SignedUpload) -> Self {
        Self { upload: Some(SignedUploadView::new(signed, upload.url_expires_at())), ..self }
    }
}

impl SignedUploadView {
    /// The view of a signed request; the upload must start before `expires_at`.
    pub fn new(signed: SignedUpload, expires_at: DateTime<Utc>) -> Self {
        Self {
            url: Uri::new(signed.url),
            method: signed.method,
            headers: signed.headers.into_iter().collect(),
            expires_at: Timestamp(expires_at),
        }
    }
}
