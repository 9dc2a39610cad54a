//! Uploads whose file has not arrived in time, and videos that have not been converted in time.

use shared::auth::guard::System;
use shared::domain::video::ConversionStatus;
use shared::store::Store;
use shared::{Error, Result};

/// What clients read of such an upload.
const TOO_LATE: &str = "The file has not arrived in time.";

/// The same of a video whose file has arrived.
const TOO_SLOW: &str = "The video could not be converted in time.";

/// Gives up uploads that are overdue, and gives their number.
pub(crate) async fn give_up(system: &System) -> Result<usize> {
    let mut given_up = 0;
    for shard in Store::upload_shards() {
        let mut from = None;
        loop {
            let due = system.store.overdue_uploads(shard, system.now, from).await?;
            for upload in &due.rows {
                match system.store.fail_upload(upload, TOO_LATE, system.now).await {
                    Ok(()) => given_up += 1,
                    // It has arrived at the last moment.
                    Err(Error::Changed | Error::NotFound) => {}
                    Err(error) => return Err(error),
                }
            }
            from = due.next;
            if from.is_none() {
                break;
            }
        }
    }
    Ok(given_up)
}

/// Gives up videos that are overdue, and gives their number.
pub(crate) async fn give_up_videos(system: &System) -> Result<usize> {
    let mut given_up = 0;
    for shard in Store::video_shards() {
        let mut from = None;
        loop {
            let due = system.store.overdue_videos(shard, system.now, from).await?;
            for video in &due.rows {
                let has_arrived = video.status != ConversionStatus::AwaitingUpload;
                let reason = if has_arrived { TOO_SLOW } else { TOO_LATE };
                match system.store.fail_video(video, reason, system.now).await {
                    Ok(()) => given_up += 1,
                    // It has been done at the last moment, or deleted.
                    Err(Error::Changed | Error::NotFound) => {}
                    Err(error) => return Err(error),
                }
            }
            from = due.next;
            if from.is_none() {
                break;
            }
        }
    }
    Ok(given_up)
}
