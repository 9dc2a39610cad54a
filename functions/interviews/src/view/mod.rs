//! Views of an interview, its answers and its takes.

mod draft;
mod take;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::access::AnswersTarget;
use shared::domain::answers::{Answers, QuestionAnswer, Take, WrittenAnswer};
use shared::domain::candidate::{Candidate, CandidateStatus, ConductedInterview, InterviewAdjustments};
use shared::domain::id::QuestionId;
use shared::domain::media::conversion::ConversionStatus;
use shared::domain::media::file::FileType;
use shared::domain::policy::{Action, CallerRelation};
use shared::domain::questionnaire::{Question, QuestionKind, Questionnaire};
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::view::CaptionsView;
use shared::http::wire::{Identifier, Timestamp, Uri};
use shared::media::AnswerObjects;
use shared::store::ShownAnswers;

pub(crate) use draft::{DraftView, draft_tag};
pub(crate) use take::{BegunTakeView, FinishedTakeView, SignedPartView, SignedPartsView, TakeView};

/// The caller who views an interview.
pub(crate) struct InterviewViewer<'a> {
    candidate: &'a Candidate,
    answers: &'a Answers,
    questionnaire: &'a Questionnaire,
    maximum_score: u32,
    objects: AnswerObjects,
    adjustments: InterviewAdjustments,
    /// Whether the caller sees values that reveal adjustments.
    sees_limits: bool,
    is_this_candidate: bool,
    references: ReferenceUris<'a>,
}

impl<'a> InterviewViewer<'a> {
    /// The caller who was admitted to the interview.
    pub(crate) fn of(target: &'a AnswersTarget, references: ReferenceUris<'a>) -> Self {
        let relation = &target.relation;
        let is_this_candidate = *relation == CallerRelation::ThisCandidate;
        Self {
            candidate: &target.candidate,
            answers: &target.answers,
            questionnaire: &target.questionnaire,
            maximum_score: target.project.settings.maximum_score,
            objects: AnswerObjects::of(&target.answers),
            adjustments: target.candidate.adjusted(),
            // Longer times and more takes may reveal something about the candidate's health.
            sees_limits: is_this_candidate || Action::ChangeProject.is_allowed(relation),
            is_this_candidate,
            references,
        }
    }

    /// The text of a question when `given` answered it; empty while it is concealed from the viewer.
    fn asked_text(&self, question: &Question, given: &QuestionAnswer) -> String {
        if self.is_this_candidate && question.is_concealed_from(self.candidate, Some(self.answers)) {
            return String::new();
        }
        given.asked_text(question).to_string()
    }
}

/// An interview that this service conducts.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Interview")]
pub(crate) struct InterviewView {
    /// The URL of the resource.
    #[schemars(example = example_uri::INTERVIEW)]
    resource_uri: Uri,
    /// The URL of the candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Uri,
    /// The name of the candidate's project. Users who only have a share of the candidate see it only here.
    #[schemars(example = &"Data engineer")]
    project_name: String,
    /// The status of the candidate.
    status: CandidateStatus,
    /// The service's clock. Count down from it, because browsers' clocks may be wrong.
    now: Timestamp,
    /// When the candidate last started the interview or it was reopened; null before.
    started_at: Option<Timestamp>,
    /// Whether the time limit ended the interview with answers but incomplete. The candidate is then `aborted`. False
    /// again after the interview is reopened or the candidate advanced.
    #[schemars(example = false)]
    ended_by_time: bool,
    /// When the time limit ended the interview; null unless `ended_by_time` is true.
    #[schemars(example = ())]
    ended_at: Option<Timestamp>,
    /// Whether the candidate is continuing the interview after a reopening.
    #[schemars(example = false)]
    is_reopened: bool,
    /// The company's message about the reopening, until the interview is completed again; null otherwise. Only managers
    /// and the candidate see it.
    #[schemars(example = ())]
    message: Option<String>,
    /// Until when answers can be begun; null without a deadline. Only managers and the candidate see it.
    ends_at: Option<Timestamp>,
    /// Until when recorded parts can be sent and the interview completed; null before it has begun. Only managers and
    /// the candidate see it.
    closes_at: Option<Timestamp>,
    /// The time limit of the interview in seconds, with the candidate's adjustments; null without a limit. Only
    /// managers and the candidate see it.
    #[schemars(example = 2700)]
    limit_seconds: Option<u32>,
    /// The number of questions.
    #[schemars(example = 5)]
    questions: usize,
    /// The total time to record answers to all recorded questions, in seconds. For callers other than managers and the
    /// candidate, without the candidate's adjustments.
    #[schemars(example = 600)]
    answer_seconds: u32,
    /// The required questions that are unanswered but can still be answered; empty before the interview has begun.
    #[schemars(example = [example_uri::QUESTION])]
    missing: Vec<Uri>,
    /// The answers to all questions, in their order; empty before the interview has begun.
    answers: Vec<InterviewAnswerView>,
}

