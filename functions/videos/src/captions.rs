//! The captions of a video. Staff put and delete them; clients fetch them from the URLs in the video's view.

use axum::Json;
use axum::response::Response;
use shared::auth::access::{Admitted, CaptionsAccess, CaptionsTarget};
use shared::domain::media::captions::{CaptionText, Captions};
use shared::domain::media::video::Video;
use shared::domain::policy::{ManageVideos, ReadVideo};
use shared::http::exchange::respond::{CommittedResponse, NoContent};
use shared::http::{BodyFields, FormFields};
use shared::{Error, Result};

use crate::view::VideoView;

/// PUT …/videos/{videoId}/captions/{language}/
pub(crate) async fn put(
    access: Admitted<CaptionsTarget, ManageVideos>,
    FormFields(body): FormFields,
) -> Result<CommittedResponse<Json<VideoView>>> {
    let CaptionsTarget { video, language } = &access.target;
    let text = read_captions(body)?;
    let mut after = Video::clone(video);
    after.captions.insert(*language, text.digest());
    let captions = Captions { company: video.company.clone(), video: video.id, language: *language, text };
    let view = VideoView::new(&after, &access);
    access.commit(access.store.put_captions(video, &after, &captions), Json(view)).await
}

/// Reads the captions.
pub(crate) fn read_captions(mut body: BodyFields) -> Result<CaptionText> {
    let text = body.required_captions("file");
    body.finish(|| text)
}

/// DELETE …/videos/{videoId}/captions/{language}/
pub(crate) async fn delete(
    access: Admitted<CaptionsTarget, ManageVideos>,
) -> Result<CommittedResponse<NoContent>> {
    let CaptionsTarget { video, language } = &access.target;
    let mut after = Video::clone(video);
    after.captions.remove(language).ok_or(Error::NotFound)?;
    access.commit(access.store.delete_captions(video, &after, *language), NoContent).await
}

/// GET …/videos/{videoId}/captions/{language}/{token}/
pub(crate) async fn read(access: CaptionsAccess<ReadVideo>) -> Result<Response> {
    access.show().await
}
