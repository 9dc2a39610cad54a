//! Listing, creating, reading, changing and deleting welcome videos.

use axum::Json;
use axum::extract::RawQuery;
use shared::Result;
use shared::auth::guard::{InCompany, OnVideo};
use shared::auth::policy::{ManageVideos, ReadCompany, ReadVideo};
use shared::domain::video::Video;
use shared::http::page::{Envelope, ListQuery};
use shared::http::respond::{Created, Done};
use shared::http::{Fields, WithFiles};

use crate::changes::{Changes, Creation};
use crate::view::VideoView;

/// GET …/videos/
pub(crate) async fn list(
    guard: InCompany<ReadCompany>,
    RawQuery(query): RawQuery,
) -> Result<Envelope<VideoView>> {
    let query = ListQuery::parse(query.as_deref())?;
    let (page, total) = guard.store.list_videos(guard.company(), query.page()).await?;
    query.check_range(total)?;
    let page = page.map(|video| VideoView::new(&video, &guard));
    Ok(query.envelope(&guard.references().videos(guard.company()), page, total))
}

/// POST …/videos/
pub(crate) async fn create(
    guard: InCompany<ManageVideos>,
    WithFiles(body): WithFiles,
) -> Result<Created<VideoView>> {
    let (id, company, by) =
        (guard.store.next_id(guard.now), guard.company().clone(), guard.caller.customer());
    let announced = |new| Video::announced(id, company, new, by, guard.now);
    let view = match Creation::read(body)? {
        Creation::Sent(new, bytes) => {
            let video = announced(new).arrived(guard.now);
            guard.upload_video(&video, bytes).await?;
            VideoView::new(&video, &guard)
        }
        Creation::Announced(new) => {
            let video = announced(new);
            let signed = guard.begin_video_upload(&video).await?;
            guard.store.create_video(&video).await?;
            VideoView::new(&video, &guard).with_request(signed, video.url_expires_at())
        }
    };
    Ok(Created(guard.references().video(guard.company(), id), view))
}

/// GET …/videos/{videoId}/
pub(crate) async fn read(guard: OnVideo<ReadVideo>) -> Json<VideoView> {
    Json(VideoView::new(&guard.video, &guard))
}

/// PUT …/videos/{videoId}/
pub(crate) async fn replace(guard: OnVideo<ManageVideos>, body: Fields) -> Result<Json<VideoView>> {
    change(&guard, Changes::read_whole(body)?).await
}

/// PATCH …/videos/{videoId}/
pub(crate) async fn update(guard: OnVideo<ManageVideos>, body: Fields) -> Result<Json<VideoView>> {
    change(&guard, Changes::read(body)?).await
}

async fn change(guard: &OnVideo<ManageVideos>, changes: Changes) -> Result<Json<VideoView>> {
    let after = changes.apply_to(Video::clone(&guard.video));
    if after != *guard.video {
        guard.store.update_video(&guard.video, after.clone()).await?;
    }
    Ok(Json(VideoView::new(&after, guard)))
}

/// DELETE …/videos/{videoId}/, which takes it from all projects as well
pub(crate) async fn delete(guard: OnVideo<ManageVideos>) -> Result<Done> {
    guard.store.delete_video(&guard.video, guard.now).await?;
    Ok(Done)
}
