//! Due requests for erasure.

use shared::Result;
use shared::auth::SystemAccess;
use shared::clock::Pace;
use shared::domain::candidate::Candidate;
use shared::domain::history::erasure::ErasureReason;
use shared::invocation_summary::InvocationSummary as _;
use shared::store::VersionedItem;
use shared::work::DueWork;

use crate::RetentionSummary;
use crate::batch;
use crate::limits::BATCH;

/// Erases candidates whose request is due. Companies take turns.
pub(crate) async fn erase_due(work: DueWork<'_>, pace: &Pace, summary: &mut RetentionSummary) -> Result<()> {
    let system = work.system;
    work.run_together(BATCH, system.store.due_erasures(system.now), summary, |due| async move {
        let mut ended = RetentionSummary::default();
        for request in due.iter().filter_map(|candidate| candidate.erasure_request) {
            ended.note_delay(request.due_at, system.now);
        }
        let (held, free): (Vec<_>, Vec<_>) =
            due.into_iter().partition(|candidate| candidate.hold_at(system.now).is_some());
        for candidate in held {
            let postponed = postpone(system, &candidate).await;
            ended.postponed += usize::from(ended.note_result(work.name, &candidate, postponed).is_some());
        }
        if !free.is_empty() {
            pace.wait().await;
            let batch = batch::erase(system, free, ErasureReason::Requested).await;
            ended.requested += batch.erased;
            ended.moved_on += batch.moved_on;
            ended.failed += batch.failed.len();
        }
        ended
    })
    .await
}

/// Postpones the request of a candidate on hold by a day, so that it does not delay others.
async fn postpone(system: &SystemAccess, before: &VersionedItem<Candidate>) -> Result<()> {
    let erasure_request = before.erasure_request.map(|request| request.postponed(system.now));
    let after = Candidate { erasure_request, ..Candidate::clone(before) };
    system.commit(system.store.change_candidate(before, &after.into(), system.now)).await
}
