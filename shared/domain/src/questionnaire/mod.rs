//! The questionnaire of a project: the questions that candidates answer, and the criteria that evaluators rate
//! them by.

mod anchors;
mod size;
mod wording;

use serde::{Deserialize, Serialize};

use super::Refusal;
use super::history::{FieldValue, private};
use super::id::{CompanyId, CriterionId, ProjectId, QuestionId, VideoId};
use super::names::named;
use super::text::{TextLines, VisibleLine};

pub use anchors::{Anchor, AnchorText, Anchors, MAX_ANCHORS};
use wording::MAX_FORMER_TEXT_BYTES;
pub use wording::{QuestionText, TOO_MANY_TEXTS};

/// The highest position of a question or a criterion.
pub const MAX_POSITION: u32 = 1_000_000;
/// The maximum number of seconds to prepare or to give an answer.
pub const MAX_SECONDS: u32 = 600;
/// The default number of seconds to answer.
pub const ANSWER_SECONDS: u32 = 120;
/// The maximum number of takes.
pub const MAX_TAKES: u32 = 10;

/// The maximum number of questions in a project.
pub const MAX_QUESTIONS: usize = 30;
/// The maximum number of criteria in a project.
pub const MAX_CRITERIA: usize = 20;

/// The project has the maximum number of questions.
pub const TOO_MANY_QUESTIONS: Refusal =
    Refusal { code: "too_many_questions", detail: "A project may have 30 questions. Delete one first." };
/// The project has the maximum number of criteria.
pub const TOO_MANY_CRITERIA: Refusal =
    Refusal { code: "too_many_criteria", detail: "A project may have 20 criteria. Delete one first." };
/// A candidate has begun the interview.
pub const QUESTIONS_IN_USE: Refusal = Refusal {
    code: "questions_in_use",
    detail: "A candidate has begun the interview. Only `text`, `internal_description` and `anchors` of questions can still change.",
};

/// The default number of takes: one if there is time to prepare, otherwise three.
pub fn default_takes(preparation_seconds: Option<u32>) -> u32 {
    if preparation_seconds.is_some_and(|seconds| seconds > 0) { 1 } else { 3 }
}

named! {
    /// How candidates answer a question.
    pub enum QuestionKind {
        /// By a recorded video.
        Video = "video",
        /// In writing.
        Text = "text",
    }
}

/// The name of a criterion.
pub type CriterionName = VisibleLine<100>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub id: QuestionId,
    /// Counts the changes, from 1.
    pub revision: u64,
    /// The position of the question, unique in the project. Questions are sorted by it, ascending.
    pub position: u32,
    /// The question itself.
    pub text: QuestionText,
    /// The question's former texts since the first candidate began, oldest first: answers are shown with the text that was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_texts: Vec<QuestionText>,
    /// How candidates answer.
    pub kind: QuestionKind,
    /// The video that asks the question.
    pub video: Option<VideoId>,
    /// Seconds to prepare.
    pub preparation_seconds: Option<u32>,
    /// The maximum length of an answer in seconds.
    pub answer_seconds: u32,
    /// How often candidates may record an answer; `None` for no limit.
    pub takes: Option<u32>,
    /// Whether candidates must answer.
    pub is_required: bool,
    /// Shown to staff only.
    pub internal_description: TextLines<1000>,
    /// The meaning of values of the scale, for staff only.
    #[serde(default, skip_serializing_if = "Anchors::is_empty")]
    pub anchors: Anchors,
}

impl Question {
    /// Whether candidates have time to prepare. They see such a question only once a take has begun.
    pub fn has_preparation(&self) -> bool {
        self.kind == QuestionKind::Video && self.preparation_seconds.is_some_and(|seconds| seconds > 0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    pub id: CriterionId,
    /// Counts the changes, from 1.
    pub revision: u64,
    /// The position of the criterion, unique in the project. Criteria are sorted by it, ascending.
    pub position: u32,
    /// The display name.
    pub name: CriterionName,
    /// The meaning of the criterion.
    pub description: TextLines<1000>,
    /// The meaning of values of the scale.
    #[serde(default, skip_serializing_if = "Anchors::is_empty")]
    pub anchors: Anchors,
}

/// Why a question or a criterion cannot be added or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotPlaced {
    /// The current state does not allow it.
    Refused(Refusal),
    /// Another question or criterion has the position.
    PositionTaken,
    /// The texts and anchors of all questions and criteria are too long in total.
    TooLong,
}

/// The questions and criteria of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Questionnaire {
    pub company: CompanyId,
    pub project: ProjectId,
    /// The questions, in the order of their positions.
    pub questions: Vec<Question>,
    /// The criteria, in the order of their positions.
    pub criteria: Vec<Criterion>,
}

impl Questionnaire {
    /// A questionnaire without questions and criteria.
    pub fn new(company: CompanyId, project: ProjectId) -> Self {
        Self { company, project, questions: Vec::new(), criteria: Vec::new() }
    }

