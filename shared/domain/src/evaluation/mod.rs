//! Evaluations that evaluators write: ratings of answers and criteria, a recommendation, and vetoes.
//!
//! | type | in | holds |
//! |---|---|---|
//! | [`Evaluation`] | an item of its own | what the evaluator wrote |
//! | [`EvaluationReport`] | the candidate | whether and when it was completed, here or by an event |
//! | [`ScoreNumbers`] | the candidate | the values of the ratings, the veto and the revision |
//! | [`ResultSummary`](super::scoring::result::ResultSummary) | an item of its own | the completed evaluations of a candidate, derived from the candidate |

pub mod evaluator_index;
pub mod mean;

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Refusal;
use super::id::{CandidateId, CompanyId, CriterionId, CustomerId, ProjectId, QuestionId, VetoId};
use super::names::named;
use super::questionnaire::{MAX_CRITERIA, MAX_QUESTIONS, Questionnaire};
use super::scale::rescaled;
use super::text::TextLines;
use evaluator_index::EvaluatorBit;
use mean::RatingSum;

/// The maximum number of ratings in one evaluation: of all questions and criteria.
pub const MAX_RATINGS: usize = MAX_QUESTIONS + MAX_CRITERIA;

/// The highest maximum score that a project can have.
pub const MAX_SCORE: u32 = 1_000;

/// The candidate has not completed the interview.
pub const NOT_INTERVIEWED: Refusal = Refusal {
    code: "not_interviewed",
    detail: "The candidate has not completed the interview. Until then, save the evaluation as a draft.",
};
/// A completed evaluation needs ratings.
pub const NOTHING_RATED: Refusal = Refusal {
    code: "nothing_rated",
    detail: "Rate at least one question or criterion before you complete the evaluation.",
};
/// Named tokens may write evaluations only for evaluators of the project.
pub const NOT_EVALUATOR: Refusal =
    Refusal { code: "not_evaluator", detail: "This customer is not an evaluator of the project." };
/// An evaluator who has vetoed cannot withdraw their evaluation.
pub const VETOED: Refusal = Refusal {
    code: "vetoed",
    detail: "The evaluator has vetoed the candidate, so the evaluation stays completed.",
};
/// The project allows no vetoes.
pub const VETO_DISABLED: Refusal =
    Refusal { code: "veto_disabled", detail: "The project allows no vetoes. Set its `veto_enabled` first." };
/// The evaluator has already vetoed the candidate.
pub const ALREADY_VETOED: Refusal =
    Refusal { code: "already_vetoed", detail: "You have already vetoed this candidate." };
/// The refusal of an evaluator who has yet to evaluate.
pub const EVALUATE_FIRST: Refusal =
    Refusal { code: "evaluate_first", detail: "Complete your own evaluation of this candidate first." };

named! {
    /// The recommendation of an evaluator.
    #[schemars(extend("x-closed-set" = true))]
    pub enum Recommendation {
        /// Certainly not recommended.
        DefinitelyNo = "definitely_no",
        /// Rather not recommended.
        No = "no",
        /// Rather recommended.
        Yes = "yes",
        /// Strongly recommended.
        StrongYes = "strong_yes",
    }
}

/// 15 to 600 characters in several lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 15))]
pub struct VetoComment(TextLines<600>);

impl VetoComment {
    /// Cleans up `text` like [`TextLines::parse`]. Fails if it is too long or has fewer than 15 characters.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = TextLines::parse_visible(text)?;
        if lines.to_string().chars().count() < 15 {
            return Err("Ensure this field has at least 15 characters.".to_owned());
        }
        Ok(Self(lines))
    }
}

impl fmt::Display for VetoComment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The criterion or question that a rating is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RatingTarget {
    /// The answer to a question.
    Question(QuestionId),
    /// A criterion.
    Criterion(CriterionId),
}

