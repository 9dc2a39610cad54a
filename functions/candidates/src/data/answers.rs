//! A candidate's answers in the data document.

use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::answers::{Take, WrittenAnswer};
use shared::domain::id::TakeRef;
use shared::domain::media::conversion::ConversionStatus;
use shared::domain::media::file::FileType;
use shared::domain::questionnaire::Questionnaire;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::view::CaptionsView;
use shared::http::wire::{Timestamp, Uri};
use shared::media::AnswerObjects;
use shared::store::ShownAnswers;

/// The answer to a question.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AnswerData")]
pub(super) struct AnswerDataView {
    /// The URL of the question.
    #[schemars(example = example_uri::QUESTION)]
    question: Uri,
    /// The text of the answered question; null if the question was deleted.
    #[schemars(example = &"Which project are you most proud of?")]
    question_text: Option<String>,
    /// The written answer; null for none.
    #[schemars(example = ())]
    text: Option<String>,
    /// The text that the candidate has typed but not sent; null if there is none, and for all other callers.
    #[schemars(example = ())]
    draft: Option<DraftDataView>,
    /// The stored recordings, oldest first.
    takes: Vec<TakeDataView>,
}

/// A text that the candidate has typed but not sent.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DraftData")]
struct DraftDataView {
    /// The text.
    #[schemars(example = &"The race in our")]
    text: String,
    /// When the text was saved.
    saved_at: Timestamp,
}

impl DraftDataView {
    fn of(written: &WrittenAnswer) -> Option<Self> {
        let draft = written.draft.as_ref()?;
        Some(Self { text: draft.text.as_ref()?.to_string(), saved_at: Timestamp(draft.saved_at) })
    }
}

/// A recording of an answer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TakeData")]
struct TakeDataView {
    /// When the take was begun.
    begun_at: Timestamp,
    /// When the candidate finished the take or the service closed it; null before.
    finished_at: Option<Timestamp>,
    /// The progress of the take.
    status: ConversionStatus,
    /// The length of the converted take, in seconds; null before.
    #[schemars(example = 84)]
    seconds: Option<u32>,
    /// The URL of the converted take; valid for the session that fetched this document.
    #[schemars(example = example_uri::ANSWER_VIDEO)]
    url: Option<Uri>,
    /// The company's captions of the take that is the answer.
    captions: Vec<CaptionsView>,
}

impl AnswerDataView {
    pub(super) fn all_of(
        given: Option<&ShownAnswers>,
        questionnaire: &Questionnaire,
        references: ReferenceUris<'_>,
    ) -> Vec<Self> {
        let Some(ShownAnswers { answers, written }) = given else { return Vec::new() };
        let objects = AnswerObjects::of(answers);
        let view_of = |rendition: TakeRef, take: &Take, is_answer: bool| {
            let converted = take.conversion.converted;
            TakeDataView {
                begun_at: Timestamp(take.begun_at),
                finished_at: take.finished_at.map(Timestamp),
                status: take.conversion.status,
                seconds: converted.map(|made| made.seconds),
                url: converted.and_then(|_| references.take_rendition(&objects, rendition, FileType::Mp4)),
                captions: if is_answer {
                    CaptionsView::all_of(take, rendition.question, &objects, references)
                } else {
                    Vec::new()
                },
            }
        };
        let views = answers.questions.iter().map(|(question, answer)| Self {
            question: references.uri_in_project(&answers.company, answers.project, *question),
            question_text: questionnaire
                .question(*question)
                .map(|asked| answer.asked_text(asked).to_string()),
            text: written.get(question).and_then(|answer| answer.text.as_ref()).map(ToString::to_string),
            draft: written.get(question).and_then(DraftDataView::of),
            takes: {
                let answering = answer.answer_take().map(|take| take.number);
                let shown =
                    |take: &Take| view_of(take.reference(*question), take, answering == Some(take.number));
                answer.takes.iter().map(shown).collect()
            },
        });
        views.collect()
    }
}
