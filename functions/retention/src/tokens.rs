//! Named tokens that have expired.

use shared::Result;
use shared::invocation_summary::InvocationSummary as _;
use shared::work::DueWork;

use crate::RetentionSummary;

/// Deletes the named tokens that have been shown as expired for long enough, companies in turn.
pub(crate) async fn delete_due(work: DueWork<'_>, summary: &mut RetentionSummary) -> Result<()> {
    let system = work.system;
    work.run_together(1, system.store.due_tokens(system.now), summary, |due| async move {
        let mut ended = RetentionSummary::default();
        for token in due {
            // The delay of a token that cannot be deleted counts too, so that the alarm reports it.
            token.due_at().into_iter().for_each(|at| ended.note_delay(at, system.now));
            let deleted = system.commit(system.store.delete_token(&token, None)).await;
            ended.tokens += usize::from(ended.note_result(work.name, &token, deleted).is_some());
        }
        ended
    })
    .await
}
