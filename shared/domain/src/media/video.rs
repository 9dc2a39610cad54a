//! Welcome videos: uploaded by staff, converted for browsers, shown to candidates of projects.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::history::{
    EventType, FieldChanges, FieldValue, HasHistory, ResourceRef, events_that_apply, facts, private,
};
use crate::id::{CompanyId, CustomerId, VideoId};
use crate::language::Language;
use crate::media::conversion::{Conversion, ConversionStatus};
use crate::media::file::FileType;
use crate::media::upload::{AnnouncedFile, UploadAuthor};
use crate::text::{ShortName, TextLine, TextLines};

/// The maximum size of an uploaded video, in bytes.
pub const MAX_VIDEO_BYTES: u64 = 2 * 1024 * 1024 * 1024;

const URL_LIFETIME: TimeDelta = TimeDelta::hours(1);
const SENDING: TimeDelta = TimeDelta::hours(2);
/// A file that a video is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rendition {
    /// H.264 and AAC in mp4.
    Mp4,
    /// H.264 and AAC in flv.
    Flv,
    /// A thumbnail.
    Thumbnail,
}

impl Rendition {
    /// Every rendition.
    pub const ALL: [Self; 3] = [Self::Mp4, Self::Flv, Self::Thumbnail];

    /// The file extension.
    pub fn extension(self) -> &'static str {
        self.file_type().extension()
    }

    pub fn file_type(self) -> FileType {
        match self {
            Self::Mp4 => FileType::Mp4,
            Self::Flv => FileType::Flv,
            Self::Thumbnail => FileType::Jpeg,
        }
    }
}

/// A welcome video as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Video {
    pub id: VideoId,
    /// The company that owns the video.
    pub company: CompanyId,
    /// The name for staff.
    pub name: ShortName,
    /// Shown to candidates.
    pub description: TextLines<2000>,
    /// Shown to staff only.
    pub internal_description: TextLines<2000>,
    /// The name of the uploaded file.
    pub upload_filename: FileName,
    /// The announced or actual content type and size.
    pub file: AnnouncedFile,
    /// The customer who submitted the video; `None` if a named token did.
    pub submitted_by: Option<CustomerId>,
    /// The author of an announced file.
    pub author: Option<UploadAuthor>,
    pub submitted_at: DateTime<Utc>,
    #[serde(flatten)]
    pub conversion: Conversion,
    /// The digests of the captions, which are stored as items of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub captions: BTreeMap<Language, String>,
    /// False once the deletion has begun: projects can no longer show the video.
    pub is_active: bool,
}

/// A file name without folders; never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct FileName(TextLine<255>);

impl FileName {
    /// Takes the last part of a path.
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLine::parse_visible(text.rsplit(['/', '\\']).next().unwrap_or_default()).map(Self)
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// The fields of a new video.
#[derive(Debug)]
pub struct NewVideo {
    /// The name for staff.
    pub name: ShortName,
    /// Shown to candidates.
    pub description: TextLines<2000>,
    /// Shown to staff only.
    pub internal_description: TextLines<2000>,
    /// The name of the file.
    pub upload_filename: FileName,
    /// The content type and size.
    pub file: AnnouncedFile,
}

impl Video {
    /// A video whose file the client will upload.
    pub fn announced(
        id: VideoId,
        company: CompanyId,
        new: NewVideo,
        by: Option<CustomerId>,
        now: DateTime<Utc>,
    ) -> Self {
        let NewVideo { name, description, internal_description, upload_filename, file } = new;
        Self {
            id,
            company,
            name,
            description,
            internal_description,
            upload_filename,
            file,
            submitted_by: by,
            author: None,
            submitted_at: now,
            conversion: Conversion {
                given_up_at: Some(now + URL_LIFETIME + SENDING),
                ..Conversion::awaiting_upload()
            },
            captions: BTreeMap::new(),
            is_active: true,
        }
    }

    /// Records the author of the announced file.
    pub fn expected_from(self, author: UploadAuthor) -> Self {
        Self { author: Some(author), ..self }
    }

