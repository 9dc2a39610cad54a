//! Fails uploads that did not arrive in time.

use shared::Result;
use shared::auth::SystemAccess;
use shared::work::DueWork;

use crate::outcome::SweepSummary;

/// The message for clients of an overdue upload.
pub(crate) const TOO_LATE: &str = "The file did not arrive in time. Announce and upload it again.";

/// Fails overdue uploads.
pub(crate) async fn give_up_uploads(work: DueWork<'_>, summary: &mut SweepSummary) -> Result<()> {
    let SystemAccess { store, now, .. } = work.system;
    work.run(store.due_uploads(*now), summary, |upload| async move {
        work.system.commit(store.fail_upload(&upload, TOO_LATE, *now)).await?;
        Ok(SweepSummary { uploads_given_up: 1, ..SweepSummary::default() })
    })
    .await
}
