//! The size of a questionnaire, which is stored as one item.

use super::{NotPlaced, Questionnaire};

/// The maximum size of the texts of all questions and criteria, including their anchors, in bytes.
// The longest texts and descriptions take 328 KB, with four bytes per character. DynamoDB's 400 KB leave room for former texts.
const MAX_TEXT_BYTES: usize = 330_000;

impl Questionnaire {
    /// Checks that the texts and anchors fit into one item.
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