    /// Whether there is nothing to rate.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty() && self.criteria.is_empty()
    }

    /// The question with this identifier.
    pub fn question(&self, id: QuestionId) -> Option<&Question> {
        self.questions.iter().find(|question| question.id == id)
    }

    /// The criterion with this identifier.
    pub fn criterion(&self, id: CriterionId) -> Option<&Criterion> {
        self.criteria.iter().find(|criterion| criterion.id == id)
    }

    /// The position after all questions.
    pub fn next_question_position(&self) -> u32 {
        self.questions.last().map_or(1, |last| last.position + 1)
    }

    /// The position after all criteria.
    pub fn next_criterion_position(&self) -> u32 {
        self.criteria.last().map_or(1, |last| last.position + 1)
    }

    /// Adds a question or replaces the one with the same identifier. A replacement increments the revision and keeps the former text.
    pub fn with_question(mut self, mut question: Question) -> Result<Self, NotPlaced> {
        let place = self.questions.iter().position(|known| known.id == question.id);
        if self.questions.iter().any(|other| other.position == question.position && other.id != question.id) {
            return Err(NotPlaced::PositionTaken);
        }
        if let Some(place) = place {
            question = question.replacing(&self.questions[place]);
        }
        match place {
            // A client that sends back what it has read changes nothing, so the revision stays.
            Some(place) if self.questions[place] == question => {}
            Some(place) => {
                question.revision = self.questions[place].revision + 1;
                self.questions[place] = question;
                if self.former_text_bytes() > MAX_FORMER_TEXT_BYTES {
                    return Err(NotPlaced::Refused(TOO_MANY_TEXTS));
                }
            }
            None if self.questions.len() >= MAX_QUESTIONS => {
                return Err(NotPlaced::Refused(TOO_MANY_QUESTIONS));
            }
            None => self.questions.push(question),
        }
        self.questions.sort_by_key(|question| question.position);
        self.fitting()
    }

    /// Adds a criterion or replaces the one with the same identifier. A replacement increments the revision.
    pub fn with_criterion(mut self, mut criterion: Criterion) -> Result<Self, NotPlaced> {
        let place = self.criteria.iter().position(|known| known.id == criterion.id);
        if self.criteria.iter().any(|other| other.position == criterion.position && other.id != criterion.id)
        {
            return Err(NotPlaced::PositionTaken);
        }
        if let Some(place) = place {
            criterion.anchors = criterion.anchors.replacing(&self.criteria[place].anchors);
        }
        match place {
            Some(place) if self.criteria[place] == criterion => {}
            Some(place) => {
                criterion.revision = self.criteria[place].revision + 1;
                self.criteria[place] = criterion;
            }
            None if self.criteria.len() >= MAX_CRITERIA => return Err(NotPlaced::Refused(TOO_MANY_CRITERIA)),
            None => self.criteria.push(criterion),
        }
        self.criteria.sort_by_key(|criterion| criterion.position);
        self.fitting()
    }

    /// Removes a question.
    pub fn without_question(mut self, id: QuestionId) -> Self {
        self.questions.retain(|question| question.id != id);
        self
    }

    /// Removes a criterion.
    pub fn without_criterion(mut self, id: CriterionId) -> Self {
        self.criteria.retain(|criterion| criterion.id != id);
        self
    }

    /// Removes a video from the questions that show it.
    pub fn without_video(mut self, video: VideoId) -> Self {
        for question in self.questions.iter_mut().filter(|question| question.video == Some(video)) {
            question.video = None;
            // The `ETag` of a question is its revision.
            question.revision += 1;
        }
        self
    }

    /// Whether candidates see some of the questions only once they have begun a take of them.
    pub fn conceals_any(&self) -> bool {
        self.questions.iter().any(Question::has_preparation)
    }

    /// Whether a question shows this video.
    pub fn shows(&self, video: VideoId) -> bool {
        self.questions.iter().any(|question| question.video == Some(video))
    }

    /// Whether candidates who have begun can continue after a change to `after`: questions may differ only in texts and anchors.
    pub fn asks_the_same_as(&self, after: &Self) -> bool {
        // A candidate who has begun may see a corrected text, but not another question.
        self.questions.len() == after.questions.len()
            && self.questions.iter().zip(&after.questions).all(|(old, new)| {
                let reworded = Question {
                    text: new.text.clone(),
                    former_texts: new.former_texts.clone(),
                    internal_description: new.internal_description.clone(),
                    anchors: new.anchors.clone(),
                    revision: new.revision,
                    ..old.clone()
                };
                reworded == *new
            })
    }
}

