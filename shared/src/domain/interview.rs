//! The interview of a project: the questions that candidates answer, and the criteria by which evaluators rate them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Refusal;
use super::history::{EventType, FieldChanges, FieldValue, HasHistory, ResourceChange, private};
use super::id::{CompanyId, CriterionId, Id, ProjectId, QuestionId, VideoId};
use super::names::named;
use super::project::Project;
use super::text::{TextLine, TextLines};

/// The greatest position of a question or a criterion.
pub const MAX_POSITION: u32 = 1_000_000;
/// The maximum number of seconds to prepare or to give an answer.
pub const MAX_SECONDS: u32 = 600;
/// The default number of seconds to answer.
pub const ANSWER_SECONDS: u32 = 120;
/// The maximum number of takes.
pub const MAX_TAKES: u32 = 10;

/// The project has the maximum number of questions.
pub const TOO_MANY_QUESTIONS: Refusal =
    Refusal { code: "too_many_questions", detail: "A project may have 30 questions. Delete one first." };
/// The project has the maximum number of criteria.
pub const TOO_MANY_CRITERIA: Refusal =
    Refusal { code: "too_many_criteria", detail: "A project may have 20 criteria. Delete one first." };
/// A candidate has begun the interview.
pub const QUESTIONS_IN_USE: Refusal = Refusal {
    code: "questions_in_use",
    detail: "A candidate has begun the interview. Only `text` and `internal_description` of questions can still change.",
};

/// The default number of takes: after a time to prepare, one.
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

/// Up to 1,000 characters in several lines, not blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct QuestionText(TextLines<1000>);

impl QuestionText {
    /// Parses `text` like [`TextLines::parse`].
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLines::parse_visible(text).map(Self)
    }
}

impl fmt::Display for QuestionText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One line of at most 100 characters, not blank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 1))]
pub struct CriterionName(TextLine<100>);

impl CriterionName {
    /// Parses `text` like [`TextLine::parse`].
    pub fn parse(text: &str) -> Result<Self, String> {
        TextLine::parse_visible(text).map(Self)
    }
}

impl fmt::Display for CriterionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its identifier.
    pub id: QuestionId,
    /// The number of its changes, from 1.
    pub revision: u64,
    /// Unique among the project's questions, which are sorted by it.
    pub position: u32,
    /// The question itself.
    pub text: QuestionText,
    /// How candidates answer.
    pub kind: QuestionKind,
    /// The welcome video in which somebody asks the question.
    pub video: Option<VideoId>,
    /// Seconds to prepare.
    pub preparation_seconds: Option<u32>,
    /// The maximum length of an answer in seconds.
    pub answer_seconds: u32,
    /// How often candidates may record an answer; none for no limit.
    pub takes: Option<u32>,
    /// Whether candidates must answer.
    pub is_required: bool,
    /// Shown to staff only.
    pub internal_description: TextLines<1000>,
}

/// A criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// Its identifier.
    pub id: CriterionId,
    /// The number of its changes, from 1.
    pub revision: u64,
    /// Unique among the project's criteria, which are sorted by it.
    pub position: u32,
    /// The display name.
    pub name: CriterionName,
    /// The meaning of the criterion.
    pub description: TextLines<1000>,
}

/// A question or a criterion: a part of an interview.
pub trait InterviewItem: Clone + PartialEq + Sized {
    /// The type of its identifier.
    type Of;
    /// The maximum number in one project.
    const MAX: usize;
    /// The refusal of one more.
    const TOO_MANY: Refusal;

    /// All parts of this kind, in the order of their positions.
    fn all(interview: &Interview) -> &Vec<Self>;
    /// All parts of this kind, in the order of their positions.
    fn all_mut(interview: &mut Interview) -> &mut Vec<Self>;
    /// Its identifier.
    fn id(&self) -> Id<Self::Of>;
    /// Its place among the others of its kind.
    fn position(&self) -> u32;
    /// The number of its changes.
    fn revision(&self) -> u64;
    /// The part as a change with this number.
    fn in_revision(self, revision: u64) -> Self;
}

