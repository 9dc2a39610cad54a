//! Answers of candidates to the questions of their interview: recorded takes and texts.
//!
//! A take is recorded in parts, which the client uploads one by one. Finished takes are converted like welcome videos.

mod captions;
mod question_answer;
mod take;
#[cfg(test)]
mod tests;
mod written;

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

pub use captions::{AnswerCaptions, NO_TAKE, TAKE_REPLACED};
pub use question_answer::{AnswerText, DraftText, NO_TAKES_LEFT, QuestionAnswer, TakeCounts};
pub use take::{
    FinishedTake, MAX_PART_BYTES, MAX_PARTS, RecordedPart, TOO_LARGE, Take, TakeSource, TakeTerms,
};
pub use written::{Draft, WrittenAnswer, WrittenAnswers, draft_revision};

use take::PATIENCE;

use super::Refusal;
use super::candidate::{Candidate, InterviewAdjustments};
use super::history::{EventType, FieldChanges, ResourceChange, ResourceRef, facts, private};
use super::id::{CandidateId, CompanyId, ProjectId, QuestionId, TakeRef};
use super::mail::rate::{ChangeRate, MAX_TEXTS};
use super::media::conversion::ConversionStatus;
use super::questionnaire::{Question, QuestionKind, QuestionText, Questionnaire};

/// The take accepts no more parts and cannot be finished.
pub const TAKE_CLOSED: Refusal = Refusal {
    code: "take_closed",
    detail: "A later take of this question has begun, or the interview is closed.",
};
/// The question is answered in writing.
pub const NOT_RECORDED: Refusal =
    Refusal { code: "not_recorded", detail: "This question is answered in writing." };
/// The question is answered by a recording.
pub const NOT_WRITTEN: Refusal =
    Refusal { code: "not_written", detail: "This question is answered by a recording." };
/// Required answers are missing.
pub const ANSWERS_MISSING: Refusal =
    Refusal { code: "answers_missing", detail: "Answer all required questions first." };
/// The interview is complete.
pub const ALREADY_INTERVIEWED: Refusal =
    Refusal { code: "already_interviewed", detail: "The candidate has completed the interview." };

/// The answers of a candidate, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    pub company: CompanyId,
    pub project: ProjectId,
    pub candidate: CandidateId,
    /// The rate of written texts per hour; `None` before the first text.
    pub texts_written: Option<ChangeRate>,
    /// For each question, its takes and whether it is answered in writing.
    pub questions: BTreeMap<QuestionId, QuestionAnswer>,
}

impl Answers {
    /// The answers of a candidate who has not answered any question.
    pub fn of(candidate: &Candidate) -> Self {
        Self {
            company: candidate.company.clone(),
            project: candidate.project,
            candidate: candidate.id,
            texts_written: None,
            questions: BTreeMap::new(),
        }
    }

    /// The resource whose history records these answers.
    pub fn resource(&self) -> ResourceRef {
        ResourceRef::Interview { project: self.project, candidate: self.candidate }
    }

    /// The takes of a question, and whether it is answered in writing; `None` before the first answer.
    pub fn answer_to(&self, question: QuestionId) -> Option<&QuestionAnswer> {
        self.questions.get(&question)
    }

