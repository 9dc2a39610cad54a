//! Redirects from the rendition URLs in a video's view.

use shared::Result;
use shared::auth::access::{FileRedirect, RenditionAccess};
use shared::domain::media::video::Rendition;
use shared::domain::policy::ReadVideo;

/// GET …/videos/{videoId}/thumb/{token}/
pub(crate) async fn thumb(access: RenditionAccess<ReadVideo>) -> Result<FileRedirect> {
    access.redirect(&[Rendition::Thumbnail]).await
}

/// GET …/videos/{videoId}/video/{token}.mp4 and .flv
pub(crate) async fn video(access: RenditionAccess<ReadVideo>) -> Result<FileRedirect> {
    access.redirect(&[Rendition::Mp4, Rendition::Flv]).await
}
