//! Admits uploaded videos to their conversion.
//!
//! This happens here because it needs the account that announced the video. The converting function may not read
//! accounts, because it decodes untrusted files.

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::id::{CompanyId, VideoId};
use shared::domain::media::conversion::ConversionStatus;
use shared::event::RecordOutcome;
use shared::media::video_upload_key;
use shared::store::RetryPolicy;

const NOT_ALLOWED: &str = "The person who announced this video may no longer upload videos. Upload it again with an account that may.";

/// Queues a video for conversion once its file has arrived, unless the uploader has lost the right to upload videos.
pub(crate) async fn admit(system: &SystemAccess, company: &CompanyId, id: VideoId) -> Result<RecordOutcome> {
    // Retry, because staff may change the video's texts at the same time.
    system.store.retry_on_conflict(RetryPolicy::CHANGE, || admit_once(system, company, id)).await
}

async fn admit_once(system: &SystemAccess, company: &CompanyId, id: VideoId) -> Result<RecordOutcome> {
    if system.store.awaits_start(company).await? {
        // `start-company` will queue the video.
        return Ok(RecordOutcome::Ignored);
    }
    let video = system.store.video(company, id).await?;
    let Some(video) = video.filter(|video| video.conversion.is_under_way()) else {
        // The event is late or a duplicate: the video is deleted, failed or converted.
        system.objects()?.delete(&video_upload_key(company, id)).await?;
        return Ok(RecordOutcome::Ignored);
    };
    let is_announced = video.conversion.status == ConversionStatus::AwaitingUpload;
    // The signed URL is valid for an hour. In the meantime, the uploader may have lost the right.
    if is_announced && !system.may_still_upload_video(&video).await? {
        system.commit(system.store.fail_video(&video, NOT_ALLOWED, system.now)).await?;
        return Ok(RecordOutcome::Refused);
    }
    if video.conversion.status == ConversionStatus::Processing {
        // A duplicate event.
        return Ok(RecordOutcome::Ignored);
    }
    // Queue the video even if it is queued already: a file sent in a form arrives after its video was stored.
    system.commit(system.store.await_conversion(&video, system.now)).await?;
    Ok(RecordOutcome::Applied)
}