    /// The text of a question that the candidate was asked: when the take that is the answer began, or when the answer was last written.
    pub fn asked_text<'a>(&self, question: &'a Question) -> &'a QuestionText {
        self.answer_to(question.id).map_or(&question.text, |answer| answer.asked_text(question))
    }

    /// The questions with a written answer.
    pub fn written(&self) -> impl Iterator<Item = QuestionId> {
        self.questions.iter().filter(|(_, answer)| answer.is_written).map(|(question, _)| *question)
    }

    /// The number of questions that are answered.
    pub fn answered(&self) -> usize {
        self.questions.values().filter(|answer| answer.is_answered()).count()
    }

    /// Whether a take of the question has begun.
    pub fn has_begun(&self, question: QuestionId) -> bool {
        self.answer_to(question).is_some_and(|answer| answer.counts().begun > 0)
    }

    /// The take with this number; `None` if it is not kept.
    pub fn take(&self, of: TakeRef) -> Option<&Take> {
        self.answer_to(of.question)?.take(of.number)
    }

    /// The open take of each question.
    pub fn open_takes(&self) -> impl Iterator<Item = TakeRef> {
        self.questions.iter().filter_map(|(question, answer)| {
            let number = answer.open_take()?.number;
            Some(TakeRef { question: *question, number })
        })
    }

    /// The unanswered required questions, in order, without those that can no longer be answered.
    // A candidate who has used up the takes of one question must still be able to complete the interview.
    pub fn missing<'a>(
        &self,
        questionnaire: &'a Questionnaire,
        adjustments: InterviewAdjustments,
        now: DateTime<Utc>,
    ) -> Vec<&'a Question> {
        let is_settled = |question: &Question| {
            self.answer_to(question.id).is_some_and(|answer| {
                answer.is_answered() || answer.is_unanswerable(question, adjustments, now)
            })
        };
        let required = questionnaire.questions.iter().filter(|question| question.is_required);
        required.filter(|question| !is_settled(question)).collect()
    }

    /// Begins a take. First closes the open take of the question, whose parts in the bucket are `found`. Fails with
    /// [`NOT_RECORDED`] or [`NO_TAKES_LEFT`].
    pub fn begin_take(
        mut self,
        question: &Question,
        terms: &TakeTerms,
        found: &[RecordedPart],
        now: DateTime<Utc>,
    ) -> Result<Self, Refusal> {
        if question.kind == QuestionKind::Text {
            return Err(NOT_RECORDED);
        }
        let answer = self.questions.entry(question.id).or_default();
        answer.close_open_take(found, now);
        answer.begin_take(question, terms, now)?;
        Ok(self)
    }

    /// Finishes or gives up a take. Returns `None` if the bucket lacks parts of it. Fails with [`TAKE_CLOSED`] if the question
    /// has a later take, and with [`TOO_LARGE`].
    pub fn finish_take(
        mut self,
        take: TakeRef,
        finished: FinishedTake,
        found: &[RecordedPart],
        now: DateTime<Utc>,
    ) -> Result<Option<Self>, Refusal> {
        let answer = self.questions.get_mut(&take.question).ok_or(TAKE_CLOSED)?;
        answer.last_take(take.number).ok_or(TAKE_CLOSED)?;
        if !finished.missing(found).is_empty() {
            return Ok(None);
        }
        answer.finish_take(finished, found, now)?;
        Ok(Some(self))
    }

    /// Closes an open take with the parts that have arrived. Unless `is_final`, the take stays open while parts arrive, and also
    /// without part 1, because the client may still hold the whole recording. A final close drops a take without part 1.
    pub fn close_take(
        mut self,
        take: TakeRef,
        found: &[RecordedPart],
        is_final: bool,
        now: DateTime<Utc>,
    ) -> Self {
        if let Some(answer) = self.questions.get_mut(&take.question)
            && answer.open_take().is_some_and(|open| open.number == take.number)
        {
            let is_quiet = found.iter().all(|part| part.arrived_at + PATIENCE <= now);
            let can_be_played = found.iter().any(|part| part.number == 1);
            if is_final || (is_quiet && can_be_played) {
                answer.close_open_take(found, now);
            } else {
                answer.look_again(found, now);
            }
        }
        self
    }

    /// Counts a text that is written at `now`. After [`MAX_TEXTS`] texts in an hour, fails with the time until the next one is allowed.
    pub fn count_text(mut self, now: DateTime<Utc>) -> Result<Self, TimeDelta> {
        self.texts_written = Some(ChangeRate::counted(self.texts_written, MAX_TEXTS, now)?);
        Ok(self)
    }

    /// Checks that `question` may be answered in writing. Fails with [`NOT_WRITTEN`] for a question that is answered by a
    /// recording, unless the candidate `may_write` all answers.
    pub fn may_write(question: &Question, may_write: bool) -> Result<(), Refusal> {
        if question.kind == QuestionKind::Text || may_write { Ok(()) } else { Err(NOT_WRITTEN) }
    }

    /// Answers a question in writing and deletes its draft. Fails like [`may_write`](Self::may_write).
    pub fn write(
        mut self,
        question: &Question,
        may_write: bool,
        text: AnswerText,
    ) -> Result<(Self, WrittenAnswer), Refusal> {
        Self::may_write(question, may_write)?;
        let answer = self.questions.entry(question.id).or_default();
        answer.write(question.wording());
        answer.has_draft = false;
        let none = WrittenAnswer::none(&self, question.id);
        Ok((self, WrittenAnswer { text: Some(text), ..none }))
    }

    /// Deletes the takes, text and draft of a question. The deleted takes no longer count.
    pub fn reset(mut self, question: QuestionId) -> Self {
        if let Some(answer) = self.questions.get_mut(&question) {
            answer.reset();
        }
        self
    }

    /// Applies `change` to a take; does nothing if the take is not kept.
    pub fn with_take(mut self, of: TakeRef, change: impl FnOnce(&mut Take)) -> Self {
        if let Some(answer) = self.questions.get_mut(&of.question) {
            answer.change_take(of.number, change);
        }
        self
    }

    /// The takes whose conversion has failed or is doubtful and can be retried at `now`.
    pub fn to_retry(&self, now: DateTime<Utc>) -> impl Iterator<Item = TakeRef> {
        self.takes().filter(move |(_, take)| take.may_be_retried(now)).map(|(of, _)| of)
    }

    /// Retries failed and doubtful conversions.
    pub fn retry_conversions(self, now: DateTime<Utc>) -> Self {
        let takes: Vec<TakeRef> = self.to_retry(now).collect();
        takes.into_iter().fold(self, |answers, of| answers.with_take(of, |take| take.retry_conversion(now)))
    }

    /// Restarts the conversions that have begun or are pending, and returns their number. Used when the messages that were to
    /// start or end them are lost.
    pub fn restart_conversions(self, now: DateTime<Utc>) -> (Self, usize) {
        let converting = self.takes().filter(|(_, take)| take.conversion.is_under_way() && !take.is_open());
        let takes: Vec<TakeRef> = converting.map(|(of, _)| of).collect();
        let count = takes.len();
        let restarted = takes
            .into_iter()
            .fold(self, |answers, of| answers.with_take(of, |take| take.retry_conversion(now)));
        (restarted, count)
    }

    /// The takes that await a conversion which they did not await in `before`.
    pub fn to_convert(&self, before: &Self) -> Vec<TakeRef> {
        self.takes()
            .filter(|(of, take)| {
                take.conversion.status == ConversionStatus::Pending
                    && before.take(*of).is_none_or(|was| was.conversion != take.conversion)
            })
            .map(|(of, _)| of)
            .collect()
    }

    /// The takes whose objects can be deleted after the change from `before`: takes that are no longer kept, and a take that the
    /// candidate has finished after the service had converted all its parts.
    pub fn to_clear(&self, before: &Self) -> Vec<TakeRef> {
        let needless = before.takes().filter(|(of, was)| {
            self.take(*of)
                // A conversion deletes the parts itself, so changed conversions are left out.
                .is_none_or(|take| {
                    take.conversion == was.conversion && !take.needs_parts() && was.needs_parts()
                })
        });
        needless.map(|(of, _)| of).collect()
    }

    /// All kept takes, with their questions.
    pub fn takes(&self) -> impl Iterator<Item = (TakeRef, &Take)> {
        self.questions
            .iter()
            .flat_map(|(question, answer)| answer.takes.iter().map(|take| (take.reference(*question), take)))
    }

    /// The takes that the service must check by `now`.
    pub fn overdue_takes(&self, now: DateTime<Utc>) -> impl Iterator<Item = TakeRef> {
        self.takes().filter(move |(_, take)| take.due_at().is_some_and(|at| at <= now)).map(|(of, _)| of)
    }

    /// When the service must next check a take: an open one, or one whose conversion may have stalled.
    pub fn due_at(&self) -> Option<DateTime<Utc>> {
        self.takes().filter_map(|(_, take)| take.due_at()).min()
    }

    /// The change from `before` to `after` for the history of the interview; `None` for a deletion, which the candidate's history records.
    pub fn change_between(before: Option<&Self>, after: Option<&Self>) -> Option<ResourceChange> {
        let after = after?;
        // Texts and takes are the candidate's own words: the history keeps only that they changed, and the outcome of conversions.
        let fields = |answers: &Self| vec![("answers", private(&answers.questions))];
        let mut changes = FieldChanges::between(before.map(fields), fields(after));
        let ended = after.takes().find_map(|(of, take)| {
            let event = match take.conversion.status {
                ConversionStatus::Successful => EventType::AnswerConverted,
                ConversionStatus::Failed => EventType::AnswerFailed,
                _ => return None,
            };
            let was = before.and_then(|before| before.take(of))?;
            (was.conversion.status != take.conversion.status).then_some((of, take, event))
        });
        let captioned = before.and_then(|before| {
            let of = after.newly_captioned(before)?;
            Some((of, after.take(of)?, EventType::AnswerCaptioned))
        });
        let told = ended.or(captioned);
        let types = told.iter().map(|(_, _, event)| *event).collect();
        if let Some((of, take, _)) = told {
            let seconds = take.conversion.converted.map(|made| made.seconds);
            changes.question = Some(of.question);
            changes.tell(InterviewFacts { take: of.number, seconds }.into_fields());
        }
        Some(ResourceChange::new(&after.company, after.resource(), types, changes))
    }
}

facts! {
    /// The facts of an answer: values that events of the interview contain.
    pub struct InterviewFacts {
        /// The number of the take.
        take: u32,
        /// The length of the recording in seconds; null if its conversion has failed or has not ended.
        seconds: Option<u32>,
    }
}

impl Question {
    /// Whether the question is still hidden from a candidate with these answers, in an interview that this service conducts.
    pub fn is_concealed_from(&self, candidate: &Candidate, answers: Option<&Answers>) -> bool {
        // Candidates who may write see every question: otherwise, they would have to record before they know what to write about.
        let may_write = candidate.adjusted().may_write;
        // Time to prepare would be pointless if candidates knew the question before it begins.
        self.has_preparation() && !may_write && !answers.is_some_and(|answers| answers.has_begun(self.id))
    }
}
