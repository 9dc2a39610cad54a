//! The captions of a video or of an answer, as clients see them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::answers::Take;
use crate::domain::id::QuestionId;
use crate::domain::language::Language;
use crate::http::example_uri;
use crate::http::reference::ReferenceUris;
use crate::http::wire::Uri;
use crate::media::AnswerObjects;

/// The captions of a video or of an answer in a language.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Captions")]
pub struct CaptionsView {
    /// The language of the captions.
    pub language: Language,
    /// The URL of the WebVTT, valid for the session that fetched it.
    #[schemars(example = example_uri::CAPTIONS)]
    pub url: Uri,
}

impl CaptionsView {
    /// All captions of the take that is the answer to `question`. The URLs lead to nothing for another take.
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
