//! The view of the captions of a video or of an answer.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::answers::Take;
use crate::domain::id::QuestionId;
use crate::domain::language::Language;
use crate::http::example_uri;
use crate::http::reference::ReferenceUris;
use crate::http::wire::Uri;
use crate::media::AnswerObjects;

/// The captions of a video or an answer in one language.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Captions")]
pub struct CaptionsView {
    /// The language of the captions.
    pub language: Language,
    /// The URL of the WebVTT file, valid for the session that fetched it.
    #[schemars(example = example_uri::CAPTIONS)]
    pub url: Uri,
}

impl CaptionsView {
    /// The captions of `take`, which must be the candidate's current answer to `question`: the URLs serve only that take's captions.
    pub fn all_of(
        take: &Take,
        question: QuestionId,
        objects: &AnswerObjects,
        references: ReferenceUris<'_>,
    ) -> Vec<Self> {
        let view = |language: &Language| {
            let url = references.answer_captions(objects, question, *language)?;
            Some(Self { language: *language, url })
        };
        take.captions.keys().filter_map(view).collect()
    }
}
