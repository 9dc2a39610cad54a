//! Requests for erasure that are due.

use futures_util::TryStreamExt as _;
use shared::auth::SystemAccess;
use shared::clock::Pace;
use shared::domain::candidate::Candidate;
use shared::domain::history::erasure::ErasureReason;
use shared::store::VersionedItem;
use shared::{Error, Result, log_failure};

use crate::RetentionSummary;
use crate::batch;
use crate::limits::{BATCH, RunLimits};

/// Erases the candidates whose request is due, companies in turn.
pub(crate) async fn erase_due(
    system: &SystemAccess,
    limits: RunLimits,
    pace: &Pace,
    summary: &mut RetentionSummary,
) -> Result<()> {
    let mut due = system.store.due_erasures(system.now);
    while let Some(page) = due.try_next().await? {
        for request in page.iter().filter_map(|candidate| candidate.erasure_request) {
            summary.note_delay(request.due_at, system.now);
        }
        let (held, free): (Vec<_>, Vec<_>) =
            page.into_iter().partition(|candidate| candidate.hold_at(system.now).is_some());
        for candidate in held {
            postpone(system, &candidate, summary).await;
        }
        for candidates in free.chunks(BATCH) {
            pace.wait().await;
            let result = batch::erase(system, candidates.to_vec(), ErasureReason::Requested).await;
            summary.requested += result.erased;
            summary.moved_on += result.moved_on;
            summary.failed += result.failed.len();
            if system.usage().elapsed() >= limits.time {
                summary.more = true;
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Moves the request of a candidate on hold a day ahead, so that those behind it need not wait.
async fn postpone(system: &SystemAccess, before: &VersionedItem<Candidate>, summary: &mut RetentionSummary) {
    let erasure_request = before.erasure_request.map(|request| request.postponed(system.now));
    let after = Candidate { erasure_request, ..Candidate::clone(before) };
    match system.commit(system.store.change_candidate(before, &after.into(), system.now)).await {
        Ok(()) => summary.postponed += 1,
        // The next invocation finds what has become of it.
        Err(Error::Changed | Error::NotFound) => summary.moved_on += 1,
        Err(error) => {
            let candidate = before.id;
            log_failure!(target: "retention", &error, %candidate, "could not postpone a request for erasure");
            summary.failed += 1;
        }
    }
}
