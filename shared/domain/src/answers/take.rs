//! One recording of an answer.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::candidate::{Candidate, InterviewAdjustments};
use crate::id::{QuestionId, TakeRef};
use crate::language::Language;
use crate::media::conversion::{Conversion, ConversionStatus};
use crate::names::named;
use crate::questionnaire::Question;

/// The parts of a take are too large in total.
pub const TOO_LARGE: Refusal =
    Refusal { code: "too_large", detail: "The parts of this take are too large for the time to answer." };

/// The maximum size of a part, in bytes.
pub const MAX_PART_BYTES: u32 = 8 * 1024 * 1024;
/// The maximum number of parts of a take.
pub const MAX_PARTS: u32 = 1000;
/// Additional parts beyond one per two seconds, because the last parts are short.
const SPARE_PARTS: u32 = 50;
/// The maximum size of a take, in bytes per second of its time to answer, plus `SPARE_BYTES`.
const BYTES_PER_SECOND: u64 = 2_000_000;
const SPARE_BYTES: u64 = 32_000_000;
/// How long after its last part, or after the end of the recording, the service checks an open take.
pub(super) const PATIENCE: TimeDelta = TimeDelta::minutes(30);
/// The maximum time between two checks.
const RARELY: TimeDelta = TimeDelta::days(1);
/// How long a rule of the bucket keeps the parts of takes whose conversion may be retried.
const PARTS_KEPT: TimeDelta = TimeDelta::days(30);
/// How long after the time to prepare a take can be withdrawn: the response that begins it may arrive after the candidate has left.
const WITHDRAWAL: TimeDelta = TimeDelta::minutes(1);
/// How long a recording may continue after the end of the interview.
const OVERTIME: TimeDelta = TimeDelta::minutes(30);

named! {
    /// The source of a take.
    pub enum TakeSource {
        /// Recorded in the browser.
        Recorder = "recorder",
        /// A file that the candidate has chosen.
        File = "file",
    }
}

/// The terms of a new take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakeTerms {
    /// The end of the interview.
    pub ends_at: Option<DateTime<Utc>>,
    pub adjustments: InterviewAdjustments,
    /// The length of the video that the candidate sees before the time to prepare.
    pub video_seconds: u32,
}

impl TakeTerms {
    /// The terms of a candidate, for a question without a video.
    pub fn of(candidate: &Candidate) -> Self {
        Self { ends_at: candidate.ends_at(), adjustments: candidate.adjusted(), video_seconds: 0 }
    }
}

/// A part of a take that has arrived in the bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedPart {
    /// The part's number, from 1.
    pub number: u32,
    /// The part's size in bytes.
    pub bytes: u64,
    /// When the part arrived.
    pub arrived_at: DateTime<Utc>,
}

/// How the client finishes a take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedTake {
    /// The number of parts; `None` to keep the parts that have arrived, 0 to give up the take.
    pub parts: Option<u32>,
    /// The length in seconds, as recorded.
    pub recorded_seconds: Option<u32>,
    /// The source of the take.
    pub source: TakeSource,
}

impl FinishedTake {
    /// Whether the candidate gives up the take.
    pub fn is_given_up(&self) -> bool {
        self.parts == Some(0)
    }

    /// The numbers of the parts that the bucket lacks.
    pub fn missing(&self, found: &[RecordedPart]) -> Vec<u32> {
        // Part 1 is always required: it begins the file, and the others cannot be played without it.
        (1..=self.parts.unwrap_or(1))
            .filter(|number| !found.iter().any(|part| part.number == *number))
            .collect()
    }

