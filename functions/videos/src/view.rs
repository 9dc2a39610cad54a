//! The view of a welcome video.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::access::AdmittedRequest;
use shared::auth::caller::CallerIdentity;
use shared::domain::id::VideoId;
use shared::domain::media::conversion::ConversionStatus;
use shared::domain::media::video::{Rendition, Video};
use shared::http::example_uri;
use shared::http::view::{CaptionsView, SignedUploadView};
use shared::http::wire::{Identifier, OrEmpty, Uri};
use shared::media::{SignedUpload, rendition_name};

/// A welcome video. Candidates see some of the fields.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Video")]
pub(crate) struct VideoView {
    id: Identifier<VideoId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::VIDEO)]
    resource_uri: Uri,
    /// The video's company.
    #[schemars(example = example_uri::COMPANY)]
    company: Uri,
    /// The customer who created the video; null for a named token.
    #[schemars(example = example_uri::CUSTOMER)]
    submitted_by: Option<Uri>,
    /// The name for staff. Not shown to candidates. Use `description` instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"Welcome", extend("deprecated" = true))]
    name: Option<String>,
    /// Shown to candidates.
    #[schemars(example = &"Welcome to Acme")]
    description: String,
    /// Not shown to candidates.
    #[serde(skip_serializing_if = "Option::is_none")]
    internal_description: Option<String>,
    /// The duration in seconds; 0 until the video is converted.
    #[schemars(example = 0)]
    length: u32,
    /// When the video was created.
    #[schemars(example = &"2026-11-08")]
    submit_date: NaiveDate,
    /// The name of the uploaded file.
    #[schemars(example = &"welcome.mov", length(min = 1))]
    upload_filename: String,
    /// The identifier of the thumbnail's conversion.
    thumb_conversion_id: Option<u64>,
    /// The file name of the thumbnail; empty until the video is converted.
    thumb_file: String,
    /// The URL of the thumbnail, valid for the session that fetched it; empty until the video is converted.
    #[schemars(example = &"")]
    thumb: OrEmpty<Uri>,
    /// The identifier of the video's conversion.
    video_conversion_id: Option<u64>,
    /// The progress of the conversion.
    video_conversion_status: ConversionStatus,
    /// Why the conversion failed, a sentence.
    video_conversion_error: Option<String>,
    /// URLs to play the video, by format. More formats may be added.
    streams: VideoStreams,
    /// The size of the picture.
    dimensions: VideoDimensions,
    /// The captions, by language.
    captions: Vec<CaptionsView>,
    /// The request that uploads the file. Only in the response to the announcement.
    #[serde(skip_serializing_if = "Option::is_none")]
    upload: Option<SignedUploadView>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Streams")]
struct VideoStreams {
    /// H.264 and AAC in mp4.
    #[schemars(example = &"")]
    mp4: OrEmpty<Uri>,
    /// H.264 and AAC in flv.
    #[schemars(example = &"")]
    flv: OrEmpty<Uri>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Dimensions")]
struct VideoDimensions {
    /// The width in pixels; 0 until the video is converted.
    #[schemars(example = 0)]
    width: u32,
    /// The height in pixels; 0 until the video is converted.
    #[schemars(example = 0)]
    height: u32,
}

impl VideoView {
    /// The view of a video for the caller.
    pub(crate) fn new(video: &Video, access: &AdmittedRequest) -> Self {
        let references = access.references();
        let is_for_staff = !matches!(access.caller.identity, CallerIdentity::Candidate(_));
        let company = &video.company;
        let converted = video.conversion.converted;
        let (width, height) = converted.map(|made| (made.width, made.height)).unwrap_or_default();
        let thumb_file =
            converted.map(|_| format!("videos/{}/{}", video.id, rendition_name(Rendition::Thumbnail)));
        Self {
            id: Identifier(video.id),
            resource_uri: references.uri(company, video.id),
            company: references.company(company),
            submitted_by: video.submitted_by.map(|by| references.uri(company, by)),
            // Candidates must not see the two texts for staff.
            name: is_for_staff.then(|| video.name.to_string()),
            description: video.description.to_string(),
            internal_description: is_for_staff.then(|| video.internal_description.to_string()),
            length: converted.map_or(0, |made| made.seconds),
            submit_date: video.submitted_at.date_naive(),
            upload_filename: video.upload_filename.as_str().to_owned(),
            thumb_conversion_id: video.conversion_id(Rendition::Thumbnail),
            thumb_file: thumb_file.unwrap_or_default(),
            thumb: OrEmpty(references.rendition(video, Rendition::Thumbnail)),
            video_conversion_id: video.conversion_id(Rendition::Mp4),
            video_conversion_status: video.conversion.status,
            video_conversion_error: video.conversion.failure.clone(),
            streams: VideoStreams {
                mp4: OrEmpty(references.rendition(video, Rendition::Mp4)),
                flv: OrEmpty(references.rendition(video, Rendition::Flv)),
            },
            dimensions: VideoDimensions { width, height },
            captions: video
                .captions
                .keys()
                .filter_map(|language| Some((*language, references.captions(video, *language)?)))
                .map(|(language, url)| CaptionsView { language, url })
                .collect(),
            upload: None,
        }
    }

    /// Adds the request that uploads the file. The upload must begin before `expires_at`.
    pub(crate) fn with_request(self, signed: SignedUpload, expires_at: DateTime<Utc>) -> Self {
        Self { upload: Some(SignedUploadView::new(signed, expires_at)), ..self }
    }
}
