//! Ends interviews in the service when they close.

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::candidate::{Candidate, EndedByTime};
use shared::domain::transition::CandidateChange;
use shared::store::VersionedItem;

/// Ends the interview of a candidate whose time is over. They become interviewed if no required answer is missing or
/// the interview had been completed before. Otherwise they become aborted, with a mail if they have answered something.
pub(crate) async fn end(
    system: &SystemAccess,
    candidate: &VersionedItem<Candidate>,
) -> Result<Option<CandidateChange>> {
    let Some(aborted) = Candidate::clone(candidate).expire(system.now) else { return Ok(None) };
    let (interview, answers) = system.store.interview_of(candidate).await?;
    let ended = system.end_answers(&answers).await?;
    let is_answered = ended.answers.missing(&interview, candidate.adjusted(), system.now).is_empty();
    // A reopening allows further takes, so that unanswerable questions count as missing again. The candidate must not
    // lose a completed interview because of that.
    let is_complete = is_answered || candidate.is_in_completed_interview();
    let change = if is_complete {
        Candidate::clone(candidate).completed(system.now)
    } else {
        let end = EndedByTime {
            ended_at: candidate.ends_at().unwrap_or(system.now),
            answered: ended.answers.answered(),
            questions: interview.questions.len(),
        };
        aborted.with_end_by_time(end, system.now)
    };
    let writes = system.store.end_interview(candidate, &change, &answers, &ended, system.now);
    system.commit(writes).await?;
    Ok(Some(change))
}
