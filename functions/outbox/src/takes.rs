//! Takes: deletes their objects and captions, and closes abandoned ones.

use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::answers::{Answers, Take};
use shared::domain::id::TakeRef;
use shared::domain::media::conversion::Conversion;
use shared::domain::media::conversion::queue::Recording;
use shared::media::{AnswerObjects, recorded_parts};
use shared::store::VersionedItem;
use shared::work::DueWork;

use crate::outcome::{EffectResult, SweepSummary};
use crate::recordings::log_broken;

/// The message for clients if all conversions of a take were killed.
const BROKEN: &str = "The recording could not be converted. Record the answer again.";

/// Deletes the objects and captions of dropped takes, and the parts of takes that were converted completely.
pub(crate) async fn delete_takes(
    system: &SystemAccess,
    objects: &AnswerObjects,
    takes: &[TakeRef],
) -> Result<(EffectResult, String)> {
    // Read the answers again: a take may have been finished with more parts in the meantime.
    let AnswerObjects { company, project, candidate } = objects;
    let answers = system.store.answers(company, *project, *candidate).await?;
    for place in takes {
        let take = answers.as_ref().and_then(|answers| answers.take(*place));
        if take.is_some_and(Take::needs_parts) {
            continue;
        }
        if let Err(error) = delete_take(system, objects, *place, take.is_some()).await {
            return Ok((EffectResult::Failed, error.to_string()));
        }
    }
    Ok((EffectResult::Deleted, String::new()))
}

async fn delete_take(
    system: &SystemAccess,
    objects: &AnswerObjects,
    place: TakeRef,
    is_kept: bool,
) -> Result<()> {
    let bucket = system.objects()?;
    let mut found = bucket.list(&objects.parts(place)).await?;
    if !is_kept {
        found.extend(bucket.list(&objects.renditions(place)).await?);
        bucket.delete(&objects.marker(place)).await?;
        let AnswerObjects { company, project, candidate } = objects;
        system.store.delete_captions_of_take(company, *project, *candidate, place).await?;
    }
    for object in found {
        bucket.delete(&object.key).await?;
    }
    Ok(())
}

/// Closes takes that were neither continued nor finished, and queues again takes whose events or executions were lost.
/// Waiting is not a failure: a take fails only after its conversion was killed too often.
pub(crate) async fn close_overdue(work: DueWork<'_>, summary: &mut SweepSummary) -> Result<()> {
    let system = work.system;
    work.run(system.store.due_answers(system.now), summary, |answers| async move {
        close(system, &answers).await?;
        Ok(SweepSummary { takes_closed: 1, ..SweepSummary::default() })
    })
    .await
}

async fn close(system: &SystemAccess, before: &VersionedItem<Answers>) -> Result<()> {
    let Answers { company, project, candidate, .. } = &**before;
    let candidate = system.store.candidate(company, *project, *candidate).await?;
    let is_final =
        candidate.as_ref().is_none_or(|candidate| candidate.may_finish_answer(system.now).is_err());
    let objects = AnswerObjects::of(before);
    let bucket = system.objects()?;
    let mut after = Answers::clone(before);
    let (open, converting): (Vec<TakeRef>, Vec<TakeRef>) =
        before.overdue_takes(system.now).partition(|take| before.take(*take).is_some_and(Take::is_open));
    for take in open {
        let found = recorded_parts(&bucket.list(&objects.parts(take)).await?);
        after = after.close_take(take, &found, is_final, system.now);
    }
    let (broken, lost): (Vec<TakeRef>, Vec<TakeRef>) = converting
        .into_iter()
        .partition(|take| before.take(*take).is_some_and(|take| take.conversion.is_used_up()));
    // The write also records the effects that queue the takes.
    for take in lost {
        after = after.with_take(take, |take| take.conversion = take.conversion.waiting_again(system.now));
    }
    // Fail only one take: each failure is an event, and a write has only one. The next invocation fails the others.
    let failed = broken.into_iter().next();
    if let Some(take) = failed {
        after = after.with_take(take, |take| take.end_conversion(Conversion::failed(BROKEN)));
    }
    let writes = match candidate.filter(|_| is_final) {
        // A changed deadline may have reopened the interview.
        Some(candidate) => system.store.save_answers(&candidate, before, &after, system.now),
        None => system.store.update_answers(before, &after, system.now),
    };
    system.commit(writes).await?;
    if let Some(take) = failed {
        // Keep the parts, so that the operator can retry the conversion.
        let AnswerObjects { company, project, candidate } = objects;
        log_broken(&company, &Recording::Take { project, candidate, take });
    }
    Ok(())
}
