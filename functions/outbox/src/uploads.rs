//! Uploads whose file has not arrived in time, and videos that have not been converted in time.

use shared::auth::System;
use shared::domain::video::ConversionStatus;
use shared::store::Store;
use shared::{Error, Result};

/// What clients read of such an upload.
const TOO_LATE: &str = "The file has not arrived in time.";

/// The same of a video whose file has arrived.
const TOO_SLOW: &str = "The video could not be converted in time.";

/// What became of those that were overdue.
#[derive(Default)]
pub(crate) struct GivenUp {
    /// Those that have failed.
    pub(crate) uploads: usize,
    /// Those with which something went wrong; the next run tries them again.
    pub(crate) failed: usize,
}

impl GivenUp {
    /// One that cannot be given up must hold up neither the others nor the mails.
    fn count(&mut self, outcome: Result<()>) {
        match outcome {
            Ok(()) => self.uploads += 1,
            // It has been done at the last moment, or deleted.
            Err(Error::Changed | Error::NotFound) => {}
            Err(error) => {
                tracing::error!(target: "outbox", %error, "an upload could not be given up");
                self.failed += 1;
            }
        }
    }
}

/// Gives up uploads and videos that are overdue.
pub(crate) async fn give_up(system: &System) -> Result<GivenUp> {
    let mut given_up = GivenUp::default();
    give_up_files(system, &mut given_up).await?;
    give_up_videos(system, &mut given_up).await?;
    Ok(given_up)
}

async fn give_up_files(system: &System, given_up: &mut GivenUp) -> Result<()> {
    for shard in Store::upload_shards() {
        let mut from = None;
        loop {
            let due = system.store.overdue_uploads(shard, system.now, from).await?;
            for upload in &due.rows {
                given_up.count(system.commit(system.store.fail_upload(upload, TOO_LATE, system.now)).await);
            }
            from = due.next;
            if from.is_none() {
                break;
            }
        }
    }
    Ok(())
}

async fn give_up_videos(system: &System, given_up: &mut GivenUp) -> Result<()> {
    for shard in Store::video_shards() {
        let mut from = None;
        loop {
            let due = system.store.overdue_videos(shard, system.now, from).await?;
            for video in &due.rows {
                let has_arrived = video.status != ConversionStatus::AwaitingUpload;
                let reason = if has_arrived { TOO_SLOW } else { TOO_LATE };
                given_up.count(system.commit(system.store.fail_video(video, reason, system.now)).await);
            }
            from = due.next;
            if from.is_none() {
                break;
            }
        }
    }
    Ok(())
}
