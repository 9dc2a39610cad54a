//! Welcome videos: uploaded by staff, converted to what browsers play, shown to candidates of projects.

use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::file::FileType;
use super::id::{CompanyId, CustomerId, VideoId};
use super::text::{Line, Lines, Name};
use super::upload::{Announced, Author};

/// The most bytes of a video as it is uploaded.
pub const MAX_VIDEO_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// How long a client may begin to send a video by the URL that it was given.
const URL_LIFETIME: TimeDelta = TimeDelta::hours(1);
/// How long sending may take, once begun.
const SENDING: TimeDelta = TimeDelta::hours(2);
/// How long a video may wait for its conversion, and the conversion take, all its tries included.
const CONVERTING: TimeDelta = TimeDelta::hours(7);
/// How long one try may take; the function that makes it is stopped before.
const TRY: TimeDelta = TimeDelta::minutes(16);

/// How far a video is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum ConversionStatus {
    /// The file has not arrived.
    AwaitingUpload,
    /// The file waits for its conversion.
    Pending,
    /// The file is being converted.
    Processing,
    /// It can be played.
    Successful,
    /// There is nothing to play, and there will not be.
    Failed,
}

/// One of the files that a video is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rendition {
    /// H.264 and AAC in mp4.
    Mp4,
    /// H.264 and AAC in flv.
    Flv,
    /// A picture of it.
    Thumbnail,
}

impl Rendition {
    /// Every rendition.
    pub const ALL: [Self; 3] = [Self::Mp4, Self::Flv, Self::Thumbnail];

    /// The ending of its file's name.
    pub fn extension(self) -> &'static str {
        self.file_type().extension()
    }

    /// What its file is.
    pub fn file_type(self) -> FileType {
        match self {
            Self::Mp4 => FileType::Mp4,
            Self::Flv => FileType::Flv,
            Self::Thumbnail => FileType::Jpeg,
        }
    }
}

/// What a video has become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Converted {
    /// In seconds.
    pub seconds: u32,
    /// In pixels, as it is shown.
    pub width: u32,
    /// In pixels, as it is shown.
    pub height: u32,
}

/// The try at a conversion that is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The event that it answers, which comes again when the try is broken off.
    pub event: String,
    /// When it is over, however it went.
    pub ends_at: DateTime<Utc>,
}

/// A welcome video as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Video {
    /// Its identifier.
    pub id: VideoId,
    /// The company that it is of.
    pub company: CompanyId,
    /// What staff call it.
    pub name: Name,
    /// What candidates read about it.
    pub description: Lines<2000>,
    /// What only staff read about it.
    pub internal_description: Lines<2000>,
    /// What its file was called.
    pub upload_filename: FileName,
    /// What was announced of its file, or found.
    pub file: Announced,
    /// Who uploaded it; nobody's when a named token did.
    pub submitted_by: Option<CustomerId>,
    /// Who may send its file, of one that was announced.
    #[serde(default)]
    pub author: Option<Author>,
    /// When.
    pub submitted_at: DateTime<Utc>,
    /// How far it is.
    pub status: ConversionStatus,
    /// The conversion under way.
    pub attempt: Option<Attempt>,
    /// When it has failed, unless it has ended before; none once it has.
    pub given_up_at: Option<DateTime<Utc>>,
    /// What it has become.
    pub converted: Option<Converted>,
    /// Why there is nothing to play, in words.
    pub failure: Option<String>,
    /// Whether projects may show it: not any more once its deletion has begun.
    pub is_active: bool,
}

/// The name of a file, without the folders that it was in; never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct FileName(Line<255>);

impl FileName {
    /// Takes the last part of a path.
    ///
    /// # Errors
    /// The message for whoever sent it.
    pub fn parse(text: &str) -> Result<Self, String> {
        Line::parse_visible(text.rsplit(['/', '\\']).next().unwrap_or_default()).map(Self)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// What is said of a video when it is uploaded.
#[derive(Debug)]
pub struct NewVideo {
    /// What staff call it.
    pub name: Name,
    /// What candidates read about it.
    pub description: Lines<2000>,
    /// What only staff read about it.
    pub internal_description: Lines<2000>,
    /// What its file is called.
    pub upload_filename: FileName,
    /// What its file is.
    pub file: Announced,
}

impl Video {
    /// A video whose file the client is going to send.
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
            status: ConversionStatus::AwaitingUpload,
            attempt: None,
            given_up_at: Some(now + URL_LIFETIME + SENDING),
            converted: None,
            failure: None,
            is_active: true,
        }
    }

