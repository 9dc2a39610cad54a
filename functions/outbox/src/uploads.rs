//! Fails uploads that did not arrive in time, and videos that were not converted in time.

use shared::auth::SystemAccess;
use shared::domain::video::ConversionStatus;
use shared::store::{DueCursor, DueQueue};
use shared::{Error, Result};

/// Shown to clients of an overdue upload.
const TOO_LATE: &str = "The file did not arrive in time. Announce and upload it again.";

/// Shown to clients of a video that was not converted in time.
const TOO_SLOW: &str = "The video could not be converted in time. Upload it again.";

#[derive(Default)]
pub(crate) struct GivenUp {
    /// Uploads and videos that were failed.
    pub(crate) uploads: usize,
    /// Uploads and videos to retry in the next run.
    pub(crate) failed: usize,
}

impl GivenUp {
    /// An upload that fails here must not delay the others, or the mails.
    fn count(&mut self, outcome: Result<()>) {
        match outcome {
            Ok(()) => self.uploads += 1,
            // It was completed at the last moment, or deleted.
            Err(Error::Changed | Error::NotFound) => {}
            Err(error) => {
                tracing::error!(target: "outbox", %error, "an upload could not be given up");
                self.failed += 1;
            }
        }
    }
}

/// Fails overdue uploads and videos.
pub(crate) async fn give_up(system: &SystemAccess) -> Result<GivenUp> {
    let mut given_up = GivenUp::default();
    give_up_files(system, &mut given_up).await?;
    give_up_videos(system, &mut given_up).await?;
    Ok(given_up)
}

async fn give_up_files(system: &SystemAccess, given_up: &mut GivenUp) -> Result<()> {
    for first in DueCursor::all(DueQueue::Uploads, system.now) {
        let mut page = Some(first);
        while let Some(cursor) = page {
            let due = system.store.due_uploads(cursor).await?;
            for upload in &due.rows {
                given_up.count(system.commit(system.store.fail_upload(upload, TOO_LATE, system.now)).await);
            }
            page = due.next;
        }
    }
    Ok(())
}

async fn give_up_videos(system: &SystemAccess, given_up: &mut GivenUp) -> Result<()> {
    for first in DueCursor::all(DueQueue::Videos, system.now) {
        let mut page = Some(first);
        while let Some(cursor) = page {
            let due = system.store.due_videos(cursor).await?;
            for video in &due.rows {
                let has_arrived = video.status != ConversionStatus::AwaitingUpload;
                let reason = if has_arrived { TOO_SLOW } else { TOO_LATE };
                given_up.count(system.commit(system.store.fail_video(video, reason, system.now)).await);
            }
            page = due.next;
        }
    }
    Ok(())
}
