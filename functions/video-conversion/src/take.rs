//! Converts takes: recorded answers, which are stored in parts.

use shared::auth::SystemAccess;
use shared::domain::answers::{Answers, RecordedPart, Take};
use shared::domain::id::TakeRef;
use shared::domain::media::conversion::{Conversion, ConversionResult};
use shared::domain::media::file::FileType;
use shared::event::{RecordOutcome, persist};
use shared::media::{AnswerObjects, recorded_parts};
use shared::scratch::ScratchFolder;
use shared::store::{RetryPolicy, VersionedItem};
use shared::{Error, Result};

use crate::engine::{ConversionTarget, ConvertedFiles, EngineError, convert};
use crate::{PERSISTENCE, clean_up, converted, time_left};

/// How many seconds a recorder may exceed the time to answer.
const SPARE_SECONDS: u32 = 2;

const LOST: &str = "The recording did not arrive completely. Record the answer again.";
const TOO_LARGE: &str = "The recording is too large for the time to answer. Record the answer again.";

/// The conversion of a take on behalf of an event.
pub(crate) struct TakeConversion<'a> {
    system: &'a SystemAccess,
    objects: AnswerObjects,
    place: TakeRef,
    event: &'a str,
}

impl<'a> TakeConversion<'a> {
    pub(crate) fn new(
        system: &'a SystemAccess,
        objects: AnswerObjects,
        place: TakeRef,
        event: &'a str,
    ) -> Self {
        Self { system, objects, place, event }
    }

    /// Converts the take, unless it is converted already or another worker holds it.
    pub(crate) async fn process(&self) -> Result<RecordOutcome> {
        let begun = persist(self.system, PERSISTENCE, || self.begin()).await?;
        let Some(take) = begun else { return self.settle().await };
        let outcome = self.work_on(&take).await;
        if outcome.is_err() {
            // A failure of the machine must not count against the recording. If this call fails too, only one attempt
            // is lost.
            let _ = self.forget_attempt(take.last_conversion).await;
        }
        outcome
    }

    /// Converts a take that this worker has leased.
    async fn work_on(&self, take: &Take) -> Result<RecordOutcome> {
        let conversion = take.last_conversion;
        let directory = ScratchFolder::create().map_err(Error::internal)?;
        let end = match self.make(take, &directory.path().join("recording")).await {
            Ok(files) => {
                // Drop the files if the candidate has finished the take with more parts in the meantime.
                if !self.answers().await?.is_some_and(|answers| self.is_converted_by(conversion, &answers)) {
                    return self.settle().await;
                }
                self.store(conversion, &files).await?;
                ConversionEnd::Converted(converted(&files))
            }
            Err(TakeFailure::NoRecording(reason)) => ConversionEnd::NoRecording(reason),
            Err(TakeFailure::Take(EngineError::Refused(reason))) => ConversionEnd::Failed(reason),
            Err(TakeFailure::Take(EngineError::Machine(error))) => return Err(Error::internal(error)),
            Err(TakeFailure::Storage(error)) => return Err(error),
            // The candidate was erased, or the answer was reset.
            Err(TakeFailure::Gone) => return self.settle().await,
        };
        persist(self.system, PERSISTENCE, || self.finish(conversion, end)).await
    }

    /// Uncounts the attempt. Its lease stays until it expires.
    async fn forget_attempt(&self, conversion: u32) -> Result<()> {
        let answers = self.answers().await?;
        let Some(answers) = answers.filter(|answers| self.is_converted_by(conversion, answers)) else {
            return Ok(());
        };
        self.save(&answers, |take| take.conversion = take.conversion.clone().without_attempt())
            .await
            .map(drop)
    }