impl InterviewView {
    /// The view of the target's interview at `now`, with the answers in `shown`.
    pub(crate) fn new(
        target: &AnswersTarget,
        shown: &ShownAnswers,
        references: ReferenceUris<'_>,
        now: DateTime<Utc>,
    ) -> Self {
        let AnswersTarget { project, candidate, questionnaire, .. } = target;
        let ShownAnswers { answers, written } = shown;
        let viewer = InterviewViewer::of(target, references);
        let resource = answers.resource();
        let has_begun = candidate.interview.is_some();
        let uri = |question: &Question| {
            references.uri_in_project(&candidate.company, candidate.project, question.id)
        };
        let asked = || questionnaire.questions.iter().filter(|_| has_begun);
        Self {
            resource_uri: references.resource(&candidate.company, resource),
            candidate: references.uri_in_project(&candidate.company, candidate.project, candidate.id),
            project_name: project.settings.name.to_string(),
            status: candidate.status,
            now: Timestamp(now),
            started_at: candidate.started_at.filter(|_| has_begun).map(Timestamp),
            ended_by_time: candidate.ended_by_time.is_some(),
            ended_at: candidate.ended_by_time.map(|ended| Timestamp(ended.ended_at)),
            is_reopened: candidate.reopened_interview().is_some(),
            message: candidate.reopening_message().filter(|_| viewer.sees_limits).map(ToString::to_string),
            ends_at: candidate.ends_at().filter(|_| viewer.sees_limits).map(Timestamp),
            closes_at: candidate.closes_at().filter(|_| viewer.sees_limits).map(Timestamp),
            limit_seconds: candidate
                .limit_seconds(ConductedInterview::of(project))
                .filter(|_| viewer.sees_limits),
            questions: questionnaire.questions.len(),
            answer_seconds: answer_seconds(questionnaire, &viewer),
            missing: answers
                .missing(questionnaire, viewer.adjustments, now)
                .into_iter()
                .filter(|_| has_begun)
                .map(uri)
                .collect(),
            answers: asked()
                .map(|question| {
                    let given = answers.answer_to(question.id);
                    InterviewAnswerView {
                        answer: AnswerView::new(question, given, written.get(&question.id), &viewer),
                        draft: written.get(&question.id).and_then(DraftView::of),
                        unanswerable: given
                            .is_some_and(|given| given.is_unanswerable(question, viewer.adjustments, now)),
                    }
                })
                .collect(),
        }
    }
}

fn answer_seconds(questionnaire: &Questionnaire, viewer: &InterviewViewer<'_>) -> u32 {
    let recorded = questionnaire.questions.iter().filter(|question| question.kind == QuestionKind::Video);
    let factor =
        if viewer.sees_limits { viewer.adjustments } else { InterviewAdjustments::default() }.time_factor;
    recorded.map(|question| factor.stretch(question.answer_seconds)).sum()
}

/// The answer to a question, in the state of the interview.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "InterviewAnswer")]
struct InterviewAnswerView {
    #[serde(flatten)]
    answer: AnswerView,
    /// Whether the question is unanswered and can no longer be answered: no takes are left, and the time of the last
    /// one is over. Such a question is not in `missing`. Resetting the answer or `extra_takes` make it answerable
    /// again.
    // Only in the state of the interview: it changes with time, but the answer's `ETag` must not.
    #[schemars(example = false)]
    unanswerable: bool,
    /// The text that the candidate has typed but not sent; null if there is none, and for all other callers.
    // Only in the state of the interview: saving a draft must not change the answer's `ETag`.
    draft: Option<DraftView>,
}

