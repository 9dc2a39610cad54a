//! Admits uploaded videos to their conversion.
//!
//! Here, because this needs the account of who announced the video: the function that converts them runs a large decoder on
//! what strangers have made, and may read no account.

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::id::{CompanyId, VideoId};
use shared::domain::media::conversion::ConversionStatus;
use shared::event::RecordOutcome;
use shared::media::video_upload_key;
use shared::store::RetryPolicy;

const NOT_ALLOWED: &str = "The person who announced this video may no longer upload videos. Upload it again with an account that may.";

/// Has a video wait for its conversion whose file has arrived, if its author still may upload videos.
pub(crate) async fn admit(system: &SystemAccess, company: &CompanyId, id: VideoId) -> Result<RecordOutcome> {
    // The texts of the video may change at the same time.
    system.store.retry_on_conflict(RetryPolicy::CHANGE, || admit_once(system, company, id)).await
}

async fn admit_once(system: &SystemAccess, company: &CompanyId, id: VideoId) -> Result<RecordOutcome> {
    if system.store.awaits_start(company).await? {
        // `start-company` has the file converted.
        return Ok(RecordOutcome::Ignored);
    }
    let video = system.store.video(company, id).await?;
    let Some(video) = video.filter(|video| video.conversion.is_under_way()) else {
        // Deleted, failed, or converted: the event comes late or again.
        system.objects()?.delete(&video_upload_key(company, id)).await?;
        return Ok(RecordOutcome::Ignored);
    };
    let is_announced = video.conversion.status == ConversionStatus::AwaitingUpload;
    // The signed URL works for an hour; the author may have lost the right meanwhile.
    if is_announced && !system.may_still_upload_video(&video).await? {
        system.commit(system.store.fail_video(&video, NOT_ALLOWED, system.now)).await?;
        return Ok(RecordOutcome::Refused);
    }
    if video.conversion.status == ConversionStatus::Processing {
        // The event comes again.
        return Ok(RecordOutcome::Ignored);
    }
    // A video that waits already is admitted again: a file that was sent in a form arrives after its video.
    system.commit(system.store.await_conversion(&video, system.now)).await?;
    Ok(RecordOutcome::Applied)
}
