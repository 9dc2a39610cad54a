//! Views of exports.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use shared::Result;
use shared::archive::MediaLine;
use shared::domain::export::{CompanyExport, ExportFailure, ExportStatus};
use shared::domain::id::ExportId;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::wire::{Identifier, Timestamp, Uri};
use shared::media::{ObjectStore, export_folder};

/// An export: an archive of all data of the company.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Export")]
pub(crate) struct ExportView {
    id: Identifier<ExportId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::EXPORT)]
    resource_uri: Uri,
    /// The URL of the company.
    #[schemars(example = example_uri::COMPANY)]
    company: Uri,
    /// The progress of the export.
    status: ExportStatus,
    /// Why the export failed; null if it did not.
    #[schemars(example = ())]
    failure: Option<ExportFailure>,
    /// The amount written so far.
    progress: ExportProgressView,
    /// When the resource was created.
    created_at: Timestamp,
    /// The owner who requested the export.
    #[schemars(example = example_uri::CUSTOMER)]
    created_by: Uri,
    /// When the archive became available, or when the export failed; null before.
    #[schemars(example = &"2026-11-02T09:02:00Z")]
    finished_at: Option<Timestamp>,
    /// When the download of the archive ends; null if the archive was never available.
    #[schemars(example = &"2026-11-05T09:02:00Z")]
    expires_at: Option<Timestamp>,
    /// The number of the last event in the archive (`sequence`); null unless the archive is available.
    #[schemars(example = 1042)]
    sequence: Option<u64>,
    /// Whether all data in the archive is as of that event; null unless the archive is available.
    #[schemars(example = true)]
    is_exact: Option<bool>,
    /// The size of the archive's files without media, in bytes; null unless the archive is available.
    #[schemars(example = 1_482_113)]
    size: Option<u64>,
    /// The URL of the list of photos, CVs and recordings in the archive.
    #[schemars(example = example_uri::EXPORT_MEDIA)]
    media: Uri,
}

/// The amount of data that an export has written so far.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct ExportProgressView {
    /// The number of records read.
    #[schemars(example = 20_817)]
    records: u64,
    /// The number of media files listed.
    #[schemars(example = 1_204)]
    media: u64,
    /// The estimated fraction of work done, from 0 to 1.
    #[schemars(example = 1.0, range(min = 0, max = 1))]
    share: f64,
}

impl ExportView {
    pub(crate) fn new(export: &CompanyExport, references: ReferenceUris<'_>) -> Self {
        let archive = export.archive.as_ref();
        let resource_uri = references.uri(&export.company, export.id);
        Self {
            id: Identifier(export.id),
            company: references.company(&export.company),
            status: export.status,
            failure: export.failure,
            progress: ExportProgressView {
                records: export.progress.records,
                media: export.progress.media,
                share: f64::from(export.progress.percent) / 100.0,
            },
            created_at: Timestamp(export.created_at),
            created_by: references.uri(&export.company, export.created_by),
            finished_at: export.finished_at.map(Timestamp),
            expires_at: export.expires_at().map(Timestamp),
            sequence: archive.map(|archive| archive.sequence),
            is_exact: archive.map(|archive| archive.is_exact),
            size: archive.map(|archive| archive.files.iter().map(|file| file.size).sum()),
            media: resource_uri.join("media"),
            resource_uri,
        }
    }
}

/// An export with the URLs of its files.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExportWithFiles")]
pub(crate) struct ExportFilesView {
    #[serde(flatten)]
    export: ExportView,
    /// The archive's files without media; empty unless the archive is available.
    files: Vec<ExportedFileView>,
}

/// A file of an archive.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct ExportedFileView {
    /// The path in the archive's folder.
    #[schemars(example = &"records/candidates.jsonl")]
    name: String,
    /// The size in bytes.
    #[schemars(example = 48_211)]
    size: u64,
    /// The SHA-256 of its bytes, in hexadecimal.
    #[schemars(example = &"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    sha256: String,
    /// The URL at which the file can be downloaded for 15 minutes, without credentials. Each response has new URLs.
    #[schemars(example = example_uri::DOWNLOAD)]
    url: String,
}

impl ExportFilesView {
    /// The view, with URLs that are valid for `lifetime`.
    pub(crate) async fn new(
        export: &CompanyExport,
        references: ReferenceUris<'_>,
        objects: &ObjectStore<'_>,
        lifetime: Duration,
    ) -> Result<Self> {
        let mut files = Vec::new();
        if let Some(archive) = &export.archive {
            let folder = export_folder(&export.company, export.id, archive.attempt);
            for file in &archive.files {
                let saved_as = file.name.rsplit('/').next().unwrap_or_default();
                let url = objects.download_url(&format!("{folder}{}", file.name), saved_as, lifetime).await?;
                files.push(ExportedFileView {
                    name: file.name.clone(),
                    size: file.size,
                    sha256: file.sha256.clone(),
                    url,
                });
            }
        }
        Ok(Self { export: ExportView::new(export, references), files })
    }
}

/// A photo, a CV or a recording in an archive.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExportedMedia")]
pub(crate) struct ExportedMediaView {
    /// The path below `media/` in the archive's folder.
    #[schemars(example = &"candidates/01JQ8Z6R7ZP4S3C0V9N2M5K8TD/01JQ8ZB4T1H6W5Y7X3Q9E2G0FA/01JQ8ZHT4D7S0A3F6G9H2J5KPQ")]
    path: String,
    /// The record that owns the file.
    owner: MediaOwnerView,
    /// The content type; empty if the client that uploaded the file gave none.
    #[schemars(example = &"image/png")]
    content_type: String,
    /// The size in bytes.
    #[schemars(example = 20_480)]
    size: u64,
    /// The SHA-256 of its bytes, in hexadecimal.
    #[schemars(example = &"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    sha256: String,
    /// The URL at which the file can be downloaded for 15 minutes, without credentials. Each response has new URLs.
    /// Returns 403 or 404 after the file is deleted or replaced.
    #[schemars(example = example_uri::DOWNLOAD)]
    url: String,
}

/// The record that owns a media file.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct MediaOwnerView {
    /// The kind of record, which names its file in the archive.
    #[schemars(example = &"candidates")]
    kind: String,
    /// The identifier of the record.
    #[schemars(example = &"01JQ8Z6R7ZP4S3C0V9N2M5K8TD/01JQ8ZB4T1H6W5Y7X3Q9E2G0FA")]
    id: String,
}

impl ExportedMediaView {
    pub(crate) fn new(line: MediaLine, url: String) -> Self {
        let MediaLine { path, owner, content_type, size, sha256 } = line;
        let owner = MediaOwnerView { kind: owner.kind, id: owner.id };
        Self { path, owner, content_type, size, sha256, url }
    }
}