/// The answer to a question.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Answer")]
pub(crate) struct AnswerView {
    id: Identifier<QuestionId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::ANSWER)]
    resource_uri: Uri,
    /// The URL of the question.
    #[schemars(example = example_uri::QUESTION)]
    question: Uri,
    /// The text of the question when the take that is the answer was begun, or when the answer was last written; the
    /// current text before. Empty while it is concealed from the candidate.
    #[schemars(example = &"Which project are you most proud of?")]
    question_text: String,
    /// The progress of the answer; null without one. A written answer is `successful`.
    status: Option<ConversionStatus>,
    /// Why the last conversion failed, as a sentence; null otherwise.
    #[schemars(example = ())]
    error: Option<String>,
    /// The written answer; null for none.
    #[schemars(example = ())]
    text: Option<String>,
    /// The length of the recorded answer once it is converted.
    #[schemars(example = 84)]
    seconds: Option<u32>,
    /// The size in pixels once the take is converted.
    dimensions: Option<AnswerDimensions>,
    /// The URLs at which the answer can be watched once it is converted.
    streams: Option<AnswerStreams>,
    /// The URL of a thumbnail once it is converted, valid for the session that fetched it.
    #[schemars(example = ())]
    thumb: Option<Uri>,
    /// The company's captions of the take that is the answer, by language. Candidates see none.
    captions: Vec<CaptionsView>,
    /// The number of takes begun.
    #[schemars(example = 2)]
    takes_begun: u32,
    /// How many takes can still be begun; each reopening of the interview adds one. Only managers and the candidate see
    /// it.
    #[schemars(example = 1)]
    takes_left: Option<u32>,
    /// The number of interrupted takes: the service closed them after parts had arrived.
    #[schemars(example = 0)]
    interruptions: u32,
    /// The take that is being recorded or sent; null for none.
    #[schemars(example = ())]
    open_take: Option<TakeView>,
    /// The take that is the answer; null without one.
    take: Option<TakeView>,
}

/// The size of a recorded answer.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct AnswerDimensions {
    /// The width in pixels.
    #[schemars(example = 1280)]
    pub(crate) width: u32,
    /// The height in pixels.
    #[schemars(example = 720)]
    pub(crate) height: u32,
}

/// The URLs at which a recorded answer can be watched.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct AnswerStreams {
    /// H.264 and AAC in mp4. Anyone can use the URL while the credential that fetched it lasts; that of a named token for 24 hours.
    #[schemars(example = example_uri::ANSWER_VIDEO)]
    mp4: Option<Uri>,
}

impl AnswerView {
    pub(crate) fn new(
        question: &Question,
        answer: Option<&QuestionAnswer>,
        written: Option<&WrittenAnswer>,
        viewer: &InterviewViewer<'_>,
    ) -> Self {
        let references = viewer.references;
        let objects = &viewer.objects;
        let none = QuestionAnswer::default();
        let given = answer.unwrap_or(&none);
        let take = given.answer_take();
        let counts = given.counts();
        let made = take.and_then(|take| Some((take.reference(question.id), take.conversion.converted?)));
        let fetched = |file_type| made.and_then(|(of, _)| references.take_rendition(objects, of, file_type));
        let shown = |take: &Take| TakeView::new(take.reference(question.id), take, viewer);
        let left = counts.left(question, viewer.adjustments.extra_takes);
        Self {
            id: Identifier(question.id),
            resource_uri: references.answer(objects, question.id),
            question: references.uri_in_project(&objects.company, objects.project, question.id),
            question_text: viewer.asked_text(question, given),
            status: given.status(),
            error: given.failed_take().and_then(|failed| failed.conversion.failure.clone()),
            text: written.and_then(|written| written.text.as_ref()).map(ToString::to_string),
            seconds: made.map(|(_, made)| made.seconds),
            dimensions: made.map(|(_, made)| AnswerDimensions { width: made.width, height: made.height }),
            streams: made.map(|_| AnswerStreams { mp4: fetched(FileType::Mp4) }),
            thumb: fetched(FileType::Jpeg),
            captions: take
                .filter(|_| !viewer.is_this_candidate)
                .map(|take| CaptionsView::all_of(take, question.id, objects, references))
                .unwrap_or_default(),
            takes_begun: counts.begun,
            takes_left: viewer.sees_limits.then_some(left),
            interruptions: counts.interrupted,
            open_take: given.open_take().map(shown),
            take: take.map(shown),
        }
    }
}
