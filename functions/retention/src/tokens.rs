//! Named tokens that have expired.

use futures_util::TryStreamExt as _;
use shared::auth::SystemAccess;
use shared::{Error, Result, log_failure};

use crate::RetentionSummary;
use crate::limits::RunLimits;

/// Deletes the named tokens that have been shown as expired for long enough, companies in turn.
pub(crate) async fn delete_due(
    system: &SystemAccess,
    limits: RunLimits,
    summary: &mut RetentionSummary,
) -> Result<()> {
    let mut due = system.store.due_tokens(system.now);
    while let Some(page) = due.try_next().await? {
        for token in &page {
            token.due_at().into_iter().for_each(|at| summary.note_delay(at, system.now));
            match system.commit(system.store.delete_token(token, None)).await {
                Ok(()) => summary.tokens += 1,
                // An owner has deleted it.
                Err(Error::Changed | Error::NotFound) => summary.moved_on += 1,
                Err(error) => {
                    let token = token.id;
                    log_failure!(target: "retention", &error, %token, "could not delete an expired token");
                    summary.failed += 1;
                }
            }
            if system.usage().elapsed() >= limits.time {
                summary.more = true;
                return Ok(());
            }
        }
    }
    Ok(())
}
