//! The takes and the text with which a candidate has answered one question.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::take::{FinishedTake, RecordedPart, Take, TakeTerms};
use crate::Refusal;
use crate::candidate::InterviewAdjustments;
use crate::language::Language;
use crate::media::conversion::ConversionStatus;
use crate::questionnaire::{Question, QuestionKind, QuestionText};
use crate::text::TextLines;

pub const NO_TAKES_LEFT: Refusal =
    Refusal { code: "no_takes_left", detail: "This question was recorded as often as it may be." };

/// The maximum number of takes of a question that are kept.
const KEPT_TAKES: usize = 4;
/// The number of takes for a question without its own limit.
const UNLIMITED_TAKES: u32 = 20;
/// The maximum number of takes of a question that may ever begin.
const MOST_TAKES: u32 = 20;
/// The number of interrupted takes that do not count.
const FREE_INTERRUPTIONS: u32 = 2;
/// The number of withdrawn takes that do not count. It is limited, because each shows the question and so gives more time to prepare.
const FREE_WITHDRAWALS: u32 = 3;

/// A written answer: up to 2,000 characters in several lines, not blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct AnswerText(TextLines<2000>);

impl fmt::Display for AnswerText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl AnswerText {
    /// Cleans up `text` like [`TextLines::parse`]. Fails if it is too long or blank.
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLines::parse_visible(text).map(Self)
    }
}

/// The text of a draft: up to 2,000 characters in several lines, possibly blank.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(inline)]
pub struct DraftText(TextLines<2000>);

impl DraftText {
    /// Cleans up `text` like [`TextLines::parse`]. Fails if it is too long.
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLines::parse(text).map(Self)
    }

    /// The draft as an answer; `None` if it has no visible character.
    pub fn into_answer(self) -> Option<AnswerText> {
        AnswerText::parse(&self.0.to_string()).ok()
    }
}

/// How many takes of a question have begun, and how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeCounts {
    /// All takes that have begun.
    pub begun: u32,
    /// The takes whose conversion has failed.
    pub failed: u32,
    /// The takes that the service closed although parts had arrived, without the failed ones.
    pub interrupted: u32,
    /// The takes that were closed before there was time to record.
    pub withdrawn: u32,
}

impl TakeCounts {
    fn count(&mut self, take: &Take) {
        self.begun += 1;
        if take.conversion.status == ConversionStatus::Failed {
            self.failed += 1;
        } else if take.is_interrupted {
            self.interrupted += 1;
        }
    }

    /// How many takes of `question` may still begin, with `extra_takes` added to its limit.
    pub fn left(&self, question: &Question, extra_takes: u32) -> u32 {
        let allowed = question.takes.unwrap_or(UNLIMITED_TAKES) + extra_takes;
        let free =
            self.failed + self.interrupted.min(FREE_INTERRUPTIONS) + self.withdrawn.min(FREE_WITHDRAWALS);
        let left = (allowed + free).saturating_sub(self.begun);
        left.min(MOST_TAKES.saturating_sub(self.begun))
    }
}

/// The takes and the written answer of one question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswer {
    /// Counts the changes that responses show.
    pub revision: u64,
    /// Whether there is a written answer, in a [`WrittenAnswer`](super::WrittenAnswer).
    pub is_written: bool,
    /// Whether the [`WrittenAnswer`](super::WrittenAnswer) has a draft, possibly an empty one.
    #[serde(default)]
    pub has_draft: bool,
    /// The wording of the question (the number of its text) when the answer was last written.
    #[serde(default)]
    pub wording: usize,
    /// The takes that are kept, in the order of their numbers.
    pub takes: Vec<Take>,
    /// The number of the last take that began, even before a reset.
    pub last_number: u32,
    /// The counts of dropped takes since the last reset.
    pub dropped: TakeCounts,
}

impl QuestionAnswer {
    /// The counts of all takes since the last reset.
    pub fn counts(&self) -> TakeCounts {
        let mut counts = self.dropped;
        self.takes.iter().for_each(|take| counts.count(take));
        counts
    }