macro_rules! part {
    ($part:ident in $all:ident, $of:ident, at most $max:literal, else $too_many:ident) => {
        impl InterviewItem for $part {
            type Of = super::id::mark::$of;
            const MAX: usize = $max;
            const TOO_MANY: Refusal = $too_many;

            fn all(interview: &Interview) -> &Vec<Self> {
                &interview.$all
            }

            fn all_mut(interview: &mut Interview) -> &mut Vec<Self> {
                &mut interview.$all
            }

            fn id(&self) -> Id<Self::Of> {
                self.id
            }

            fn position(&self) -> u32 {
                self.position
            }

            fn revision(&self) -> u64 {
                self.revision
            }

            fn in_revision(self, revision: u64) -> Self {
                Self { revision, ..self }
            }
        }
    };
}

part!(Question in questions, Question, at most 30, else TOO_MANY_QUESTIONS);
part!(Criterion in criteria, Criterion, at most 20, else TOO_MANY_CRITERIA);

/// Why a question or a criterion is not added or changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotPlaced {
    /// The current state does not allow it.
    Refused(Refusal),
    /// Another one has the position.
    PositionTaken,
}

/// The questions and criteria of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interview {
    /// The project's company.
    pub company: CompanyId,
    /// The project.
    pub project: ProjectId,
    /// The questions, in the order of their positions.
    pub questions: Vec<Question>,
    /// The criteria, in the order of their positions.
    pub criteria: Vec<Criterion>,
}

impl Interview {
    /// An interview without questions and criteria.
    pub fn new(company: CompanyId, project: ProjectId) -> Self {
        Self { company, project, questions: Vec::new(), criteria: Vec::new() }
    }

    /// Whether there is nothing to rate.
    pub fn is_empty(&self) -> bool {
        self.questions.is_empty() && self.criteria.is_empty()
    }

    /// The part with this identifier.
    pub fn find<P: InterviewItem>(&self, id: Id<P::Of>) -> Option<&P> {
        P::all(self).iter().find(|part| part.id() == id)
    }

    /// The position after all parts of a kind.
    pub fn last_position<P: InterviewItem>(&self) -> u32 {
        P::all(self).last().map_or(1, |last| last.position() + 1)
    }

    /// Adds a part, or replaces the one with its identifier, which then is in its next revision.
    pub fn with<P: InterviewItem>(mut self, part: P) -> Result<Self, NotPlaced> {
        let all = P::all_mut(&mut self);
        let place = all.iter().position(|old| old.id() == part.id());
        if all.iter().any(|other| other.position() == part.position() && other.id() != part.id()) {
            return Err(NotPlaced::PositionTaken);
        }
        match place {
            Some(place) if all[place] == part => {}
            Some(place) => all[place] = part.in_revision(all[place].revision() + 1),
            None if all.len() >= P::MAX => return Err(NotPlaced::Refused(P::TOO_MANY)),
            None => all.push(part),
        }
        all.sort_by_key(P::position);
        Ok(self)
    }

    /// Removes a part.
    pub fn without<P: InterviewItem>(mut self, id: Id<P::Of>) -> Self {
        P::all_mut(&mut self).retain(|part| part.id() != id);
        self
    }

    /// Removes a video from the questions that show it.
    pub fn without_video(mut self, video: VideoId) -> Self {
        for question in self.questions.iter_mut().filter(|question| question.video == Some(video)) {
            question.video = None;
            // The ETag of a question is its revision.
            question.revision += 1;
        }
        self
    }

    /// Whether a question shows this video.
    pub fn shows(&self, video: VideoId) -> bool {
        self.questions.iter().any(|question| question.video == Some(video))
    }

