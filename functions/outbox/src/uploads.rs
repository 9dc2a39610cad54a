//! Fails uploads that did not arrive in time.

use std::time::Duration;

use futures_util::TryStreamExt as _;
use shared::auth::SystemAccess;
use shared::{Error, Result, log_failure};

use crate::outcome::SweepSummary;

/// Shown to clients of an overdue upload.
pub(crate) const TOO_LATE: &str = "The file did not arrive in time. Announce and upload it again.";

/// Fails uploads whose file has not arrived.
pub(crate) async fn give_up_uploads(
    system: &SystemAccess,
    time: Duration,
    summary: &mut SweepSummary,
) -> Result<()> {
    let store = &system.store;
    let now = system.now;
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

fn count(outcome: Result<()>, summary: &mut SweepSummary) {
    match outcome {
        Ok(()) => summary.uploads_given_up += 1,
        // It was completed at the last moment, or deleted.
        Err(Error::Changed | Error::NotFound) => {}
        // It must not delay the others, or the mails. The next run tries it again.
        Err(error) => {
            log_failure!(target: "outbox", &error, "could not give up an upload");
            summary.failed += 1;
        }
    }
}