impl Questionnaire {
    pub(super) fn history_fields(&self) -> Vec<(&'static str, FieldValue)> {
        let Self { questions, criteria, company: _, project: _ } = self;
        vec![("questions", private(questions)), ("criteria", private(criteria))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;
    use crate::samples;

    fn question(number: u8, position: u32) -> Question {
        Question {
            id: Id::from_bytes([number; 16]),
            revision: 1,
            position,
            text: QuestionText::parse("Why us?").unwrap(),
            former_texts: Vec::new(),
            kind: QuestionKind::Video,
            video: None,
            preparation_seconds: None,
            answer_seconds: ANSWER_SECONDS,
            takes: Some(3),
            is_required: true,
            internal_description: TextLines::default(),
            anchors: Anchors::default(),
        }
    }

    fn questionnaire(questions: impl IntoIterator<Item = Question>) -> Questionnaire {
        let empty = Questionnaire::new(samples::company().id, samples::project().id);
        questions
            .into_iter()
            .fold(empty, |questionnaire, question| questionnaire.with_question(question).unwrap())
    }

    #[test]
    fn questions_are_sorted_by_positions_that_are_unique() {
        let two = questionnaire([question(1, 7), question(2, 3)]);
        assert_eq!(two.questions.iter().map(|question| question.position).collect::<Vec<_>>(), [3, 7]);
        assert_eq!(two.next_question_position(), 8);
        assert_eq!(two.next_criterion_position(), 1);
        assert_eq!(two.clone().with_question(question(3, 7)), Err(NotPlaced::PositionTaken));
        assert_eq!(two.clone().with_question(question(1, 3)), Err(NotPlaced::PositionTaken));
        let moved = two.with_question(question(1, 1)).unwrap();
        assert_eq!(moved.questions.iter().map(|question| question.position).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(moved.without_question(Id::from_bytes([1; 16])), questionnaire([question(2, 3)]));
    }

    #[test]
    fn a_project_has_at_most_thirty_questions() {
        let full = questionnaire((1..=30).map(|number| question(number, number.into())));
        assert_eq!(full.clone().with_question(question(31, 31)), Err(NotPlaced::Refused(TOO_MANY_QUESTIONS)));
        assert!(full.with_question(question(30, 31)).is_ok(), "replaces one");
    }

    #[test]
    fn only_real_changes_count_as_revisions() {
        let one = questionnaire([question(1, 1)]);
        assert_eq!(one.clone().with_question(question(1, 1)).unwrap(), one);
        let changed = one.with_question(Question { is_required: false, ..question(1, 1) }).unwrap();
        assert_eq!(changed.questions[0].revision, 2);
    }

    #[test]
    fn former_texts_are_kept_under_their_numbers_and_bounded() {
        let text = |text: &str| QuestionText::parse(text).unwrap();
        let reworded = |before: &Questionnaire, new: QuestionText| {
            before.clone().with_question(Question { text: new, ..before.questions[0].clone() })
        };
        let one = questionnaire([question(1, 1)]);
        let two = reworded(&one, text("Why not?")).unwrap();
        let three = reworded(&two, text("Why us?")).unwrap();
        let asked = &three.questions[0];
        let texts: Vec<_> = (0..=asked.wording()).map(|number| asked.text_in(number).to_string()).collect();
        assert_eq!(texts, ["Why us?", "Why not?", "Why us?"]);
        assert_eq!(reworded(&three, text("Why us?")).unwrap(), three, "the same text is no change");
        for (before, after) in [(&one, &two), (&one, &three), (&two, &three)] {
            assert!(before.has_its_texts_in(after));
            assert!(!after.has_its_texts_in(before));
        }
        assert!(!one.has_its_texts_in(&two.clone().without_former_texts()));
        let mut all = one;
        let refused = (0..).find_map(|number| match reworded(&all, text(&format!("{number:0>1000}"))) {
            Ok(after) => {
                all = after;
                None
            }
            Err(refusal) => Some(refusal),
        });
        assert_eq!(refused, Some(NotPlaced::Refused(TOO_MANY_TEXTS)));
        assert_eq!(all.questions[0].wording(), MAX_FORMER_TEXT_BYTES / 1000);
        assert!(reworded(&all.without_former_texts(), text("Why not?")).is_ok());
    }

    #[test]
    fn texts_may_differ_where_candidates_have_begun() {
        let one = questionnaire([question(1, 1)]);
        let text = QuestionText::parse("Why not?").unwrap();
        let worded = one.clone().with_question(Question { text, ..question(1, 1) }).unwrap();
        assert!(one.asks_the_same_as(&worded));
        for other in [
            Question { position: 2, ..question(1, 1) },
            Question { kind: QuestionKind::Text, ..question(1, 1) },
            Question { video: Some(Id::from_bytes([5; 16])), ..question(1, 1) },
            Question { preparation_seconds: Some(0), ..question(1, 1) },
            Question { answer_seconds: 60, ..question(1, 1) },
            Question { takes: None, ..question(1, 1) },
            Question { is_required: false, ..question(1, 1) },
        ] {
            assert!(!one.asks_the_same_as(&one.clone().with_question(other).unwrap()));
        }
        assert!(!one.asks_the_same_as(&questionnaire([question(1, 1), question(2, 2)])));
        assert!(!one.asks_the_same_as(&questionnaire([])));
        assert!(!one.asks_the_same_as(&questionnaire([question(2, 1)])));
    }
}