    /// The take with this number.
    pub fn take(&self, number: u32) -> Option<&Take> {
        self.takes.iter().find(|take| take.number == number)
    }

    /// The take that the client is recording or sending.
    pub fn open_take(&self) -> Option<&Take> {
        self.takes.last().filter(|take| take.is_open())
    }

    /// The take that is the answer: the last finished one, otherwise the last interrupted one; `None` if there is neither.
    pub fn answer_take(&self) -> Option<&Take> {
        let last = |is_interrupted: bool| {
            self.takes.iter().rfind(|take| take.is_answer() && take.is_interrupted == is_interrupted)
        };
        last(false).or_else(|| last(true))
    }

    /// The last take whose conversion has failed; `None` if another take is the answer.
    pub fn failed_take(&self) -> Option<&Take> {
        let failed = self.takes.iter().rfind(|take| take.has_failed());
        failed.filter(|_| self.answer_take().is_none())
    }

    /// Whether the question has neither takes nor a written answer, or all were reset.
    pub fn is_empty(&self) -> bool {
        !self.is_written && self.counts().begun == 0
    }

    /// The conversion status of the answer; `None` without an answer. A written answer counts as successful.
    pub fn status(&self) -> Option<ConversionStatus> {
        if self.is_written {
            return Some(ConversionStatus::Successful);
        }
        self.answer_take().or_else(|| self.failed_take()).map(|take| take.conversion.status)
    }

    /// The wording of the question (the number of its text) when the answer was written or its take began; `None` without either.
    fn asked_wording(&self) -> Option<usize> {
        if self.is_written {
            return Some(self.wording);
        }
        let take = self.answer_take().or_else(|| self.failed_take()).or_else(|| self.open_take());
        take.map(|take| take.wording)
    }

