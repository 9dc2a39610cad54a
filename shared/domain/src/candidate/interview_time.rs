//! The time of an interview that this service conducts.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::{Candidate, CandidateStatus};
use crate::Refusal;
use crate::project::{InterviewPlatform, Project};
use crate::questionnaire::{Question, QuestionKind, Questionnaire};

/// The candidate is not in an interview that this service conducts.
pub const NOT_INTERVIEWING: Refusal =
    Refusal { code: "not_interviewing", detail: "The interview has not begun, or it has ended." };
pub const TIME_OVER: Refusal = Refusal { code: "time_over", detail: "The time of the interview is over." };

/// How long after its end an interview still accepts parts of takes and can be completed.
const CLOSING: TimeDelta = TimeDelta::hours(1);
/// How long after the end of the interview a take may still begin.
const TOLERANCE: TimeDelta = TimeDelta::minutes(1);
/// The time allowed for the camera test, practice and watching answers, in seconds.
const AROUND_SECONDS: u32 = 300;
/// The assumed time for a written answer, in seconds. Written answers have no time limit.
const WRITING_SECONDS: u32 = 180;
/// A factor of 1 in hundredths.
const WHOLE: u32 = 100;

/// The maximum number of takes in addition to a question's own.
pub const MAX_EXTRA_TAKES: u32 = 10;

/// A factor for times, from 1 to 3, stored in hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeFactor(u32);

impl TimeFactor {
    /// Parses a number from 1 to 3 with at most two decimals.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 100 to 300")]
    pub fn parse(factor: f64) -> Result<Self, String> {
        let hundredths = factor * f64::from(WHOLE);
        if !(100.0..=300.0).contains(&hundredths) || (hundredths - hundredths.round()).abs() > 1e-6 {
            return Err("Use a number from 1 to 3 with at most two decimals.".to_owned());
        }
        Ok(Self(hundredths.round() as u32))
    }

    /// The factor in hundredths.
    pub fn hundredths(self) -> u32 {
        self.0
    }

    /// Multiplies a number of seconds by the factor, rounded up.
    pub fn stretch(self, seconds: u32) -> u32 {
        (seconds * self.0).div_ceil(WHOLE)
    }
}

impl Default for TimeFactor {
    fn default() -> Self {
        Self(WHOLE)
    }
}

/// Adjustments for a candidate, for example because of a disability.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterviewAdjustments {
    /// Multiplies the times to prepare and to answer, and the time of the interview.
    pub time_factor: TimeFactor,
    /// The number of takes that the candidate may record in addition to the limit of each question.
    pub extra_takes: u32,
    /// Whether the candidate may answer every question in writing.
    pub may_write: bool,
}

/// An interview that this service conducts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConductedInterview {
    /// The minutes from beginning to end, before the candidate's time factor applies; `None` if only the deadline limits it.
    pub max_minutes: Option<u32>,
}

/// The end of an interview whose time was over before it was complete, though some questions were answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedByTime {
    pub ended_at: DateTime<Utc>,
    /// The number of questions with an answer.
    pub answered: usize,
    /// The number of questions.
    pub questions: usize,
}

/// The time that most candidates need to answer, in seconds.
fn expected_seconds(question: &Question) -> u32 {
    match question.kind {
        QuestionKind::Video => question.preparation_seconds.unwrap_or(0) + question.answer_seconds,
        QuestionKind::Text => WRITING_SECONDS,
    }
}

impl ConductedInterview {
    /// The interview of a candidate who begins it now.
    pub fn of(project: &Project) -> Self {
        Self { max_minutes: project.settings.max_interview_time }
    }
}

/// The number of questions and the expected duration of an interview, for the invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterviewLength {
    /// The number of questions.
    pub questions: usize,
    /// The approximate duration in minutes, in steps of five.
    pub minutes: u32,
    /// Whether all questions are answered in writing, so that the candidate needs no camera.
    pub is_written: bool,
}

impl Candidate {
    /// Whether the candidate is in an interview that this service conducts.
    pub fn is_in_interview(&self) -> bool {
        self.status == CandidateStatus::Interviewing && self.interview.is_some()
    }

    /// The interview that this service conducts or has conducted; `None` while the candidate waits to begin it, even for the second time.
    fn begun_interview(&self) -> Option<ConductedInterview> {
        use CandidateStatus::{Aborted, Interviewed, Interviewing};
        self.interview.filter(|_| matches!(self.status, Interviewing | Interviewed | Aborted))
    }

    /// The candidate's adjustments, or the defaults, with one more take for each time that the interview was reopened.
    pub fn adjusted(&self) -> InterviewAdjustments {
        let own = self.adjustments.unwrap_or_default();
        let extra_takes = own.extra_takes + self.reopening.as_ref().map_or(0, |last| last.count);
        InterviewAdjustments { extra_takes, ..own }
    }

