//! Ends interviews that this service conducts, once they close.

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::candidate::{Candidate, EndedByTime};
use shared::domain::transition::CandidateChange;
use shared::store::VersionedItem;

/// Moves a candidate whose time is over: to interviewed if nothing required is missing or the interview was complete before, else to
/// aborted, with a mail if they had answered something.
pub(crate) async fn end(
    system: &SystemAccess,
    candidate: &VersionedItem<Candidate>,
) -> Result<Option<CandidateChange>> {
    let Some(aborted) = Candidate::clone(candidate).expire(system.now) else { return Ok(None) };
    let (interview, answers) = system.store.interview_of(candidate).await?;
    let ended = system.end_answers(&answers).await?;
    let is_answered = ended.answers.missing(&interview, candidate.adjusted(), system.now).is_empty();
    // A reopening gives takes for questions that could no longer be answered, which are then missing again. The candidate must
    // not lose by it what they had completed.
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