    /// The text of the question that was answered; the current text if no answer has begun.
    pub fn asked_text<'a>(&self, question: &'a Question) -> &'a QuestionText {
        self.asked_wording().map_or(&question.text, |wording| question.text_in(wording))
    }

    /// Whether there is a written answer, or a take that is an answer.
    pub fn is_answered(&self) -> bool {
        self.is_written || self.answer_take().is_some()
    }

    /// Whether `question` has no answer and can get none: it takes a recording, no take is left, and the time of the last one is over.
    pub fn is_unanswerable(
        &self,
        question: &Question,
        adjustments: InterviewAdjustments,
        now: DateTime<Utc>,
    ) -> bool {
        let may_be_written = question.kind == QuestionKind::Text || adjustments.may_write;
        !self.is_answered()
            && !may_be_written
            && self.counts().left(question, adjustments.extra_takes) == 0
            && self.open_take().is_none_or(|take| take.record_until <= now)
    }

    pub(super) fn begin_take(
        &mut self,
        question: &Question,
        terms: &TakeTerms,
        now: DateTime<Utc>,
    ) -> Result<(), Refusal> {
        if self.counts().left(question, terms.adjustments.extra_takes) == 0 {
            return Err(NO_TAKES_LEFT);
        }
        self.last_number += 1;
        self.takes.push(Take::begun(self.last_number, question, terms, now));
        self.drop_surplus();
        self.revision += 1;
        Ok(())
    }

    /// Closes the open take with the parts in the bucket. Drops the take if these cannot be a recording.
    pub(super) fn close_open_take(&mut self, found: &[RecordedPart], now: DateTime<Utc>) {
        let Some(open) = self.takes.last_mut().filter(|take| take.is_open()) else { return };
        if found.is_empty() {
            self.drop_last_take(found, now);
            return;
        }
        open.interrupt(found, now);
        if !open.may_consist_of(found) {
            let last = self.takes.len() - 1;
            self.drop_take(last);
        }
        self.revision += 1;
    }

    /// Drops the last take. It counts as withdrawn unless parts have arrived or there was time to record.
    // A take that began and was never recorded is not an interruption: candidates could use the free interruptions as more time to prepare.
    pub(super) fn drop_last_take(&mut self, found: &[RecordedPart], now: DateTime<Utc>) {
        let Some(last) = self.takes.len().checked_sub(1) else { return };
        let is_withdrawn = found.is_empty() && self.takes[last].may_be_withdrawn(now);
        self.dropped.withdrawn += u32::from(is_withdrawn);
        self.drop_take(last);
        self.revision += 1;
    }

    /// The last take, if it has this number. A later take closes it, even one that is no longer kept.
    pub(super) fn last_take(&self, number: u32) -> Option<&Take> {
        self.takes.last().filter(|take| take.number == number && self.last_number == number)
    }

    /// Finishes the last take, or gives it up. Repeating the call changes nothing.
    pub(super) fn finish_take(
        &mut self,
        finished: FinishedTake,
        found: &[RecordedPart],
        now: DateTime<Utc>,
    ) -> Result<(), Refusal> {
        if let Some(take) = self.takes.last_mut().filter(|take| take.is_open() || take.is_interrupted) {
            if finished.is_given_up() {
                self.drop_last_take(found, now);
                return Ok(());
            }
            take.finish(finished, found, now)?;
            let number = take.number;
            let is_whole = take.is_converted_whole();
            self.revision += 1;
            if is_whole {
                self.drop_earlier(number);
            }
        }
        Ok(())
    }

    /// Schedules the next check of the open take.
    pub(super) fn look_again(&mut self, found: &[RecordedPart], now: DateTime<Utc>) {
        if let Some(open) = self.takes.last_mut() {
            open.look_again(found, now);
        }
    }

    pub(super) fn change_take(&mut self, number: u32, change: impl FnOnce(&mut Take)) {
        let Some(take) = self.takes.iter_mut().find(|take| take.number == number) else { return };
        let status = take.conversion.status;
        change(take);
        let is_whole = take.is_converted_whole();
        // A restart of the conversion is not visible, so it leaves the revision.
        self.revision += u64::from(take.conversion.status != status);
        if is_whole {
            self.drop_earlier(number);
        }
    }

    pub(super) fn change_captions(
        &mut self,
        number: u32,
        change: impl FnOnce(&mut BTreeMap<Language, String>),
    ) {
        let Some(take) = self.takes.iter_mut().find(|take| take.number == number) else { return };
        let before = take.captions.clone();
        change(&mut take.captions);
        self.revision += u64::from(take.captions != before);
    }

    /// Drops the takes before this one, which is finished and can be played.
    // Not earlier: until then, an earlier take may be the only one that can be played.
    fn drop_earlier(&mut self, number: u32) {
        while self.takes.first().is_some_and(|first| first.number < number) {
            self.drop_take(0);
        }
    }

    /// Marks the question as answered in writing, in the wording with this number.
    pub(super) fn write(&mut self, wording: usize) {
        self.is_written = true;
        self.wording = wording;
        self.revision += 1;
    }

    pub(super) fn reset(&mut self) {
        let revision = self.revision + 1;
        let last_number = self.last_number;
        // Keep counting, so that no number ever names two takes.
        *self = Self { revision, last_number, ..Self::default() };
    }

    /// Drops takes beyond [`KEPT_TAKES`]: first failed ones, then interrupted ones, then the oldest. Keeps the last take, the
    /// answer, and the latest take that can be played, because newer ones may still fail.
    fn drop_surplus(&mut self) {
        while self.takes.len() > KEPT_TAKES {
            let earlier = &self.takes[..self.takes.len() - 1];
            let played = earlier.iter().rfind(|take| take.conversion.converted.is_some());
            let spared = [self.answer_take(), played].map(|take| take.map(|take| take.number));
            let first = |is_wanted: fn(&Take) -> bool| {
                earlier.iter().position(|take| is_wanted(take) && !spared.contains(&Some(take.number)))
            };
            let place = first(Take::has_failed)
                .or_else(|| first(|take| take.is_interrupted))
                .or_else(|| first(|_| true));
            // At most three takes are spared, fewer than are kept, so there is always one to drop.
            let Some(place) = place else { return };
            self.drop_take(place);
        }
    }

    fn drop_take(&mut self, place: usize) {
        let take = self.takes.remove(place);
        self.dropped.count(&take);
    }
}