    /// The seconds from the beginning of the interview to its end, regardless of the deadline; `None` without a limit. Before the
    /// beginning, the limit is that of `next`.
    pub fn limit_seconds(&self, next: ConductedInterview) -> Option<u32> {
        let minutes = self.begun_interview().unwrap_or(next).max_minutes?;
        Some(self.adjusted().time_factor.stretch(minutes * 60))
    }

    /// The approximate length of an interview with these questions; `None` if the service does not conduct it.
    pub fn interview_length(
        &self,
        project: &Project,
        questionnaire: &Questionnaire,
    ) -> Option<InterviewLength> {
        if project.settings.interview_platform == InterviewPlatform::External
            || questionnaire.questions.is_empty()
        {
            return None;
        }
        let factor = self.adjusted().time_factor;
        let all: u32 =
            questionnaire.questions.iter().map(|question| factor.stretch(expected_seconds(question))).sum();
        let limit = self.limit_seconds(ConductedInterview::of(project)).unwrap_or(u32::MAX);
        let minutes = (all.min(limit) + AROUND_SECONDS).div_ceil(300) * 5;
        let is_written = questionnaire.questions.iter().all(|question| question.kind == QuestionKind::Text);
        Some(InterviewLength { questions: questionnaire.questions.len(), minutes, is_written })
    }

    /// The client's URL where the candidate continues after the interview; `None` if the project has none.
    pub fn return_url(&self, project: &Project) -> Option<String> {
        let address = project.settings.return_url.as_ref()?;
        Some(address.of_candidate(self.id, self.profile.external_id.as_ref()))
    }

    /// The end of the time for the interview: the deadline or, once the interview has begun, the end of its own time if that is earlier.
    pub fn ends_at(&self) -> Option<DateTime<Utc>> {
        let limit = self.begun_interview().and_then(|interview| {
            Some(self.started_at? + TimeDelta::seconds(self.limit_seconds(interview)?.into()))
        });
        // Computed on read, so that changing the deadline or factor moves the end.
        [self.profile.deadline, limit].into_iter().flatten().min()
    }

    /// When the interview closes. Until then, the client can send what was recorded in time. `None` before the interview begins.
    pub fn closes_at(&self) -> Option<DateTime<Utc>> {
        self.begun_interview().and(self.ends_at()).map(|end| end + CLOSING)
    }

    /// Checks that the candidate may begin an answer at `now`. Fails with [`NOT_INTERVIEWING`] or [`TIME_OVER`].
    pub fn may_begin_answer(&self, now: DateTime<Utc>) -> Result<(), Refusal> {
        self.may_finish_answer(now)?;
        if self.ends_at().is_some_and(|end| end + TOLERANCE <= now) { Err(TIME_OVER) } else { Ok(()) }
    }

    /// Checks that the candidate may send a recording at `now`. Fails with [`NOT_INTERVIEWING`] or [`TIME_OVER`].
    pub fn may_finish_answer(&self, now: DateTime<Utc>) -> Result<(), Refusal> {
        if !self.is_in_interview() {
            return Err(NOT_INTERVIEWING);
        }
        if self.closes_at().is_some_and(|end| end <= now) { Err(TIME_OVER) } else { Ok(()) }
    }