    /// The video after its file arrived at `now`.
    pub fn arrived(self, now: DateTime<Utc>) -> Self {
        self.with_conversion(Conversion::pending(now))
    }

    /// When the signed URL expires.
    pub fn url_expires_at(&self) -> DateTime<Utc> {
        self.submitted_at + URL_LIFETIME
    }

    /// The video with this state of its conversion.
    pub fn with_conversion(self, conversion: Conversion) -> Self {
        Self { conversion, ..self }
    }

    /// A number that identifies a rendition of the video for partners; `None` before it is converted. Derived from the video's
    /// identifier, and small enough for the integers of every language.
    pub fn conversion_id(&self, of: Rendition) -> Option<u64> {
        self.conversion.converted?;
        let hash = Sha256::new().chain_update(self.id.to_bytes()).chain_update(of.extension()).finalize();
        // JavaScript's integers are exact up to 53 bits.
        Some(hash[..6].iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

facts! {
    /// The facts of a welcome video: values that its events contain.
    pub struct VideoFacts {
        /// The progress of the conversion.
        video_conversion_status: ConversionStatus,
        /// The length in seconds; 0 before the conversion.
        length: u32,
    }
}

impl HasHistory for Video {
    const CREATED: EventType = EventType::VideoCreated;
    const UPDATED: Option<EventType> = Some(EventType::VideoUpdated);
    const DELETED: Option<EventType> = Some(EventType::VideoDeleted);

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Video { video: self.id })
    }

    #[rustfmt::skip]
    fn history_fields(&self) -> Vec<(&'static str, FieldValue)> {
        let Self {
            name, description, internal_description, conversion, captions,
            // Immutable, or visible in the status.
            id: _, company: _, upload_filename: _, file: _, submitted_by: _, author: _, submitted_at: _,
            // Internal.
            is_active: _,
        } = self;
        let Conversion { status, converted, failure, attempt: _, attempts: _, given_up_at: _ } = conversion;
        let facts = VideoFacts {
            video_conversion_status: *status,
            length: converted.map_or(0, |made| made.seconds),
        };
        let others = [
            ("video_conversion_error", private(failure)),
            ("name", private(name)),
            ("description", private(description)),
            ("internal_description", private(internal_description)),
            ("captions", private(captions)),
        ];
        facts.into_fields().into_iter().chain(others).collect()
    }

    fn events(_: Option<&Self>, after: &Self, changes: &FieldChanges) -> Vec<EventType> {
        let has_moved = changes.has("video_conversion_status");
        events_that_apply([
            (has_moved && after.conversion.status == ConversionStatus::Successful, EventType::VideoConverted),
            (has_moved && after.conversion.status == ConversionStatus::Failed, EventType::VideoFailed),
            // The events above tell the outcome of a conversion.
            (
                changes.has_other_than(&["video_conversion_status", "video_conversion_error", "length"]),
                EventType::VideoUpdated,
            ),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;
    use crate::media::conversion::ConversionResult;

    fn video() -> Video {
        let new = NewVideo {
            name: ShortName::parse("Welcome").unwrap(),
            description: TextLines::default(),
            internal_description: TextLines::default(),
            upload_filename: FileName::parse("C:\\fakepath\\welcome.mov").unwrap(),
            file: AnnouncedFile { content_type: "video/quicktime".to_owned(), size: 9 },
        };
        Video::announced(Id::from_bytes([7; 16]), "acme".parse().unwrap(), new, None, DateTime::UNIX_EPOCH)
    }

    #[test]
    fn conversions_have_numbers_once_there_are_some() {
        assert_eq!(video().upload_filename.as_str(), "welcome.mov");
        assert_eq!(video().conversion_id(Rendition::Mp4), None);
        let made = ConversionResult { seconds: 1, width: 2, height: 2 };
        let done = video().with_conversion(Conversion::succeeded(made));
        let [mp4, _, thumbnail] = Rendition::ALL.map(|of| done.conversion_id(of).unwrap());
        assert!(mp4 != thumbnail && mp4 < 1 << 48);
    }
}