    /// Leases the take; `None` if it needs no conversion or another worker is responsible.
    async fn begin(&self) -> Result<Option<Take>> {
        let mut seen: Option<Conversion> = None;
        for _ in 0..RetryPolicy::CHANGE.attempts {
            let Some(answers) = self.answers().await? else { return Ok(None) };
            let Some(take) = answers.take(self.place).filter(|take| !take.is_open()) else { return Ok(None) };
            if seen.as_ref().is_some_and(|seen| *seen != take.conversion) {
                // Another worker, or a retry of this event, is responsible.
                return Ok(None);
            }
            let Some(begun) = take.begin_conversion(self.event, self.system.now) else { return Ok(None) };
            seen = Some(take.conversion.clone());
            match self.save(&answers, |take| *take = begun).await {
                Ok(after) => return Ok(after.take(self.place).cloned()),
                // Usually the candidate has saved another answer, which is part of the same item.
                Err(Error::Changed | Error::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Changed)
    }

    /// Joins the take's parts into the file `input` and converts it.
    async fn make(&self, take: &Take, input: &std::path::Path) -> Result<ConvertedFiles, TakeFailure> {
        let bucket = self.system.objects()?;
        let mut parts = recorded_parts(&bucket.list(&self.objects.parts(self.place)).await?);
        parts.retain(|part| part.number <= take.last_part);
        if let Some(reason) = refusal(take, &parts) {
            return Err(TakeFailure::NoRecording(reason));
        }
        let keys: Vec<String> = parts.iter().map(|part| self.objects.part(self.place, part.number)).collect();
        if !bucket.fetch_joined(&keys, input).await? {
            return Err(TakeFailure::Gone);
        }
        let target = ConversionTarget::Answer { max_seconds: take.answer_seconds + SPARE_SECONDS };
        let time = time_left(self.system);
        Ok(convert(self.system.config().program_path.as_ref(), input, target, time).await?)
    }

    /// Stores the renditions of this conversion in the bucket.
    async fn store(&self, conversion: u32, files: &ConvertedFiles) -> Result<()> {
        let bucket = self.system.objects()?;
        for (file_type, path) in [(FileType::Mp4, &files.mp4), (FileType::Jpeg, &files.thumbnail)] {
            let key = self.objects.rendition(self.place, conversion, file_type);
            bucket.put_file(&key, path, file_type).await?;
        }
        Ok(())
    }

    /// Logs a warning if the length of the take is doubtful.
    fn report_doubt(&self, take: &Take) {
        if !take.is_doubtful() {
            return;
        }
        let candidate = self.objects.candidate;
        let question = self.place.question;
        let number = self.place.number;
        let recorded = take.recorded_seconds;
        let seconds = take.conversion.converted.map(|made| made.seconds);
        // Not an error: clients report `recorded_seconds` freely. An alarm watches the share of these lines.
        tracing::warn!(
            target: "conversion", %candidate, %question, number, recorded, seconds,
            "the length of an answer is doubtful"
        );
    }

    /// Records the end of this conversion unless a later one has begun, and deletes unneeded objects.
    async fn finish(&self, conversion: u32, end: ConversionEnd) -> Result<RecordOutcome> {
        for _ in 0..RetryPolicy::CHANGE.attempts {
            let answers = self.answers().await?;
            let Some(answers) = answers.filter(|answers| self.is_converted_by(conversion, answers)) else {
                return self.settle().await;
            };
            match self.save(&answers, |take| end.apply_to(take)).await {
                Ok(after) => {
                    let take = after.take(self.place);
                    take.into_iter().for_each(|take| self.report_doubt(take));
                    self.delete_unneeded(take).await?;
                    return Ok(match end {
                        ConversionEnd::Converted(_) => RecordOutcome::Applied,
                        ConversionEnd::Failed(_) | ConversionEnd::NoRecording(_) => RecordOutcome::Refused,
                    });
                }
                // The candidate has saved another answer, which is part of the same item.
                Err(Error::Changed | Error::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Changed)
    }

    /// Deletes the take's unneeded objects without changing the take.
    async fn settle(&self) -> Result<RecordOutcome> {
        let answers = self.answers().await?;
        self.delete_unneeded(answers.as_ref().and_then(|answers| answers.take(self.place))).await
    }

    /// Deletes unneeded objects: all objects if the take is gone, the parts if it [needs](Take::needs_parts) none, and
    /// the renditions of superseded conversions.
    async fn delete_unneeded(&self, take: Option<&Take>) -> Result<RecordOutcome> {
        let bucket = self.system.objects()?;
        let is_needless = |key: &String| {
            let conversion = self.objects.conversion_in(self.place, key);
            !take.zip(conversion).is_some_and(|(take, conversion)| take.needs_renditions_of(conversion))
        };
        let renditions = bucket.list(&self.objects.renditions(self.place)).await?;
        let mut keys: Vec<String> =
            renditions.into_iter().map(|rendition| rendition.key).filter(is_needless).collect();
        if take.is_none_or(|take| !take.needs_parts()) {
            let parts = bucket.list(&self.objects.parts(self.place)).await?;
            keys.extend(parts.into_iter().map(|part| part.key));
        }
        clean_up(self.system, &keys).await
    }

    async fn answers(&self) -> Result<Option<VersionedItem<Answers>>> {
        let AnswerObjects { company, project, candidate } = &self.objects;
        self.system.store.answers(company, *project, *candidate).await
    }

    /// Whether this conversion is under way and none has begun since.
    fn is_converted_by(&self, conversion: u32, answers: &Answers) -> bool {
        let take = answers.take(self.place);
        take.is_some_and(|take| take.last_conversion == conversion && take.conversion.attempt.is_some())
    }

    async fn save(&self, before: &VersionedItem<Answers>, change: impl FnOnce(&mut Take)) -> Result<Answers> {
        let after = Answers::clone(before).with_take(self.place, change);
        self.system.commit(self.system.store.update_answers(before, &after, self.system.now)).await?;
        Ok(after)
    }
}

/// The end of a conversion.
#[derive(Debug, Clone, Copy)]
enum ConversionEnd {
    Converted(ConversionResult),
    Failed(&'static str),
    /// The parts are incomplete or too large; a retry cannot help.
    NoRecording(&'static str),
}

impl ConversionEnd {
    fn apply_to(self, take: &mut Take) {
        match self {
            Self::Converted(made) => take.end_conversion(Conversion::succeeded(made)),
            Self::Failed(reason) => take.end_conversion(Conversion::failed(reason)),
            Self::NoRecording(reason) => take.refuse(reason),
        }
    }
}

enum TakeFailure {
    Take(EngineError),
    /// The parts are incomplete or too large.
    NoRecording(&'static str),
    Storage(Error),
    /// The parts were deleted in the meantime.
    Gone,
}

impl From<EngineError> for TakeFailure {
    fn from(error: EngineError) -> Self {
        Self::Take(error)
    }
}

impl From<Error> for TakeFailure {
    fn from(error: Error) -> Self {
        Self::Storage(error)
    }
}

/// Returns the reason if the parts are not a complete recording of acceptable size.
fn refusal(take: &Take, parts: &[RecordedPart]) -> Option<&'static str> {
    if parts.first().is_none_or(|part| part.number != 1) {
        return Some(LOST);
    }
    // More parts may have arrived since the take was closed, and the disk has no room for them.
    let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
    (bytes > take.most_bytes()).then_some(TOO_LARGE)
}