    /// The parts in the bucket that belong to the take.
    fn kept<'a>(&self, found: &'a [RecordedPart]) -> impl Iterator<Item = &'a RecordedPart> {
        let last = self.parts.unwrap_or(u32::MAX);
        found.iter().filter(move |part| part.number <= last)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    /// The take's number, from 1; no other take of the question ever has it.
    pub number: u32,
    /// When the take began.
    pub begun_at: DateTime<Utc>,
    /// When the time to prepare ends, which follows the video that asks the question.
    pub record_from: DateTime<Utc>,
    /// When the time to answer ends.
    pub record_until: DateTime<Utc>,
    /// The time to answer, in seconds.
    pub answer_seconds: u32,
    /// The wording of the question (the number of its text) when the take began.
    #[serde(default)]
    pub wording: usize,
    /// When the take was finished or closed.
    pub finished_at: Option<DateTime<Utc>>,
    /// The number of the last part; 0 until the take is finished or closed.
    #[serde(default)]
    pub last_part: u32,
    /// The number of parts.
    #[serde(default)]
    pub part_count: u32,
    /// The length in seconds, as the client reports it.
    pub recorded_seconds: Option<u32>,
    /// The source of the take.
    pub source: TakeSource,
    /// Whether the service closed the take because the client did not finish it.
    pub is_interrupted: bool,
    /// When the service checks the take; `None` unless it is open.
    pub look_at: Option<DateTime<Utc>>,
    /// The number of the last conversion that began, from 1, never reused in the take.
    #[serde(default)]
    pub last_conversion: u32,
    /// The number of the conversion whose renditions can be played; `None` while there are none.
    #[serde(default)]
    pub played_conversion: Option<u32>,
    /// The digests of the captions, which are stored as items of their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub captions: BTreeMap<Language, String>,
    #[serde(flatten)]
    pub conversion: Conversion,
}

impl Take {
    /// A take that begins at `now`.
    pub(super) fn begun(number: u32, question: &Question, terms: &TakeTerms, now: DateTime<Utc>) -> Self {
        let answer_seconds = terms.adjustments.time_factor.stretch(question.answer_seconds);
        let preparation = question.preparation_seconds.unwrap_or_default();
        // The time factor does not apply to the video.
        let record_from =
            now + seconds(terms.video_seconds) + seconds(terms.adjustments.time_factor.stretch(preparation));
        let wanted = record_from + seconds(answer_seconds);
        let record_until = terms.ends_at.map_or(wanted, |end| wanted.min(end + OVERTIME));
        Self {
            number,
            begun_at: now,
            record_from,
            record_until,
            answer_seconds,
            wording: question.wording(),
            finished_at: None,
            last_part: 0,
            part_count: 0,
            recorded_seconds: None,
            source: TakeSource::Recorder,
            is_interrupted: false,
            look_at: Some(record_until + PATIENCE),
            last_conversion: 0,
            played_conversion: None,
            captions: BTreeMap::new(),
            conversion: Conversion::awaiting_upload(),
        }
    }

    /// Whether the client may still send parts and finish the take.
    pub fn is_open(&self) -> bool {
        self.conversion.status == ConversionStatus::AwaitingUpload
    }

    /// Whether there was no time to record yet, so that the take does not count if no part has arrived.
    pub(super) fn may_be_withdrawn(&self, now: DateTime<Utc>) -> bool {
        now <= self.record_from + WITHDRAWAL
    }

    /// The maximum number of parts.
    pub fn most_parts(&self) -> u32 {
        (self.answer_seconds / 2 + SPARE_PARTS).min(MAX_PARTS)
    }

    /// The maximum size of all parts together, in bytes.
    pub fn most_bytes(&self) -> u64 {
        BYTES_PER_SECOND * u64::from(self.answer_seconds) + SPARE_BYTES
    }

    /// Whether the take could exceed its size limit if every part up to the highest number in `asked` had the maximum size. If
    /// not, the parts can be signed without listing the bucket. `asked` has the number and size of each part.
    pub fn can_outgrow_by(&self, asked: &[(u32, u64)]) -> bool {
        let last = asked.iter().map(|(number, _)| *number).max().unwrap_or_default();
        u64::from(last) * u64::from(MAX_PART_BYTES) > self.most_bytes()
    }

