//! What a candidate has answered, in the document with all their data.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::answers::{AnswerText, Answers, Take};
use shared::domain::id::{QuestionId, TakeRef};
use shared::domain::media::conversion::ConversionStatus;
use shared::domain::media::file::FileType;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::wire::{Timestamp, Uri};
use shared::media::AnswerObjects;
use shared::store::VersionedItem;

/// What a candidate has answered.
pub(super) struct GivenAnswers {
    pub(super) answers: VersionedItem<Answers>,
    /// The written answers, by question.
    pub(super) texts: BTreeMap<QuestionId, AnswerText>,
}

/// The answer to a question.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AnswerData")]
pub(super) struct AnswerDataView {
    /// The question.
    #[schemars(example = example_uri::QUESTION)]
    question: Uri,
    /// The written answer; null for none.
    #[schemars(example = ())]
    text: Option<String>,
    /// The recordings that are kept, oldest first.
    takes: Vec<TakeDataView>,
}

/// A recording of an answer.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TakeData")]
struct TakeDataView {
    /// When it was begun.
    begun_at: Timestamp,
    /// When it was finished, or closed by the service; null before.
    finished_at: Option<Timestamp>,
    /// How far it is.
    status: ConversionStatus,
    /// Its length once it is converted.
    #[schemars(example = 84)]
    seconds: Option<u32>,
    /// Where to fetch it once it is converted; valid for the session that fetched this document.
    #[schemars(example = example_uri::ANSWER_VIDEO)]
    url: Option<Uri>,
}

impl AnswerDataView {
    pub(super) fn all_of(given: Option<&GivenAnswers>, references: ReferenceUris<'_>) -> Vec<Self> {
        let Some(GivenAnswers { answers, texts }) = given else { return Vec::new() };
        let objects = AnswerObjects::of(answers);
        let take = |of: TakeRef, take: &Take| {
            let converted = take.conversion.converted;
            TakeDataView {
                begun_at: Timestamp(take.begun_at),
                finished_at: take.finished_at.map(Timestamp),
                status: take.conversion.status,
                seconds: converted.map(|made| made.seconds),
                url: converted.and_then(|_| references.take_rendition(&objects, of, FileType::Mp4)),
            }
        };
        let answer = answers.questions.iter().map(|(question, answer)| Self {
            question: references.uri_in_project(&answers.company, answers.project, *question),
            text: texts.get(question).map(ToString::to_string),
            takes: answer.takes.iter().map(|one| take(one.reference(*question), one)).collect(),
        });
        answer.collect()
    }
}
