//! Admits uploaded videos to their conversion.
//!
//! Here, because this needs the account of who announced the video: the function that converts them runs a large decoder on
//! what strangers have made, and may read no account.

use shared::auth::SystemAccess;
use shared::domain::conversion::{Conversion, ConversionStatus};
use shared::domain::id::{CompanyId, VideoId};
use shared::domain::video::Video;
use shared::event::RecordOutcome;
use shared::media::{video_marker_key, video_upload_key};
use shared::{Error, Result};

const NOT_ALLOWED: &str = "The person who announced this video may no longer upload videos. Upload it again with an account that may.";

/// Has a video converted whose file has arrived, if its author still may upload videos.
pub(crate) async fn admit(system: &SystemAccess, company: &CompanyId, id: VideoId) -> Result<RecordOutcome> {
    let (video, objects) = (system.store.video(company, id).await?, system.objects()?);
    let Some(video) = video.filter(|video| video.conversion.is_under_way()) else {
        // Deleted, failed, or converted: the event comes late or again.
        objects.delete(&video_upload_key(company, id)).await?;
        return Ok(RecordOutcome::Ignored);
    };
    if video.conversion.status == ConversionStatus::AwaitingUpload {
        // The signed URL works for an hour, in which the author may have lost the right.
        if !system.may_still_upload_video(&video).await? {
            system.commit(system.store.fail_video(&video, NOT_ALLOWED, system.now)).await?;
            return Ok(RecordOutcome::Refused);
        }
        let pending = Video::clone(&video).with_conversion(Conversion::pending(system.now));
        match system.commit(system.store.update_video(&video, &pending)).await {
            // The same event, or a change of its texts. A retry sees which.
            Err(Error::Changed | Error::NotFound) => {
                return Err(Error::Busy("the video has just changed".into()));
            }
            admitted => admitted?,
        }
    }
    // Also of one that is admitted already: this may have ended before it was stored.
    objects.put_marker(&video_marker_key(company, id)).await?;
    Ok(RecordOutcome::Applied)
}
