//! An upload as clients announce it and see it.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::file::FileKind;
use crate::domain::upload::UploadStatus;
use crate::domain::upload::{Announced, Upload};
use crate::error::{Error, Result};
use crate::http::Fields;
use crate::http::reference::References;
use crate::http::wire::{Timestamp, Uri};
use crate::media::SignedUpload;

/// The longest content type.
const MAX_CONTENT_TYPE: usize = 100;

/// Reads what a client says of a file that it is going to send: `field`, one of `kinds`, `content_type` and `size`.
///
/// # Errors
/// [`Error::Fields`].
pub fn read_announcement(mut body: Fields, kinds: &[FileKind]) -> Result<(FileKind, Announced)> {
    let kind = body.required("field", |name| {
        let found = kinds.iter().find(|kind| kind.as_str() == name);
        found.copied().ok_or_else(|| format!("\"{name}\" is not a valid choice."))
    });
    let content_type = body.required("content_type", parse_content_type);
    body.require("size");
    let most = kind.map_or(u64::from(u32::MAX), FileKind::max_bytes);
    let size = body.integer("size", 1, u32::try_from(most).unwrap_or(u32::MAX));
    body.finish()?;
    match (kind, content_type, size) {
        (Some(kind), Some(content_type), Some(size)) => {
            Ok((kind, Announced { content_type, size: size.into() }))
        }
        _ => Err(Error::internal("a required field was neither read nor refused")),
    }
}

/// Reads the content type that a client says a file has.
///
/// # Errors
/// The message for whoever sent it.
pub fn parse_content_type(text: &str) -> Result<String, String> {
    let is_type = |(kind, subtype): (&str, &str)| !kind.is_empty() && !subtype.is_empty();
    let is_fine = text.len() <= MAX_CONTENT_TYPE
        && text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
        && text.split_once('/').is_some_and(is_type);
    if is_fine {
        Ok(text.to_owned())
    } else {
        Err("Enter a content type such as application/pdf.".to_owned())
    }
}

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
