//! Overdue welcome videos: their file has not arrived, or they are not converted yet.

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::media::conversion::ConversionStatus;
use shared::domain::media::conversion::queue::Recording;
use shared::domain::media::video::Video;
use shared::media::video_upload_key;
use shared::store::VersionedItem;
use shared::work::DueWork;

use crate::outcome::SweepSummary;
use crate::recordings::log_broken;
use crate::uploads::TOO_LATE;

/// The message for clients if the file of a video disappeared before its conversion.
const GONE: &str = "The video could not be converted in time. Upload it again.";
/// The message for clients if all conversions of a video were killed.
const BROKEN: &str = "The video could not be converted. Upload another file.";

/// Fails videos whose file is missing or whose conversions are always killed. Queues the others again, because their
/// events or executions were lost; waiting is not a failure.
pub(crate) async fn look_at_overdue(work: DueWork<'_>, summary: &mut SweepSummary) -> Result<()> {
    let system = work.system;
    work.run(system.store.due_videos(system.now), summary, |video| async move {
        Ok(match settle(system, &video).await? {
            VideoEnd::Failed => SweepSummary { uploads_given_up: 1, ..SweepSummary::default() },
            VideoEnd::Queued => SweepSummary { videos_queued: 1, ..SweepSummary::default() },
        })
    })
    .await
}

enum VideoEnd {
    Failed,
    Queued,
}

async fn settle(system: &SystemAccess, video: &VersionedItem<Video>) -> Result<VideoEnd> {
    let store = &system.store;
    let now = system.now;
    let Some(reason) = failure(system, video).await? else {
        system.commit(store.await_conversion(video, now)).await?;
        return Ok(VideoEnd::Queued);
    };
    system.commit(store.fail_video(video, reason, now)).await?;
    if reason == BROKEN {
        log_broken(&video.company, &Recording::Video { video: video.id });
    }
    Ok(VideoEnd::Failed)
}

/// The reason why an overdue video fails; `None` if it can still be converted.
async fn failure(system: &SystemAccess, video: &Video) -> Result<Option<&'static str>> {
    if video.conversion.status == ConversionStatus::AwaitingUpload {
        return Ok(Some(TOO_LATE));
    }
    if video.conversion.is_used_up() {
        return Ok(Some(BROKEN));
    }
    let upload = system.objects()?.list(&video_upload_key(&video.company, video.id)).await?;
    Ok(upload.is_empty().then_some(GONE))
}
