//! Converts takes: recorded answers, which are stored in parts.

use shared::auth::SystemAccess;
use shared::domain::answers::{Answers, RecordedPart, Take, TakeRef};
use shared::domain::conversion::queue::WaitingTake;
use shared::domain::conversion::{Conversion, ConversionStatus};
use shared::domain::file::FileType;
use shared::event::RecordOutcome;
use shared::media::{AnswerObjects, recorded_parts};
use shared::store::{RetryPolicy, VersionedItem};
use shared::{Error, Result};

use crate::engine::{ConversionTarget, ConvertedFiles, EngineError, convert};
use crate::{TRY, clean_up, converted};

/// How long a recorder may go on after the time to answer, in seconds.
const SPARE_SECONDS: u32 = 2;

const LOST: &str = "The recording did not arrive completely. Record the answer again.";
const TOO_LARGE: &str = "The recording is too large for the time to answer. Record the answer again.";

/// A take to convert because of an event.
pub(crate) struct TakeConversion<'a> {
    system: &'a SystemAccess,
    objects: AnswerObjects,
    place: TakeRef,
    /// The event's identifier.
    event: &'a str,
}

impl<'a> TakeConversion<'a> {
    pub(crate) fn new(system: &'a SystemAccess, waiting: &WaitingTake, event: &'a str) -> Self {
        let WaitingTake { company, project, candidate, take, .. } = waiting;
        let objects = AnswerObjects { company: company.clone(), project: *project, candidate: *candidate };
        Self { system, objects, place: *take, event }
    }

    /// Converts the take, unless it is converted already or another worker holds it.
    pub(crate) async fn process(&self) -> Result<RecordOutcome> {
        let Some(take) = self.begin().await? else { return self.settle().await };
        let outcome = self.work_on(&take).await;
        if outcome.is_err() {
            // The recording is not to blame. If this fails as well, nothing but one attempt is lost.
            let _ = self.forget_attempt().await;
        }
        outcome
    }

    /// Converts a take that is leased.
    async fn work_on(&self, take: &Take) -> Result<RecordOutcome> {
        let directory = tempfile::tempdir().map_err(Error::internal)?;
        let end = match self.make(take, &directory.path().join("recording")).await {
            Ok(files) => {
                // Not of a take that has been finished with more parts since: what is stored is that of a later attempt.
                if !self.answers().await?.is_some_and(|answers| self.is_mine(&answers)) {
                    return self.settle().await;
                }
                self.store(&files).await?;
                Conversion::succeeded(converted(&files))
            }
            Err(Failure::Take(EngineError::Refused(reason))) => Conversion::failed(reason),
            Err(Failure::Take(EngineError::Machine(error))) => return Err(Error::internal(error)),
            Err(Failure::Storage(error)) => return Err(error),
            // With the candidate, or the answer was reset.
            Err(Failure::Gone) => return self.settle().await,
        };
        self.finish(end).await
    }

    /// Has the attempt, which goes on until its lease ends, not count.
    async fn forget_attempt(&self) -> Result<()> {
        let Some(answers) = self.answers().await?.filter(|answers| self.is_mine(answers)) else {
            return Ok(());
        };
        let forget = |take: &mut Take| take.conversion = take.conversion.clone().without_attempt();
        self.save(&answers, forget).await.map(drop)
    }