    /// The video whose file `author` is going to send.
    pub fn expected_from(self, author: Author) -> Self {
        Self { author: Some(author), ..self }
    }

    /// The video when its file is there.
    pub fn arrived(self, now: DateTime<Utc>) -> Self {
        Self { status: ConversionStatus::Pending, given_up_at: Some(now + CONVERTING), ..self }
    }

    /// Until when the client may begin to send the file.
    pub fn url_expires_at(&self) -> DateTime<Utc> {
        self.submitted_at + URL_LIFETIME
    }

    /// The video while it is converted because of `event`; none when that has been done, or somebody else is at it.
    pub fn begun(&self, event: &str, now: DateTime<Utc>) -> Option<Self> {
        let may_begin = match (self.status, &self.attempt) {
            (ConversionStatus::AwaitingUpload | ConversionStatus::Pending, _) => true,
            // The same event comes again only once its first try is over.
            (ConversionStatus::Processing, Some(attempt)) => attempt.event == event || attempt.ends_at <= now,
            _ => false,
        };
        may_begin.then(|| Self {
            status: ConversionStatus::Processing,
            attempt: Some(Attempt { event: event.to_owned(), ends_at: now + TRY }),
            given_up_at: Some(now + CONVERTING),
            ..self.clone()
        })
    }

    /// Whether it is being converted because of `event`.
    pub fn is_converted_by(&self, event: &str) -> bool {
        self.status == ConversionStatus::Processing
            && self.attempt.as_ref().is_some_and(|attempt| attempt.event == event)
    }

    /// The video when it can be played.
    pub fn succeeded(self, converted: Converted) -> Self {
        let status = ConversionStatus::Successful;
        Self { status, attempt: None, given_up_at: None, converted: Some(converted), failure: None, ..self }
    }

    /// The video that has failed, because of `reason`.
    pub fn failed(self, reason: &str) -> Self {
        let failure = Some(reason.to_owned());
        Self { status: ConversionStatus::Failed, attempt: None, given_up_at: None, failure, ..self }
    }

    /// Whether it can still become something to play.
    pub fn is_under_way(&self) -> bool {
        !matches!(self.status, ConversionStatus::Successful | ConversionStatus::Failed)
    }

    /// The number under which partners know one of its conversions, once there is one: made of the identifier, and small
    /// enough for every language's integers.
    pub fn conversion_id(&self, of: Rendition) -> Option<u64> {
        self.converted?;
        let hash = Sha256::new().chain_update(self.id.to_bytes()).chain_update(of.extension()).finalize();
        Some(hash[..6].iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::Id;

    fn video() -> Video {
        let new = NewVideo {
            name: Name::parse("Welcome").unwrap(),
            description: Lines::default(),
            internal_description: Lines::default(),
            upload_filename: FileName::parse("C:\\fakepath\\welcome.mov").unwrap(),
            file: Announced { content_type: "video/quicktime".to_owned(), size: 9 },
        };
        Video::announced(Id::from_bytes([7; 16]), "acme".parse().unwrap(), new, None, DateTime::UNIX_EPOCH)
    }

    #[test]
    fn one_try_at_a_time_and_none_after_the_end() {
        let now = DateTime::UNIX_EPOCH + TimeDelta::minutes(5);
        assert_eq!(video().upload_filename.as_str(), "welcome.mov");
        let begun = video().begun("one", now).unwrap();
        assert!(begun.is_converted_by("one") && !begun.is_converted_by("two"));
        assert!(begun.begun("one", now).is_some(), "the first try was broken off");
        assert!(begun.begun("two", now).is_none(), "somebody is at it");
        assert!(begun.begun("two", now + TRY).is_some(), "nobody is at it any more");
        let done = begun.clone().succeeded(Converted { seconds: 1, width: 2, height: 2 });
        for ended in [done, begun.failed("broken")] {
            assert!(ended.begun("one", now).is_none() && !ended.is_under_way());
            assert_eq!(ended.given_up_at, None);
        }
    }

    #[test]
    fn conversions_have_numbers_once_there_are_some() {
        assert_eq!(video().conversion_id(Rendition::Mp4), None);
        let done = video().succeeded(Converted { seconds: 1, width: 2, height: 2 });
        let [mp4, _, thumbnail] = Rendition::ALL.map(|of| done.conversion_id(of).unwrap());
        assert!(mp4 != thumbnail && mp4 < 1 << 48);
    }
}
