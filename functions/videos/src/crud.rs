//! Lists, creates, reads, changes and deletes welcome videos.

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::company::Company;
use shared::domain::media::video::Video;
use shared::domain::policy::{ManageVideos, ReadCompany, ReadVideo};
use shared::http::exchange::respond::{CommittedResponse, Created, NoContent};
use shared::http::page::{ListQuery, PageView};
use shared::http::{AttemptResult, BodyChanges, BodyFields, RequestAttempt, WithFiles};
use shared::store::REQUEST_PATIENCE;

use crate::changes::{CreateVideo, read_changes, read_whole};
use crate::view::VideoView;

/// GET …/videos/
pub(crate) async fn list(
    access: Admitted<Company, ReadCompany>,
    query: ListQuery,
) -> Result<PageView<VideoView>> {
    let (page, total) = access.store.list_videos(access.company_id(), query.page()).await?;
    let page = page.map(|video| VideoView::new(&video, &access));
    query.answer(page, total)
}

/// POST …/videos/
pub(crate) async fn create(
    access: Admitted<Company, ManageVideos>,
    WithFiles(body): WithFiles,
) -> Result<CommittedResponse<Created<VideoView>>> {
    let creation = CreateVideo::read(body)?;
    access.run_once(REQUEST_PATIENCE, |attempt| begin(&access, creation, attempt)).await
}

async fn begin(
    access: &Admitted<Company, ManageVideos>,
    creation: CreateVideo,
    attempt: RequestAttempt,
) -> Result<AttemptResult<Created<VideoView>>> {
    let id = attempt.ids.id(0);
    let company = access.company_id().clone();
    let by = access.caller.customer();
    let (new, bytes) = match creation {
        CreateVideo::Sent(new, bytes) => (new, Some(bytes)),
        CreateVideo::Announced(new) => (new, None),
    };
    let announced = Video::announced(id, company, new, by, access.now);
    let video = match bytes {
        Some(_) => announced.arrived(access.now),
        None => announced.expected_from(access.caller.author()),
    };
    let is_there = attempt.is_resumed && attempt.store.video(access.company_id(), id).await?.is_some();
    if !is_there {
        // Store the video before its file: the function that handles the file's event must find the video.
        attempt.commit(attempt.store.create_video(&video)).await?;
    }
    let view = VideoView::new(&video, access);
    let view = match bytes {
        Some(bytes) => {
            if let Err(error) = access.files()?.put_video(&video, bytes).await {
                // Delete the video again: without its file it is useless.
                if let Some(video) = attempt.store.video(access.company_id(), id).await? {
                    attempt.store.stepwise(access.now).delete_video(&video).await?;
                }
                return Err(error);
            }
            view
        }
        None => view.with_request(access.files()?.announce_video(&video).await?, video.url_expires_at()),
    };
    Ok(AttemptResult::Done(Created(view)))
}

/// GET …/videos/{videoId}/
pub(crate) async fn read(access: Admitted<Video, ReadVideo>) -> Result<CommittedResponse<Json<VideoView>>> {
    access.show(VideoView::new(&access.target, &access))
}

/// PUT …/videos/{videoId}/
pub(crate) async fn replace(
    access: Admitted<Video, ManageVideos>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<VideoView>>> {
    let changes = read_whole(body)?;
    let (description, internal_description) = Default::default();
    // A PUT clears texts that it does not contain.
    let blank = Video { description, internal_description, ..Video::clone(&access.target) };
    change(&access, blank, changes).await
}

/// PATCH …/videos/{videoId}/
pub(crate) async fn update(
    access: Admitted<Video, ManageVideos>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<VideoView>>> {
    change(&access, Video::clone(&access.target), read_changes(body)?).await
}

async fn change(
    access: &Admitted<Video, ManageVideos>,
    mut after: Video,
    changes: BodyChanges<Video>,
) -> Result<CommittedResponse<Json<VideoView>>> {
    changes.apply_to(&mut after);
    let view = VideoView::new(&after, access);
    access.commit(access.store.update_video(&access.target, &after), Json(view)).await
}

/// DELETE …/videos/{videoId}/, which takes it from all projects as well
pub(crate) async fn delete(access: Admitted<Video, ManageVideos>) -> Result<NoContent> {
    access.store.stepwise(access.now).delete_video(&access.target).await?;
    Ok(NoContent)
}
