//! Ends interviews that this service conducts, once they close.

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::answers::Answers;
use shared::domain::candidate::Candidate;
use shared::media::{AnswerObjects, recorded_parts};
use shared::store::VersionedItem;

use crate::{ExpiryMove, ExpirySummary};

/// Ends the interview of a candidate whose time is over.
pub(crate) async fn close(system: &SystemAccess, candidate: VersionedItem<Candidate>) -> ExpirySummary {
    let mut summary = ExpirySummary::default();
    match end(system, &candidate).await {
        Ok(Some(after)) => {
            let done: ExpiryMove = (candidate, after);
            summary.count(&done, system.now);
        }
        Ok(None) => {}
        Err(error) => summary.count_failure(&candidate, &error),
    }
    summary
}

/// Moves the candidate: to interviewed if nothing required is missing, else to aborted.
async fn end(system: &SystemAccess, candidate: &VersionedItem<Candidate>) -> Result<Option<Candidate>> {
    let Some(aborted) = Candidate::clone(candidate).expire(system.now) else { return Ok(None) };
    let (interview, answers) = system.store.interview_of(candidate).await?;
    // What has arrived counts, though the client could not say so any more.
    let closed = close_takes(system, &answers).await?;
    let is_answered = closed.missing(&interview).is_empty();
    let after = if is_answered { Candidate::clone(candidate).interviewed(system.now) } else { aborted };
    let writes = system.store.end_interview(candidate, after.clone(), (&answers, &closed), system.now);
    system.commit(writes).await?;
    Ok(Some(after))
}

async fn close_takes(system: &SystemAccess, answers: &VersionedItem<Answers>) -> Result<Answers> {
    let mut closed = Answers::clone(answers);
    let objects = AnswerObjects::of(answers);
    for take in answers.open_takes() {
        let found = recorded_parts(&system.objects()?.list(&objects.parts(take)).await?);
        closed = closed.close_take(take, &found, true, system.now);
    }
    Ok(closed)
}
