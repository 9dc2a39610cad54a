//! The texts of questions, current and former.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Question, Questionnaire};
use crate::Refusal;
use crate::text::TextLines;

/// The maximum size of all former texts of questions, in bytes.
// The longest texts and descriptions take 330 KB of an item's 400 KB, with four bytes per character.
pub(super) const MAX_FORMER_TEXT_BYTES: usize = 60_000;
/// The former texts, with which answers are shown, have reached the maximum size.
pub const TOO_MANY_TEXTS: Refusal = Refusal {
    code: "too_many_texts",
    detail: "The texts of the questions were changed too often since candidates began: answers are shown with the text that was asked. Copy the project to ask other questions.",
};

/// Up to 1,000 characters in several lines, not blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct QuestionText(TextLines<1000>);

impl QuestionText {
    /// Cleans up `text` like [`TextLines::parse`]. Fails if it is too long or blank.
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLines::parse_visible(text).map(Self)
    }

    /// The size in bytes.
    pub(super) fn size(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Display for QuestionText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Question {
    /// The number of the current text among all texts of the question, from 0.
    pub fn wording(&self) -> usize {
        self.former_texts.len()
    }

    /// The text with this number; the current text if there is none.
    pub fn text_in(&self, wording: usize) -> &QuestionText {
        self.former_texts.get(wording).unwrap_or(&self.text)
    }

    /// Replaces `before`. Keeps its former texts, and its anchors if clients see the same.
    pub(super) fn replacing(mut self, before: &Self) -> Self {
        self.former_texts.clone_from(&before.former_texts);
        self.anchors = self.anchors.replacing(&before.anchors);
        if self.text != before.text {
            self.former_texts.push(before.text.clone());
        }
        self
    }
}

impl Questionnaire {
    /// The total size of all former texts, in bytes.
    pub(super) fn former_text_bytes(&self) -> usize {
        self.questions.iter().flat_map(|question| &question.former_texts).map(QuestionText::size).sum()
    }

    /// Deletes the former texts, because no candidate was asked one of them.
    pub fn without_former_texts(mut self) -> Self {
        self.questions.iter_mut().for_each(|question| question.former_texts.clear());
        self
    }

    /// Whether `after` has each text of this questionnaire under the same number.
    pub fn has_its_texts_in(&self, after: &Self) -> bool {
        self.questions.iter().all(|old| {
            let new = after.question(old.id);
            new.is_some_and(|new| {
                (0..=old.wording()).all(|wording| old.text_in(wording) == new.text_in(wording))
            })
        })
    }
}
