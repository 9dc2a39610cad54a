//! Files: their validation, storage and URLs.

mod answers;
mod checked;
mod document;
mod file_url;
mod ledger;
mod objects;
mod picture;
mod signed;
mod text;

pub use answers::{AnswerObjects, recorded_part_in, recorded_parts};
pub use checked::{CheckedFile, detect, inspect, is_plain_text, logo_picture};
pub use file_url::{FileUrlSigner, FileUrlToken};
pub use objects::{CopiedObject, LedgerPosition, ListedObject, ObjectStore};
pub use signed::{HashedUpload, SignedUpload};

use crate::domain::account::Account;
use crate::domain::id::{CompanyId, ExportId, FileId, VideoId};
use crate::domain::language::Language;
use crate::domain::media::conversion::queue::Recording;
use crate::domain::media::file::StoredFile;
use crate::domain::media::video::Rendition;

/// The prefix for files that clients upload because they are too large for a request. Nothing below it is served; a
/// lifecycle rule of the bucket deletes what remains after a day.
const UPLOADS: &str = "uploads/files/";
/// The prefix for large videos that clients upload; otherwise like [`UPLOADS`].
const VIDEO_UPLOADS: &str = "uploads/videos/";

/// The prefix of empty objects, the markers: the event of each permits one conversion.
const CONVERSION_MARKERS: &str = "uploads/conversions/";

/// The key of a validated file.
pub fn object_key(company: &CompanyId, owner: Account, file: FileId) -> String {
    format!("{}{file}", files_prefix(company, owner))
}

/// The common prefix of the keys of an owner's files. No other keys have it.
pub fn files_prefix(company: &CompanyId, owner: Account) -> String {
    match owner {
        Account::Customer { customer } => format!("media/{company}/customers/{customer}/"),
        Account::Candidate { project, candidate } => {
            format!("media/{company}/candidates/{project}/{candidate}/")
        }
    }
}

/// The common prefix of the keys of an export's files. No other keys have it.
pub fn export_prefix(company: &CompanyId, export: ExportId) -> String {
    format!("exports/{company}/{export}/")
}

/// The prefix of the keys of the files that one attempt at an export writes.
// Each attempt has its own keys, so that an attempt that finishes too late replaces nothing.
pub fn export_folder(company: &CompanyId, export: ExportId, attempt: u64) -> String {
    format!("{}{attempt}/", export_prefix(company, export))
}

/// The key of an uploaded object until it has been validated.
pub fn upload_key(file: FileId) -> String {
    format!("{UPLOADS}{file}")
}

/// The upload whose object has this key; `None` for other keys.
pub fn upload_in(key: &str) -> Option<FileId> {
    key.strip_prefix(UPLOADS)?.parse().ok()
}

pub fn video_upload_key(company: &CompanyId, video: VideoId) -> String {
    // The key names the company, because S3's event holds only the key, and finding the video's item needs the company.
    format!("{VIDEO_UPLOADS}{company}/{video}")
}

pub fn video_upload_in(key: &str) -> Option<(CompanyId, VideoId)> {
    let (company, video) = key.strip_prefix(VIDEO_UPLOADS)?.split_once('/')?;
    Some((company.parse().ok()?, video.parse().ok()?))
}

/// Whether this is the key of a marker whose event permits a conversion.
pub fn is_conversion_marker(key: &str) -> bool {
    key.starts_with(CONVERSION_MARKERS)
}

/// The key of the marker of a recording that waits for its conversion.
pub fn conversion_marker_key(company: &CompanyId, recording: &Recording) -> String {
    match *recording {
        Recording::Take { project, candidate, take } => {
            AnswerObjects { company: company.clone(), project, candidate }.marker(take)
        }
        Recording::Video { video } => format!("{CONVERSION_MARKERS}{company}/{video}"),
    }
}

pub fn rendition_key(company: &CompanyId, video: VideoId, rendition: Rendition) -> String {
    format!("media/{company}/videos/{video}/{}", rendition_name(rendition))
}

/// The file name of a rendition.
pub fn rendition_name(rendition: Rendition) -> String {
    let stem = if rendition == Rendition::Thumbnail { "thumb" } else { "video" };
    format!("{stem}.{}", rendition.extension())
}

/// The name that the URLs of a video's captions in a language are signed for. Captions are not in the bucket.
pub fn captions_name(company: &CompanyId, video: VideoId, language: Language) -> String {
    // No key of the bucket has this prefix.
    format!("captions/{company}/{video}/{}", language.as_str())
}

/// All keys that objects of a video may have.
pub fn video_keys(company: &CompanyId, video: VideoId) -> [String; 5] {
    let [mp4, flv, thumbnail] = Rendition::ALL.map(|rendition| rendition_key(company, video, rendition));
    let marker = conversion_marker_key(company, &Recording::Video { video });
    [video_upload_key(company, video), marker, mp4, flv, thumbnail]
}

/// The file name for saving a document: its owner's name without characters that file systems reject.
pub fn file_name(name: &str, file: StoredFile) -> String {
    let name: String = name
        .chars()
        .filter(|character| character.is_alphanumeric() || matches!(character, ' ' | '-' | '\''))
        .collect();
    format!("{}.{}", name.trim(), file.file_type.extension())
}
