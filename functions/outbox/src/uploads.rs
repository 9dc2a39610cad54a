//! Fails uploads that did not arrive in time, and videos that were not converted in time.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use shared::auth::SystemAccess;
use shared::domain::conversion::ConversionStatus;
use shared::{Error, Result};

use crate::outcome::SweepSummary;

/// Shown to clients of an overdue upload.
const TOO_LATE: &str = "The file did not arrive in time. Announce and upload it again.";

/// Shown to clients of a video that was not converted in time.
const TOO_SLOW: &str = "The video could not be converted in time. Upload it again.";

/// Fails uploads whose file has not arrived.
pub(crate) async fn give_up_uploads(
    system: &SystemAccess,
    time: Duration,
    summary: &mut SweepSummary,
) -> Result<()> {
    let (store, now) = (&system.store, system.now);
    let mut due = store.due_uploads(now);
    while let Some(page) = due.try_next().await? {
        for upload in &page {
            count(system.commit(store.fail_upload(upload, TOO_LATE, now)).await, summary);
            if system.usage().elapsed() >= time {
                summary.more = true;
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Fails videos whose file has not arrived, or that were not converted.
pub(crate) async fn give_up_videos(
    system: &SystemAccess,
    time: Duration,
    summary: &mut SweepSummary,
) -> Result<()> {
    let (store, now) = (&system.store, system.now);
    let mut due = store.due_videos(now);
    while let Some(page) = due.try_next().await? {
        for video in &page {
            let has_arrived = video.conversion.status != ConversionStatus::AwaitingUpload;
            let reason = if has_arrived { TOO_SLOW } else { TOO_LATE };
            count(system.commit(store.fail_video(video, reason, now)).await, summary);
            if system.usage().elapsed() >= time {
                summary.more = true;
                return Ok(());
            }
        }
    }
    Ok(())
}

fn count(outcome: Result<()>, summary: &mut SweepSummary) {
    match outcome {
        Ok(()) => summary.uploads_given_up += 1,
        // It was completed at the last moment, or deleted.
        Err(Error::Changed | Error::NotFound) => {}
        // It must not delay the others, or the mails. The next run tries it again.
        Err(error) => {
            tracing::error!(target: "outbox", %error, "could not give up an upload");
            summary.failed += 1;
        }
    }
}