    /// Whether candidates who have begun can continue after a change to `after`: its questions differ in their texts at
    /// most.
    pub fn asks_the_same_as(&self, after: &Self) -> bool {
        // A candidate who has begun may see a corrected text, but not another question.
        let but_texts = |question: &Question, of: &Question| Question {
            text: of.text.clone(),
            internal_description: of.internal_description.clone(),
            revision: of.revision,
            ..question.clone()
        };
        self.questions.len() == after.questions.len()
            && self.questions.iter().zip(&after.questions).all(|(old, new)| but_texts(old, new) == *new)
    }
}

impl Interview {
    /// The change of `project` by new questions and criteria, which are a part of it.
    pub(crate) fn change(project: &Project, before: &Self, after: &Self) -> ResourceChange {
        // Along with the fields of the project, so that the event shows the project's facts.
        let before = [project.history_fields(), before.history_fields()].concat();
        let after = [project.history_fields(), after.history_fields()].concat();
        let (company, resource) = project.place();
        let changes = FieldChanges::between(Some(before), after);
        ResourceChange::new(company, resource, vec![EventType::ProjectUpdated], changes)
    }

    fn history_fields(&self) -> Vec<(&'static str, FieldValue)> {
        let Self { questions, criteria, company: _, project: _ } = self;
        vec![("questions", private(questions)), ("criteria", private(criteria))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::samples;

    fn question(number: u8, position: u32) -> Question {
        Question {
            id: Id::from_bytes([number; 16]),
            revision: 1,
            position,
            text: QuestionText::parse("Why us?").unwrap(),
            kind: QuestionKind::Video,
            video: None,
            preparation_seconds: None,
            answer_seconds: ANSWER_SECONDS,
            takes: Some(3),
            is_required: true,
            internal_description: TextLines::default(),
        }
    }

    fn interview(questions: impl IntoIterator<Item = Question>) -> Interview {
        let empty = Interview::new(samples::company().id, samples::project().id);
        questions.into_iter().fold(empty, |interview, question| interview.with(question).unwrap())
    }

    #[test]
    fn parts_are_sorted_by_positions_that_are_unique() {
        let two = interview([question(1, 7), question(2, 3)]);
        assert_eq!(two.questions.iter().map(|one| one.position).collect::<Vec<_>>(), [3, 7]);
        assert_eq!(two.last_position::<Question>(), 8);
        assert_eq!(two.last_position::<Criterion>(), 1);
        assert_eq!(two.clone().with(question(3, 7)), Err(NotPlaced::PositionTaken));
        assert_eq!(two.clone().with(question(1, 3)), Err(NotPlaced::PositionTaken));
        let moved = two.with(question(1, 1)).unwrap();
        assert_eq!(moved.questions.iter().map(|one| one.position).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(moved.without::<Question>(Id::from_bytes([1; 16])), interview([question(2, 3)]));
    }

    #[test]
    fn a_project_has_at_most_thirty_questions() {
        let full = interview((1..=30).map(|number| question(number, number.into())));
        assert_eq!(full.clone().with(question(31, 31)), Err(NotPlaced::Refused(TOO_MANY_QUESTIONS)));
        assert!(full.with(question(30, 31)).is_ok(), "replaces one");
    }

    #[test]
    fn only_real_changes_count_as_revisions() {
        let one = interview([question(1, 1)]);
        assert_eq!(one.clone().with(question(1, 1)).unwrap(), one);
        let changed = one.with(Question { is_required: false, ..question(1, 1) }).unwrap();
        assert_eq!(changed.questions[0].revision, 2);
    }

    #[test]
    fn texts_may_differ_where_candidates_have_begun() {
        let one = interview([question(1, 1)]);
        let text = QuestionText::parse("Why not?").unwrap();
        let worded = one.clone().with(Question { text, ..question(1, 1) }).unwrap();
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
            assert!(!one.asks_the_same_as(&one.clone().with(other).unwrap()));
        }
        assert!(!one.asks_the_same_as(&interview([question(1, 1), question(2, 2)])));
        assert!(!one.asks_the_same_as(&interview([])));
        assert!(!one.asks_the_same_as(&interview([question(2, 1)])));
    }
}