    /// Leases the take; `None` if there is nothing to convert.
    async fn begin(&self) -> Result<Option<Take>> {
        let mut seen: Option<Conversion> = None;
        for _ in 0..RetryPolicy::CHANGE.attempts {
            let Some(answers) = self.answers().await? else { return Ok(None) };
            let Some(take) = answers.take(self.place).filter(|take| !take.is_open()) else { return Ok(None) };
            if seen.as_ref().is_some_and(|seen| *seen != take.conversion) {
                // Another worker, or a retry of this event, is responsible.
                break;
            }
            let Some(begun) = take.conversion.begun(self.event, self.system.now) else { return Ok(None) };
            seen = Some(take.conversion.clone());
            match self.save(&answers, |take| take.conversion = begun).await {
                Ok(after) => return Ok(after.take(self.place).cloned()),
                // Mostly because the candidate goes on with another question.
                Err(Error::Changed | Error::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Changed)
    }

    /// Joins the parts at `input`, and converts them.
    async fn make(&self, take: &Take, input: &std::path::Path) -> Result<ConvertedFiles, Failure> {
        let bucket = self.system.objects()?;
        let mut parts = recorded_parts(&bucket.list(&self.objects.parts(self.place)).await?);
        parts.retain(|part| part.number <= take.last_part);
        if let Some(reason) = refusal(take, &parts) {
            return Err(EngineError::Refused(reason).into());
        }
        let keys: Vec<String> = parts.iter().map(|part| self.objects.part(self.place, part.number)).collect();
        if !bucket.fetch_joined(&keys, input).await? {
            return Err(Failure::Gone);
        }
        let target = ConversionTarget::Answer { max_seconds: take.answer_seconds + SPARE_SECONDS };
        let time = TRY.saturating_sub(self.system.usage().elapsed());
        Ok(convert(self.system.config().program_path.as_ref(), input, target, time).await?)
    }

    /// Stores the renditions in the bucket.
    async fn store(&self, files: &ConvertedFiles) -> Result<()> {
        let bucket = self.system.objects()?;
        for (file_type, path) in [(FileType::Mp4, &files.mp4), (FileType::Jpeg, &files.thumbnail)] {
            bucket.put_file(&self.objects.rendition(self.place, file_type), path, file_type).await?;
        }
        Ok(())
    }

    /// Logs a warning if the length of the take is doubtful.
    fn report_doubt(&self, take: &Take) {
        if !take.is_doubtful() {
            return;
        }
        let (candidate, question, number) = (self.objects.candidate, self.place.question, self.place.number);
        let (recorded, seconds) = (take.recorded_seconds, take.conversion.converted.map(|made| made.seconds));
        // No error: clients say what they have recorded, whatever that was. An alarm looks at the share of these lines.
        tracing::warn!(
            target: "conversion", %candidate, %question, number, recorded, seconds,
            "the length of an answer is doubtful"
        );
    }

    /// Writes the result unless another attempt has, and deletes unneeded objects.
    async fn finish(&self, end: Conversion) -> Result<RecordOutcome> {
        for _ in 0..RetryPolicy::CHANGE.attempts {
            let Some(answers) = self.answers().await?.filter(|answers| self.is_mine(answers)) else {
                return self.settle().await;
            };
            match self.save(&answers, |take| take.end_conversion(end.clone())).await {
                Ok(after) => {
                    let take = after.take(self.place);
                    take.into_iter().for_each(|take| self.report_doubt(take));
                    self.delete_unneeded(take).await?;
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

    /// Leaves the take as it is, and deletes what it does not need.
    async fn settle(&self) -> Result<RecordOutcome> {
        let answers = self.answers().await?;
        self.delete_unneeded(answers.as_ref().and_then(|answers| answers.take(self.place))).await
    }

    /// Deletes objects that a take does not need: those of none, the parts of one that [needs](Take::needs_parts) none, and the
    /// renditions of a failed one, whose parts the operator may have converted again.
    async fn delete_unneeded(&self, take: Option<&Take>) -> Result<RecordOutcome> {
        if take.is_some_and(|take| take.conversion.is_under_way()) {
            // Another worker needs them.
            return Ok(RecordOutcome::Ignored);
        }
        let mut keys = Vec::new();
        if take.is_none_or(|take| take.conversion.status == ConversionStatus::Failed) {
            keys.extend(self.objects.renditions(self.place));
        }
        if take.is_none_or(|take| !take.needs_parts()) {
            let parts = self.system.objects()?.list(&self.objects.parts(self.place)).await?;
            keys.extend(parts.into_iter().map(|part| part.key));
        }
        clean_up(self.system, &keys).await
    }

    async fn answers(&self) -> Result<Option<VersionedItem<Answers>>> {
        let AnswerObjects { company, project, candidate } = &self.objects;
        self.system.store.answers(company, *project, *candidate).await
    }

    fn is_mine(&self, answers: &Answers) -> bool {
        answers.take(self.place).is_some_and(|take| take.conversion.is_done_by(self.event))
    }

    async fn save(&self, before: &VersionedItem<Answers>, change: impl FnOnce(&mut Take)) -> Result<Answers> {
        let after = Answers::clone(before).with_take(self.place, change);
        self.system.commit(self.system.store.update_answers(before, &after, self.system.now)).await?;
        Ok(after)
    }
}

/// Why there are no renditions.
enum Failure {
    Take(EngineError),
    Storage(Error),
    /// Its parts have just been deleted.
    Gone,
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Take(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Storage(error)
    }
}

/// Why these parts are no recording.
fn refusal(take: &Take, parts: &[RecordedPart]) -> Option<&'static str> {
    if parts.first().is_none_or(|part| part.number != 1) {
        return Some(LOST);
    }
    // Those of takes that the service has closed were not checked, and the disk has no room for more.
    let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
    (bytes > take.most_bytes()).then_some(TOO_LARGE)
}
