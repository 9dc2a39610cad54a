//! Listing, creating, reading, changing and deleting welcome videos.

use std::time::Duration;

use axum::Json;
use axum::extract::RawQuery;
use axum::response::Response;
use shared::Result;
use shared::auth::guard::{InCompany, OnVideo, Progress, Turn};
use shared::auth::policy::{ManageVideos, ReadCompany, ReadVideo};
use shared::domain::video::Video;
use shared::http::page::{Envelope, ListQuery};
use shared::http::respond::{Created, Done};
use shared::http::{Fields, WithFiles};

use crate::changes::{Changes, Creation};
use crate::view::VideoView;

/// How long the storage may be busy before it is left to a repeat.
const PATIENCE: Duration = Duration::from_secs(9);

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
///
/// In two steps, since whoever is told of the file must find the video.
pub(crate) async fn create(guard: InCompany<ManageVideos>, WithFiles(body): WithFiles) -> Result<Response> {
    let creation = Creation::read(body)?;
    guard.once(PATIENCE, |turn| begin(&guard, creation, turn)).await
}

async fn begin(
    guard: &InCompany<ManageVideos>,
    creation: Creation,
    Turn { store, ids, is_resumed, .. }: Turn,
) -> Result<Progress<Created<VideoView>>> {
    let (id, company, by) = (ids.id(0), guard.company().clone(), guard.caller.customer());
    let (new, bytes) = match creation {
        Creation::Sent(new, bytes) => (new, Some(bytes)),
        Creation::Announced(new) => (new, None),
    };
    let announced = Video::announced(id, company, new, by, guard.now);
    let video = match bytes {
        Some(_) => announced.arrived(guard.now),
        None => announced.expected_from(guard.author()),
    };
    let is_there = is_resumed && store.video(guard.company(), id).await?.is_some();
    if !is_there {
        store.commit(store.create_video(&video)).await?;
    }
    let view = VideoView::new(&video, guard);
    let view = match bytes {
        Some(bytes) => {
            if let Err(error) = guard.upload_video(&video, bytes).await {
                // Without its file there is no video.
                if let Some(video) = store.video(guard.company(), id).await? {
                    store.delete_video(&video, guard.now).await?;
                }
                return Err(error);
            }
            view
        }
        None => view.with_request(guard.begin_video_upload(&video).await?, video.url_expires_at()),
    };
    Ok(Progress::Done(Created(guard.references().video(guard.company(), id), view)))
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
        guard.store.commit(guard.store.update_video(&guard.video, &after)).await?;
    }
    Ok(Json(VideoView::new(&after, guard)))
}

/// DELETE …/videos/{videoId}/, which takes it from all projects as well
pub(crate) async fn delete(guard: OnVideo<ManageVideos>) -> Result<Done> {
    guard.store.delete_video(&guard.video, guard.now).await?;
    Ok(Done)
}
