//! What a video was converted to, fetched by the addresses that the video shows.

use shared::Result;
use shared::auth::guard::{ByVideoAddress, Redirect};
use shared::auth::policy::ReadVideo;
use shared::domain::video::Rendition;

/// GET …/videos/{videoId}/thumb/{token}/
pub(crate) async fn thumb(guard: ByVideoAddress<ReadVideo>) -> Result<Redirect> {
    guard.open(&[Rendition::Thumbnail]).await
}

/// GET …/videos/{videoId}/video/{token}.mp4 and .flv
pub(crate) async fn video(guard: ByVideoAddress<ReadVideo>) -> Result<Redirect> {
    guard.open(&[Rendition::Mp4, Rendition::Flv]).await
}
