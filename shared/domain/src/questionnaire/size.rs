//! How much room questions and criteria take: all of them are one item.

use super::{NotPlaced, Questionnaire};

/// The most bytes of the texts of all questions and criteria, with their anchors.
// The longest texts and descriptions, in four bytes a character, have 328 KB. DynamoDB's 400 KB leave room for former texts.
const MAX_TEXT_BYTES: usize = 330_000;

impl Questionnaire {
    /// Refuses texts and anchors that would not fit in an item.
    pub(super) fn fitting(self) -> Result<Self, NotPlaced> {
        let questions = self.questions.iter().map(|question| {
            question.text.size() + question.internal_description.len() + question.anchors.size()
        });
        let criteria = self.criteria.iter().map(|criterion| {
            criterion.name.as_str().len() + criterion.description.len() + criterion.anchors.size()
        });
        let size: usize = questions.chain(criteria).sum();
        if size > MAX_TEXT_BYTES { Err(NotPlaced::TooLong) } else { Ok(self) }
    }
}
