//! Expired named tokens.

use shared::Result;
use shared::invocation_summary::InvocationSummary as _;
use shared::work::DueWork;

use crate::RetentionSummary;

/// Deletes named tokens that expired long enough ago. Companies take turns.
pub(crate) async fn delete_due(work: DueWork<'_>, summary: &mut RetentionSummary) -> Result<()> {
    let system = work.system;
    work.run_together(1, system.store.due_tokens(system.now), summary, |due| async move {
        let mut ended = RetentionSummary::default();
        for token in due {
            // Record the delay even if the deletion fails, so that the alarm reports it.
            token.due_at().into_iter().for_each(|at| ended.note_delay(at, system.now));
            let deleted = system.commit(system.store.delete_token(&token, None)).await;
            ended.tokens += usize::from(ended.note_result(work.name, &token, deleted).is_some());
        }
        ended
    })
    .await
}