    /// Completes the interview at `at` and revokes the candidate's sessions. The access key is kept, but opens nothing unless the
    /// interview is reopened.
    pub fn interviewed(mut self, at: DateTime<Utc>) -> Self {
        self.status = CandidateStatus::Interviewed;
        self.interviewed_at = Some(at);
        self.ended_by_time = None;
        self.close_help_request(at);
        // The computer may be shared: its next user must not be logged in as the candidate.
        self.with_sessions_ended()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;
    use crate::questionnaire::{Anchors, QuestionText};
    use crate::samples;
    use crate::text::TextLines;

    fn at(minute: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::minutes(minute)
    }

    fn candidate(deadline: i64, max_minutes: Option<u32>) -> Candidate {
        let mut candidate = samples::candidate();
        candidate.status = CandidateStatus::Interviewing;
        candidate.started_at = Some(at(0));
        candidate.profile.deadline = Some(at(deadline));
        candidate.interview = Some(ConductedInterview { max_minutes });
        candidate
    }

    #[test]
    fn an_interview_ends_with_its_time_or_the_deadline_and_closes_an_hour_later() {
        assert_eq!(candidate(600, None).ends_at(), Some(at(600)));
        assert_eq!(candidate(600, Some(45)).ends_at(), Some(at(45)));
        assert_eq!(candidate(30, Some(45)).ends_at(), Some(at(30)));
        assert_eq!(candidate(600, Some(45)).expires_at(), Some(at(105)));
        let factor = TimeFactor::parse(1.5).unwrap();
        let adjustments =
            Some(InterviewAdjustments { time_factor: factor, ..InterviewAdjustments::default() });
        assert_eq!(Candidate { adjustments, ..candidate(600, Some(40)) }.ends_at(), Some(at(60)));
        let elsewhere = Candidate { interview: None, ..candidate(600, Some(45)) };
        assert_eq!((elsewhere.ends_at(), elsewhere.closes_at()), (Some(at(600)), None));
        assert_eq!(elsewhere.expires_at(), Some(at(600)));
        let again = Candidate { status: CandidateStatus::Confirmed, ..candidate(600, Some(45)) };
        assert_eq!((again.ends_at(), again.closes_at()), (Some(at(600)), None));
    }

    #[test]
    fn the_limit_is_that_of_the_project_until_the_interview_begins() {
        let next = ConductedInterview { max_minutes: Some(10) };
        let factor = TimeFactor::parse(1.5).unwrap();
        let adjustments =
            Some(InterviewAdjustments { time_factor: factor, ..InterviewAdjustments::default() });
        let begun = Candidate { adjustments, ..candidate(5, Some(40)) };
        assert_eq!(begun.limit_seconds(next), Some(3600));
        let waiting = Candidate { status: CandidateStatus::Confirmed, ..begun };
        assert_eq!(waiting.limit_seconds(next), Some(900));
        assert_eq!(waiting.limit_seconds(ConductedInterview { max_minutes: None }), None);
        assert_eq!(candidate(5, None).limit_seconds(next), None);
    }

    #[test]
    fn the_length_of_an_interview_follows_from_its_questions_and_the_candidate() {
        let mut project = samples::project();
        project.settings.interview_platform = InterviewPlatform::Builtin;
        let empty = Questionnaire::new(samples::company().id, project.id);
        let question = |number: u8, kind, preparation_seconds| Question {
            id: Id::from_bytes([number; 16]),
            revision: 1,
            position: number.into(),
            text: QuestionText::parse("Why us?").unwrap(),
            former_texts: Vec::new(),
            kind,
            video: None,
            preparation_seconds,
            answer_seconds: 120,
            takes: None,
            is_required: true,
            internal_description: TextLines::default(),
            anchors: Anchors::default(),
        };
        let asked = [
            question(1, QuestionKind::Video, Some(60)),
            question(2, QuestionKind::Video, None),
            question(3, QuestionKind::Text, None),
        ];
        let questionnaire =
            asked.into_iter().fold(empty.clone(), |all, question| all.with_question(question).unwrap());
        let one = samples::candidate();
        let told = |candidate: &Candidate, project: &Project| {
            candidate
                .interview_length(project, &questionnaire)
                .map(|length| (length.questions, length.minutes))
        };
        assert_eq!(told(&one, &project), Some((3, 15)));
        let in_writing = empty.clone().with_question(question(1, QuestionKind::Text, None)).unwrap();
        let is_written = |questionnaire| one.interview_length(&project, questionnaire).unwrap().is_written;
        assert_eq!((is_written(&questionnaire), is_written(&in_writing)), (false, true));
        let factor = TimeFactor::parse(2.0).unwrap();
        let adjustments =
            Some(InterviewAdjustments { time_factor: factor, ..InterviewAdjustments::default() });
        assert_eq!(told(&Candidate { adjustments, ..one.clone() }, &project), Some((3, 25)));
        project.settings.max_interview_time = Some(2);
        assert_eq!(told(&one, &project), Some((3, 10)));
        assert_eq!(one.interview_length(&project, &empty), None);
        project.settings.interview_platform = InterviewPlatform::External;
        assert_eq!(told(&one, &project), None);
    }

    #[test]
    fn answers_begin_before_the_end_and_are_sent_until_the_interview_closes() {
        let one = candidate(600, Some(45));
        assert_eq!((one.may_begin_answer(at(45)), one.may_begin_answer(at(46))), (Ok(()), Err(TIME_OVER)));
        assert_eq!(
            (one.may_finish_answer(at(104)), one.may_finish_answer(at(105))),
            (Ok(()), Err(TIME_OVER))
        );
        let done = one.interviewed(at(50));
        assert_eq!(done.may_finish_answer(at(51)), Err(NOT_INTERVIEWING));
        let elsewhere = Candidate { interview: None, ..candidate(600, None) };
        assert_eq!(elsewhere.may_begin_answer(at(1)), Err(NOT_INTERVIEWING));
    }

    #[test]
    fn a_factor_has_two_decimals() {
        for (factor, seconds) in [(1.0, 7), (1.25, 9), (3.0, 21)] {
            assert_eq!(TimeFactor::parse(factor).unwrap().stretch(7), seconds, "{factor}");
        }
        for wrong in [0.99, 3.01, 1.255, f64::NAN, f64::INFINITY, -1.0] {
            assert!(TimeFactor::parse(wrong).is_err(), "{wrong}");
        }
    }
}