    /// Checks whether the take stays within its size limit if these parts, by number and size, are added to those `found` in the
    /// bucket. Fails with [`TOO_LARGE`].
    // Signing writes nothing. So each number below the last one that has not arrived counts as signed with the largest size in
    // the request, because a client may sign all parts of a recording ahead. A client that asks for the maximum for each number,
    // without uploading before, gets 1 + ln(p / b) times `most_bytes` b, where p is the size of all parts of 8 MiB: 2.5 times for
    // a minute, and never more than 3.4 times.
    pub fn may_grow_by(&self, asked: &[(u32, u64)], found: &[RecordedPart]) -> Result<(), Refusal> {
        let has_arrived = |number: u32| found.iter().any(|part| part.number == number);
        // The bucket accepts each part only once.
        let new: Vec<(u32, u64)> =
            asked.iter().filter(|(number, _)| !has_arrived(*number)).copied().collect();
        let Some(last) = new.iter().map(|(number, _)| *number).max() else { return Ok(()) };
        let largest = new.iter().map(|(_, bytes)| *bytes).max().unwrap_or_default();
        let pending = (1..last)
            .filter(|number| !has_arrived(*number) && new.iter().all(|(asked, _)| asked != number))
            .map(|_| largest);
        let arrived = found.iter().map(|part| part.bytes);
        let bytes: u64 = arrived.chain(new.iter().map(|(_, bytes)| *bytes)).chain(pending).sum();
        if bytes > self.most_bytes() { Err(TOO_LARGE) } else { Ok(()) }
    }

    /// Whether these parts can be the recording: part 1, which begins the file, is among them, and their total size is within the limit.
    pub(super) fn may_consist_of(&self, parts: &[RecordedPart]) -> bool {
        let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
        parts.iter().any(|part| part.number == 1) && bytes <= self.most_bytes()
    }

    /// The reference to this take of `question`.
    pub fn reference(&self, question: QuestionId) -> TakeRef {
        TakeRef { question, number: self.number }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.conversion.status == ConversionStatus::Failed
    }

    /// Whether the conversion has failed or is doubtful, and the bucket still has the parts.
    pub(super) fn may_be_retried(&self, now: DateTime<Utc>) -> bool {
        let is_kept = self.finished_at.is_some_and(|finished| now < finished + PARTS_KEPT);
        is_kept && (self.has_failed() && !self.is_refused() || self.is_doubtful())
    }

    /// Whether the take can be played, but its length differs from the recorded one by more than a tenth plus two seconds.
    pub fn is_doubtful(&self) -> bool {
        // Parts of an interrupted take may be missing.
        let is_whole = self.conversion.status == ConversionStatus::Successful && !self.is_interrupted;
        let (Some(recorded), Some(made)) = (self.recorded_seconds, self.conversion.converted) else {
            return false;
        };
        // The conversion cuts off everything after the time to answer.
        let expected = recorded.min(self.answer_seconds);
        is_whole && made.seconds.abs_diff(expected) > expected / 10 + 2
    }

    /// Whether all parts were converted, and the length shows no loss.
    pub(super) fn is_converted_whole(&self) -> bool {
        let can_be_played = self.conversion.status == ConversionStatus::Successful;
        can_be_played && !self.is_interrupted && !self.is_doubtful()
    }

    /// Whether the parts can never be converted.
    fn is_refused(&self) -> bool {
        self.has_failed() && self.part_count == 0
    }

    /// Whether the parts may still be needed for a conversion.
    pub fn needs_parts(&self) -> bool {
        !self.is_converted_whole() && !self.is_refused()
    }

    /// Whether the renditions that this conversion has stored are played, or may be played once it ends.
    pub fn needs_renditions_of(&self, conversion: u32) -> bool {
        let is_last_under_way = conversion == self.last_conversion && self.conversion.attempt.is_some();
        // A higher number belongs to a conversion that began after this take was read.
        self.played_conversion == Some(conversion) || is_last_under_way || conversion > self.last_conversion
    }

