//! Files: what their bytes are, where they are stored, and the addresses by which they are fetched.

mod address;
mod checked;
mod document;
mod ledger;
mod objects;
mod picture;
mod text;

pub use address::{MediaSigner, MediaToken};
pub use checked::{Checked, inspect};
pub use objects::{LedgerPosition, Objects, SignedUpload};

use crate::domain::file::{Owner, StoredFile};
use crate::domain::id::{CompanyId, FileId, VideoId};
use crate::domain::video::Rendition;

/// Where clients put files that do not fit through a request. Nothing below it is ever served; what stays there is
/// deleted by the bucket's own rule after a day.
const UPLOADS: &str = "uploads/files/";
/// The same for videos.
const VIDEO_UPLOADS: &str = "uploads/videos/";

/// The key of a stored object.
pub fn object_key(company: &CompanyId, owner: Owner, file: FileId) -> String {
    match owner {
        Owner::Customer { customer } => format!("media/{company}/customers/{customer}/{file}"),
        Owner::Candidate { project, candidate } => {
            format!("media/{company}/candidates/{project}/{candidate}/{file}")
        }
    }
}

/// The key of the object that a client puts, until it has been looked at.
pub fn upload_key(file: FileId) -> String {
    format!("{UPLOADS}{file}")
}

/// The upload whose object has this key.
pub fn upload_in(key: &str) -> Option<FileId> {
    key.strip_prefix(UPLOADS)?.parse().ok()
}

/// The key of a video's file as it was sent.
pub fn video_upload_key(company: &CompanyId, video: VideoId) -> String {
    format!("{VIDEO_UPLOADS}{company}/{video}")
}

/// The company and the video whose file has this key.
pub fn video_upload_in(key: &str) -> Option<(CompanyId, VideoId)> {
    let (company, video) = key.strip_prefix(VIDEO_UPLOADS)?.split_once('/')?;
    Some((company.parse().ok()?, video.parse().ok()?))
}

/// The key of one of the files that a video is converted to.
pub fn rendition_key(company: &CompanyId, video: VideoId, rendition: Rendition) -> String {
    format!("media/{company}/videos/{video}/{}", rendition_name(rendition))
}

/// What such a file is called.
pub fn rendition_name(rendition: Rendition) -> String {
    let stem = if rendition == Rendition::Thumbnail { "thumb" } else { "video" };
    format!("{stem}.{}", rendition.extension())
}

/// The keys of everything that may be stored of a video.
pub fn video_keys(company: &CompanyId, video: VideoId) -> [String; 4] {
    let [mp4, flv, thumbnail] = Rendition::ALL.map(|one| rendition_key(company, video, one));
    [video_upload_key(company, video), mp4, flv, thumbnail]
}

/// The name under which a document is saved: its owner's, as far as file systems can bear it.
pub fn file_name(name: &str, file: StoredFile) -> String {
    let kept = |character: char| character.is_alphanumeric() || matches!(character, ' ' | '-' | '\'');
    let name: String = name.chars().filter(|character| kept(*character)).collect();
    format!("{}.{}", name.trim(), file.file_type.extension())
}
