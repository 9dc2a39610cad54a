//! A welcome video as clients see it.

use chrono::{DateTime, Utc};
use serde::Serialize;
use shared::auth::caller::Identity;
use shared::auth::guard::Scope;
use shared::domain::video::{Rendition, Video};
use shared::http::respond::date;
use shared::http::view::SignedUploadView;
use shared::media::{SignedUpload, rendition_name};

/// A video. Candidates see what is meant for them.
#[derive(Debug, Serialize)]
pub(crate) struct VideoView {
    resource_uri: String,
    company: String,
    submitted_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    internal_description: Option<String>,
    length: u32,
    submit_date: String,
    upload_filename: String,
    thumb_conversion_id: Option<u64>,
    thumb_file: String,
    thumb: String,
    video_conversion_id: Option<u64>,
    video_conversion_status: &'static str,
    video_conversion_error: Option<String>,
    streams: Streams,
    dimensions: Dimensions,
    /// Only in the answer to the announcement.
    #[serde(skip_serializing_if = "Option::is_none")]
    upload: Option<SignedUploadView>,
}

#[derive(Debug, Serialize)]
struct Streams {
    mp4: String,
    flv: String,
}

#[derive(Debug, Serialize)]
struct Dimensions {
    width: u32,
    height: u32,
}

impl VideoView {
    /// The view of a video for whoever calls.
    pub(crate) fn new(video: &Video, scope: &Scope) -> Self {
        let references = scope.references();
        let is_for_staff = !matches!(scope.caller.identity, Identity::Candidate(_));
        let company = &video.company;
        let converted = video.converted;
        let (width, height) = converted.map(|made| (made.width, made.height)).unwrap_or_default();
        let thumb_file =
            converted.map(|_| format!("videos/{}/{}", video.id, rendition_name(Rendition::Thumbnail)));
        Self {
            resource_uri: references.video(company, video.id),
            company: references.company(company),
            submitted_by: video.submitted_by.map(|by| references.customer(company, by)),
            name: is_for_staff.then(|| video.name.to_string()),
            description: video.description.to_string(),
            internal_description: is_for_staff.then(|| video.internal_description.to_string()),
            length: converted.map_or(0, |made| made.seconds),
            submit_date: date(video.submitted_at.date_naive()),
            upload_filename: video.upload_filename.as_str().to_owned(),
            thumb_conversion_id: video.conversion_id(Rendition::Thumbnail),
            thumb_file: thumb_file.unwrap_or_default(),
            thumb: references.rendition(video, Rendition::Thumbnail),
            video_conversion_id: video.conversion_id(Rendition::Mp4),
            video_conversion_status: video.status.as_str(),
            video_conversion_error: video.failure.clone(),
            streams: Streams {
                mp4: references.rendition(video, Rendition::Mp4),
                flv: references.rendition(video, Rendition::Flv),
            },
            dimensions: Dimensions { width, height },
            upload: None,
        }
    }

    /// The view with the request by which the client puts the file, which may begin until `expires_at`.
    pub(crate) fn with_request(self, signed: SignedUpload, expires_at: DateTime<Utc>) -> Self {
        Self { upload: Some(SignedUploadView::new(signed, expires_at)), ..self }
    }
}