    /// The take with a new conversion, started by `event`; `None` if [`Conversion::begun`] is.
    pub fn begin_conversion(&self, event: &str, now: DateTime<Utc>) -> Option<Self> {
        let conversion = self.conversion.begun(event, now)?;
        Some(Self { conversion, last_conversion: self.last_conversion + 1, ..self.clone() })
    }

    /// Whether the take answers the question: it is finished or closed, and its conversion has not failed.
    pub fn is_answer(&self) -> bool {
        !matches!(self.conversion.status, ConversionStatus::AwaitingUpload | ConversionStatus::Failed)
    }

    /// Finishes the take for the client. Fails with [`TOO_LARGE`].
    pub(super) fn finish(
        &mut self,
        finished: FinishedTake,
        found: &[RecordedPart],
        now: DateTime<Utc>,
    ) -> Result<(), Refusal> {
        let bytes: u64 = finished.kept(found).map(|part| part.bytes).sum();
        if bytes > self.most_bytes() {
            return Err(TOO_LARGE);
        }
        self.recorded_seconds = finished.recorded_seconds;
        self.source = finished.source;
        self.is_interrupted = false;
        let kept: Vec<&RecordedPart> = finished.kept(found).collect();
        self.await_conversion(&kept, now);
        Ok(())
    }

    /// Closes the take for the service, with the parts that have arrived.
    pub(super) fn interrupt(&mut self, found: &[RecordedPart], now: DateTime<Utc>) {
        self.is_interrupted = true;
        self.await_conversion(&found.iter().collect::<Vec<_>>(), now);
    }

    fn await_conversion(&mut self, parts: &[&RecordedPart], now: DateTime<Utc>) {
        let count = u32::try_from(parts.len()).unwrap_or(MAX_PARTS);
        let has_more = count > self.part_count;
        self.last_part = parts.iter().map(|part| part.number).max().unwrap_or_default();
        self.part_count = count;
        self.look_at = None;
        self.finished_at = Some(now);
        // A conversion of the same parts is kept. Until more parts are converted, the former result can be played.
        if has_more || self.conversion.status == ConversionStatus::Failed {
            self.retry_conversion(now);
        }
    }

    /// Restarts the conversion. Until it ends, the former result can be played.
    pub(super) fn retry_conversion(&mut self, now: DateTime<Utc>) {
        self.conversion = self.conversion.restarted(now);
    }

    /// Ends the conversion. After a failure, an earlier result is kept; unless that is doubtful, it lacks parts, so the take
    /// counts as interrupted.
    pub fn end_conversion(&mut self, end: Conversion) {
        match self.conversion.converted.filter(|_| end.converted.is_none()) {
            Some(former) => {
                self.conversion = Conversion::succeeded(former);
                self.is_interrupted = !self.is_doubtful();
            }
            None => {
                self.played_conversion = end.converted.map(|_| self.last_conversion);
                self.conversion = end;
            }
        }
    }

    /// Ends the conversion because the parts are not a recording, so that a retry would be useless. Unless an earlier result is
    /// kept, the take then has no parts.
    pub fn refuse(&mut self, reason: &str) {
        self.end_conversion(Conversion::failed(reason));
        if self.conversion.status == ConversionStatus::Failed {
            (self.last_part, self.part_count) = (0, 0);
        }
    }

    /// Schedules the next check some time after the last part. If that was long ago, checks become rarer, because each is a write.
    pub(super) fn look_again(&mut self, found: &[RecordedPart], now: DateTime<Utc>) {
        let last = found.iter().map(|part| part.arrived_at).max();
        self.look_at = Some(match last.filter(|last| now < *last + PATIENCE) {
            Some(last) => last + PATIENCE,
            None => now + ((now - self.begun_at) / 2).clamp(PATIENCE, RARELY),
        });
    }

    /// When the service must check the take next.
    pub(super) fn due_at(&self) -> Option<DateTime<Utc>> {
        if self.is_open() { self.look_at } else { self.conversion.overdue_at() }
    }
}

fn seconds(count: u32) -> TimeDelta {
    TimeDelta::seconds(count.into())
}
