//! Converts takes: recorded answers, which are stored in parts.

use shared::auth::SystemAccess;
use shared::domain::answers::{Answers, Take, TakeRef};
use shared::domain::conversion::Conversion;
use shared::domain::file::FileType;
use shared::event::RecordOutcome;
use shared::media::{AnswerObjects, recorded_parts};
use shared::store::{RetryPolicy, VersionedItem};
use shared::{Error, Result};

use crate::engine::{ConversionTarget, ConvertedFiles, EngineError, convert};
use crate::{TRY, clean_up, converted};

const LOST: &str = "The recording did not arrive completely. Record the answer again.";

/// Converts a take because of `event`, unless it is converted already or another worker holds it.
pub(crate) async fn process_take(
    system: &SystemAccess,
    objects: &AnswerObjects,
    place: TakeRef,
    event: &str,
) -> Result<RecordOutcome> {
    let AnswerObjects { company, project, candidate } = objects;
    let answers = system.store.answers(company, *project, *candidate).await?;
    let Some((answers, take)) = answers.and_then(|answers| {
        let take = answers.take(place)?.clone();
        Some((answers, take))
    }) else {
        // Nobody shows it any more.
        return delete_all(system, objects, place).await;
    };
    if take.is_open() {
        return Ok(RecordOutcome::Ignored);
    }
    let Some(begun) = take.conversion.begun(event, system.now) else {
        let left = if take.conversion.is_under_way() { None } else { Some(objects.marker(place)) };
        return clean_up(system, left.as_slice()).await;
    };
    let after = Answers::clone(&answers).with_take(place, |take| take.conversion = begun);
    match system.commit(system.store.update_answers(&answers, &after, system.now)).await {
        // Another worker, or a retry of this event, is responsible, or the candidate has just gone on.
        Err(Error::Changed | Error::NotFound) => {
            return Err(Error::Busy("the answers have just changed".into()));
        }
        begun => begun?,
    }
    work_on(system, objects, place, &take, event).await
}

async fn work_on(
    system: &SystemAccess,
    objects: &AnswerObjects,
    place: TakeRef,
    take: &Take,
    event: &str,
) -> Result<RecordOutcome> {
    let bucket = system.objects()?;
    let directory = tempfile::tempdir().map_err(Error::internal)?;
    let input = directory.path().join("recording");
    let listed = recorded_parts(&bucket.list(&objects.parts(place)).await?);
    let parts = listed.iter().map(|part| part.number).filter(|number| *number <= take.last_part);
    let keys: Vec<String> = parts.map(|number| objects.part(place, number)).collect();
    let found = !keys.is_empty() && bucket.fetch_joined(&keys, &input).await?;
    let path = system.config().program_path.as_ref();
    let time = TRY.saturating_sub(system.usage().elapsed());
    // A little more than the time to answer, since recorders stop late.
    let target = ConversionTarget::Answer { max_seconds: take.answer_seconds + 2 };
    let made =
        if found { convert(path, &input, target, time).await } else { Err(EngineError::Refused(LOST)) };
    match made {
        Ok(conversion) => {
            store(system, objects, place, &conversion).await?;
            let made = converted(&conversion);
            // A take that lost a tenth and two seconds has lost a part: nobody must notice that before we do.
            let recorded = take.recorded_seconds.unwrap_or_default().min(take.answer_seconds);
            if !take.is_interrupted && made.seconds + recorded / 10 + 2 < recorded {
                let (candidate, question, number) = (objects.candidate, place.question, place.number);
                tracing::error!(
                    target: "conversion", %candidate, %question, number, recorded, seconds = made.seconds,
                    short_answers = 1, "a recorded answer is shorter than its recording"
                );
            }
            finish(system, objects, place, event, Conversion::succeeded(made)).await
        }
        Err(EngineError::Refused(reason)) => {
            finish(system, objects, place, event, Conversion::failed(reason)).await
        }
        Err(EngineError::Machine(error)) => Err(Error::internal(error)),
    }
}

/// Stores the renditions in the bucket.
async fn store(
    system: &SystemAccess,
    objects: &AnswerObjects,
    place: TakeRef,
    conversion: &ConvertedFiles,
) -> Result<()> {
    let bucket = system.objects()?;
    for (file_type, path) in [(FileType::Mp4, &conversion.mp4), (FileType::Jpeg, &conversion.thumbnail)] {
        bucket.put_file(&objects.rendition(place, file_type), path, file_type).await?;
    }
    Ok(())
}

/// Writes the result unless another attempt has, and deletes unneeded objects.
async fn finish(
    system: &SystemAccess,
    objects: &AnswerObjects,
    place: TakeRef,
    event: &str,
    end: Conversion,
) -> Result<RecordOutcome> {
    let AnswerObjects { company, project, candidate } = objects;
    for _ in 0..RetryPolicy::CHANGE.attempts {
        let Some(answers) = system.store.answers(company, *project, *candidate).await? else {
            return delete_all(system, objects, place).await;
        };
        match answers.take(place) {
            None => return delete_all(system, objects, place).await,
            Some(take) if !take.conversion.is_done_by(event) => {
                // The candidate has sent more of it, or its time is over.
                return Ok(RecordOutcome::Ignored);
            }
            Some(_) => {}
        }
        match end_take(system, &answers, place, end.clone()).await {
            Ok(take) => {
                if end.converted.is_some() && !take.is_interrupted {
                    delete_parts(system, objects, place).await?;
                }
                clean_up(system, &[objects.marker(place)]).await?;
                let is_converted = end.converted.is_some();
                return Ok(if is_converted { RecordOutcome::Applied } else { RecordOutcome::Refused });
            }
            // The candidate has gone on with another question.
            Err(Error::Changed | Error::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::Changed)
}

/// Writes the end of a conversion, and returns the take.
async fn end_take(
    system: &SystemAccess,
    answers: &VersionedItem<Answers>,
    place: TakeRef,
    end: Conversion,
) -> Result<Take> {
    let after = Answers::clone(answers).with_take(place, |take| take.conversion = end);
    system.commit(system.store.update_answers(answers, &after, system.now)).await?;
    after.take(place).cloned().ok_or(Error::NotFound)
}

/// Deletes the parts of a finished take that can be played.
async fn delete_parts(system: &SystemAccess, objects: &AnswerObjects, place: TakeRef) -> Result<()> {
    let bucket = system.objects()?;
    for part in bucket.list(&objects.parts(place)).await? {
        bucket.delete(&part.key).await?;
    }
    Ok(())
}

/// Deletes everything of a take that no answer holds.
async fn delete_all(system: &SystemAccess, objects: &AnswerObjects, place: TakeRef) -> Result<RecordOutcome> {
    delete_parts(system, objects, place).await?;
    let [mp4, thumbnail] = objects.renditions(place);
    clean_up(system, &[mp4, thumbnail, objects.marker(place)]).await
}