impl RatingTarget {
    /// Whether the question or criterion still belongs to the questionnaire.
    pub fn is_in(self, questionnaire: &Questionnaire) -> bool {
        match self {
            Self::Question(id) => questionnaire.question(id).is_some(),
            Self::Criterion(id) => questionnaire.criterion(id).is_some(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rating {
    /// The criterion or question that is rated.
    pub target: RatingTarget,
    /// The value in tenths, from 0 to ten times the maximum of the evaluation.
    pub tenths: u32,
    /// The reason for the rating.
    pub comment: TextLines<500>,
}

/// A comment on a question or a criterion to which the evaluator has given no value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// The question or the criterion that the comment is about.
    pub target: RatingTarget,
    pub comment: TextLines<500>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Veto {
    pub id: VetoId,
    /// The reason for the veto.
    pub comment: VetoComment,
}

/// The judgement of an evaluation when its author first completed it, without texts. Later changes do not affect it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstJudgement {
    /// When the evaluation was first completed, to the second.
    pub completed_at: DateTime<Utc>,
    pub recommendation: Option<Recommendation>,
    /// The values of the ratings; `None` without ratings.
    pub rated: Option<RatingValues>,
    /// Whether the author could not read any other evaluation or veto of the candidate before.
    pub blind: bool,
    /// Whether a named token has written the evaluation on behalf of its author.
    pub by_token: bool,
}

/// One evaluator's texts and ratings about a candidate. The candidate's item stores whether the evaluation is completed, because
/// events complete evaluations too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    pub company: CompanyId,
    pub project: ProjectId,
    pub candidate: CandidateId,
    pub evaluator: CustomerId,
    /// The project's maximum score when the ratings were saved.
    pub maximum: u32,
    /// The ratings, at most one for each question and each criterion. Ratings of deleted criteria stay.
    pub ratings: Vec<Rating>,
    /// The comments on questions and criteria that have no value.
    // Remarks are separate from ratings, so that code that counts ratings need not skip them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// The recommendation; `None` if the evaluator makes none.
    pub recommendation: Option<Recommendation>,
    /// The evaluator's note.
    pub comment: TextLines<2000>,
    /// The evaluator's veto.
    pub veto: Option<Veto>,
    /// The first completed version; `None` if the evaluation was never completed in this service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstJudgement>,
    /// When the evaluation was last changed after its first completion, to the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<DateTime<Utc>>,
    /// Whether the author has deleted the evaluation. Only the first judgement is left then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_withdrawn: bool,
}

impl Evaluation {
    /// The evaluation that replaces `before`. It keeps the fields that its author does not write, and ratings that they read on
    /// another scale and send back.
    pub fn replacing(mut self, before: &Self) -> Self {
        let Self { veto, first, changed_at, ratings, .. } = before.clone();
        let shown = ratings
            .iter()
            .cloned()
            .map(|rating| Rating { tenths: rescaled(rating.tenths, before.maximum, self.maximum), ..rating });
        if shown.eq(self.ratings.iter().cloned()) {
            self = Self { maximum: before.maximum, ratings, ..self };
        }
        Self { veto, first, changed_at, ..self }
    }

    /// The values of the ratings; `None` without ratings.
    pub fn values(&self) -> Option<RatingValues> {
        let mut questions = BTreeMap::new();
        let mut criteria = BTreeMap::new();
        for rating in &self.ratings {
            match rating.target {
                RatingTarget::Question(id) => questions.insert(id, rating.tenths),
                RatingTarget::Criterion(id) => criteria.insert(id, rating.tenths),
            };
        }
        (!self.ratings.is_empty()).then_some(RatingValues { maximum: self.maximum, questions, criteria })
    }
}

/// The values of an evaluator's ratings, in tenths.
// The values are not summed, because ratings of questions and criteria that are deleted later no longer count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatingValues {
    /// The maximum of the scale.
    pub maximum: u32,
    /// The ratings of questions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub questions: BTreeMap<QuestionId, u32>,
    /// The ratings of criteria.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub criteria: BTreeMap<CriterionId, u32>,
}

impl RatingValues {
    /// The sum of all ratings, including those of deleted questions and criteria.
    pub fn sum_of_all(&self) -> RatingSum {
        let mut ratings = RatingSum { tenths: 0, count: 0, maximum: self.maximum };
        for tenths in self.questions.values().chain(self.criteria.values()) {
            ratings.tenths += tenths;
            ratings.count += 1;
        }
        ratings
    }

    /// The sum of the ratings whose questions and criteria still exist.
    pub fn sum(&self, questionnaire: &Questionnaire) -> RatingSum {
        let questions =
            questionnaire.questions.iter().filter_map(|question| self.questions.get(&question.id));
        let criteria = questionnaire.criteria.iter().filter_map(|criterion| self.criteria.get(&criterion.id));
        let mut ratings = RatingSum { tenths: 0, count: 0, maximum: self.maximum };
        for tenths in questions.chain(criteria) {
            ratings.tenths += tenths;
            ratings.count += 1;
        }
        ratings
    }
}

/// The part of an [`Evaluation`] that is repeated in the candidate's item.
// The candidate's item is read anyway, and the summaries of results are written together with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreNumbers {
    /// Counts the changes that responses show, deletions included.
    pub revision: u64,
    /// When the evaluation was last saved, to the second. Events from an earlier time are ignored.
    pub saved_at: DateTime<Utc>,
    /// The values of the ratings; `None` without ratings.
    pub rated: Option<RatingValues>,
    pub veto: Option<VetoId>,
}

/// The last report about a customer's evaluation, made by an event or by saving it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvaluationReport {
    /// Whether the evaluation is complete.
    pub completed: bool,
    /// When the report was made.
    pub at: DateTime<Utc>,
    /// The customer's bit in the project's index of evaluators.
    // Repeated here, so that writing the candidate can update the counters without reading the project.
    pub bit: EvaluatorBit,
}
