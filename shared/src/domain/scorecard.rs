//! Evaluations that evaluators write: ratings of answers and criteria, a recommendation, and vetos.
//!
//! | type | in | holds |
//! |---|---|---|
//! | [`Evaluation`] | an item of its own | what the evaluator wrote |
//! | [`EvaluationReport`] | the candidate | whether and when it was completed, here or by an event |
//! | [`ScoreNumbers`] | the candidate | the numbers of the scorecard, and its revision |
//! | [`ResultSummary`](super::outcome::ResultSummary) | the item of a result | the completed ones of a candidate, derived from the two above |

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, SubsecRound, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Refusal;
use super::candidate::{Candidate, CandidateStatus, EvaluationReport};
use super::id::{CandidateId, CompanyId, CriterionId, CustomerId, ProjectId, QuestionId, VetoId};
use super::interview::{Interview, InterviewItem};
use super::mean::RatingSum;
use super::names::named;
use super::project::Project;
use super::roster::{EvaluatorIndex, EvaluatorSet};
use super::text::TextLines;

/// The maximum number of ratings in one evaluation: of all questions and criteria.
pub const MAX_RATINGS: usize =
    <super::interview::Question as InterviewItem>::MAX + <super::interview::Criterion as InterviewItem>::MAX;

/// The greatest maximum score that a project can have.
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
/// Named tokens write evaluations of evaluators only.
pub const NOT_EVALUATOR: Refusal =
    Refusal { code: "not_evaluator", detail: "This customer is not an evaluator of the project." };
/// The evaluation of somebody who has vetoed.
pub const VETOED: Refusal = Refusal {
    code: "vetoed",
    detail: "The evaluator has vetoed the candidate, so the evaluation stays completed.",
};
/// The project allows no vetos.
pub const VETO_DISABLED: Refusal =
    Refusal { code: "veto_disabled", detail: "The project allows no vetos. Set its `veto_enabled` first." };
/// One veto is enough.
pub const ALREADY_VETOED: Refusal =
    Refusal { code: "already_vetoed", detail: "You have already vetoed this candidate." };
/// The refusal of an evaluator who has yet to evaluate.
pub const EVALUATE_FIRST: Refusal =
    Refusal { code: "evaluate_first", detail: "Complete your own evaluation of this candidate first." };

named! {
    /// What an evaluator recommends.
    pub enum Recommendation {
        /// Certainly not.
        DefinitelyNo = "definitely_no",
        /// Rather not.
        No = "no",
        /// Rather.
        Yes = "yes",
        /// By all means.
        StrongYes = "strong_yes",
    }
}

/// 15 to 600 characters in several lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, extend("minLength" = 15))]
pub struct VetoComment(TextLines<600>);

impl VetoComment {
    /// Parses `text` like [`TextLines::parse`].
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

/// What a rating is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RatingTarget {
    /// The answer to a question.
    Question(QuestionId),
    /// A criterion.
    Criterion(CriterionId),
}

impl RatingTarget {
    /// Whether it still belongs to the interview.
    pub fn is_in(self, interview: &Interview) -> bool {
        match self {
            Self::Question(id) => interview.find::<super::interview::Question>(id).is_some(),
            Self::Criterion(id) => interview.find::<super::interview::Criterion>(id).is_some(),
        }
    }
}

/// A rating.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rating {
    /// What is rated.
    pub about: RatingTarget,
    /// The value in tenths, from 0 to ten times the maximum of the evaluation.
    pub tenths: u32,
    /// Why.
    pub comment: TextLines<500>,
}

// As clients send it.
impl JsonSchema for Rating {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SentRating".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let reference = |text: &str| json!({ "type": ["string", "null"], "format": "uri-reference", "description": text });
        json_schema!({
            "type": "object",
            "required": ["value"],
            "properties": {
                "question": reference("The question; either this or `criterion`."),
                "criterion": reference("The criterion; either this or `question`."),
                "value": {
                    "type": "number", "minimum": 0,
                    "description": "Up to the project's `maximum_score`, with at most one decimal.",
                },
                "comment": { "type": ["string", "null"], "maxLength": 500, "description": "Why." },
            },
        })
    }
}

/// A veto.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Veto {
    /// Its identifier.
    pub id: VetoId,
    /// Why.
    pub comment: VetoComment,
}

/// What one evaluator has written about a candidate. Whether it is completed is an attribute of the candidate, since
/// events complete evaluations as well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The project's company.
    pub company: CompanyId,
    /// The project.
    pub project: ProjectId,
    /// The candidate.
    pub candidate: CandidateId,
    /// The evaluator.
    pub evaluator: CustomerId,
    /// The project's maximum score when the ratings were saved.
    pub maximum: u32,
    /// At most one for each question and each criterion. Those of deleted criteria stay.
    pub ratings: Vec<Rating>,
    /// What the evaluator recommends.
    pub recommendation: Option<Recommendation>,
    /// The evaluator's note.
    pub comment: TextLines<2000>,
    /// The evaluator's veto.
    pub veto: Option<Veto>,
}

impl Evaluation {
    /// An empty one.
    pub fn new(candidate: &Candidate, evaluator: CustomerId, project: &Project) -> Self {
        Self {
            company: candidate.company.clone(),
            project: candidate.project,
            candidate: candidate.id,
            evaluator,
            maximum: project.settings.maximum_score,
            ratings: Vec::new(),
            recommendation: None,
            comment: TextLines::default(),
            veto: None,
        }
    }

    /// The ratings in short, for the candidate; none without ratings.
    pub fn values(&self) -> Option<RatingValues> {
        let (mut questions, mut criteria) = (BTreeMap::new(), BTreeMap::new());
        for rating in &self.ratings {
            match rating.about {
                RatingTarget::Question(id) => questions.insert(id, rating.tenths),
                RatingTarget::Criterion(id) => criteria.insert(id, rating.tenths),
            };
        }
        (!self.ratings.is_empty()).then_some(RatingValues { maximum: self.maximum, questions, criteria })
    }
}

/// The numbers of a [`Evaluation`], in tenths. Each stands for itself, because what it is about may be deleted.
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
    /// The ratings of what belongs to the interview.
    pub fn ratings(&self, interview: &Interview) -> RatingSum {
        let questions = interview.questions.iter().filter_map(|question| self.questions.get(&question.id));
        let criteria = interview.criteria.iter().filter_map(|criterion| self.criteria.get(&criterion.id));
        let mut ratings = RatingSum { tenths: 0, count: 0, maximum: self.maximum };
        for tenths in questions.chain(criteria) {
            ratings.tenths += tenths;
            ratings.count += 1;
        }
        ratings
    }
}

/// What a candidate's item tells of a [`Evaluation`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreNumbers {
    /// The number of its changes that responses show, deletions included.
    pub revision: u64,
    /// When it was last saved, to the second: earlier events count no more.
    pub saved_at: DateTime<Utc>,
    /// The ratings; none without ratings.
    pub rated: Option<RatingValues>,
    /// The veto.
    pub veto: Option<VetoId>,
}

impl Candidate {
    /// Everyone who has vetoed, evaluators of the project or not.
    pub fn vetos(&self) -> impl Iterator<Item = (CustomerId, VetoId)> {
        self.scores.iter().filter_map(|(customer, score)| Some((*customer, score.veto?)))
    }

    /// The seats of everyone who has vetoed.
    pub fn vetoed_seats(&self) -> EvaluatorSet {
        let seat = |(customer, _)| self.evaluations.get(&customer).map(|evaluation| evaluation.seat);
        self.vetos().filter_map(seat).collect()
    }

    /// Whether `customer` has vetoed.
    pub fn is_vetoed_by(&self, customer: CustomerId) -> bool {
        self.scores.get(&customer).is_some_and(|score| score.veto.is_some())
    }

    /// The revision of an evaluation; 0 before it is first saved.
    pub fn revision_of(&self, evaluator: CustomerId) -> u64 {
        self.scores.get(&evaluator).map_or(0, |score| score.revision)
    }

    /// When `evaluator` completed their evaluation; none if they have not.
    pub fn completed_at(&self, evaluator: CustomerId) -> Option<DateTime<Utc>> {
        self.evaluations.get(&evaluator).filter(|evaluation| evaluation.completed).map(|known| known.at)
    }

    /// Whether `customer` is an evaluator who has yet to evaluate, and so sees nothing that others have written.
    pub fn is_hidden_from(&self, customer: Option<CustomerId>, project: &Project) -> bool {
        project.staff.evaluates(customer).is_some_and(|own| self.completed_at(own).is_none())
    }

    /// The candidate after `card` was saved at `now` in place of `before`, completed or as a draft. Fails with [`VETOED`],
    /// [`NOT_INTERVIEWED`], [`NOTHING_RATED`] and [`NO_SEAT`](super::roster::NO_SEAT).
    pub fn after_saving(
        mut self,
        (before, card): (Option<&Evaluation>, &Evaluation),
        completed: bool,
        interview: &Interview,
        roster: &mut EvaluatorIndex,
        now: DateTime<Utc>,
    ) -> Result<Self, Refusal> {
        if completed {
            self.require_interviewed()?;
            // A project without questions and criteria has nothing to rate.
            if card.ratings.is_empty() && !interview.is_empty() {
                return Err(NOTHING_RATED);
            }
        }
        self.record_completion((card.evaluator, before != Some(card)), completed, roster, now)?.rated =
            card.values();
        Ok(self)
    }

    /// The candidate after `evaluator` took back their evaluation. Fails with [`VETOED`].
    pub fn after_taking_back(
        mut self,
        evaluator: CustomerId,
        roster: &mut EvaluatorIndex,
        now: DateTime<Utc>,
    ) -> Result<Self, Refusal> {
        self.record_completion((evaluator, true), false, roster, now)?.rated = None;
        Ok(self)
    }

    /// The candidate after a veto, which completes the evaluation of its author. Fails with [`VETO_DISABLED`],
    /// [`NOT_INTERVIEWED`], [`ALREADY_VETOED`] and [`NO_SEAT`](super::roster::NO_SEAT).
    pub fn after_veto(
        mut self,
        (evaluator, veto): (CustomerId, VetoId),
        project: &Project,
        roster: &mut EvaluatorIndex,
        now: DateTime<Utc>,
    ) -> Result<Self, Refusal> {
        if !project.settings.veto_enabled {
            return Err(VETO_DISABLED);
        }
        self.require_interviewed()?;
        if self.is_vetoed_by(evaluator) {
            return Err(ALREADY_VETOED);
        }
        self.record_completion((evaluator, true), true, roster, now)?.veto = Some(veto);
        Ok(self)
    }

    fn require_interviewed(&self) -> Result<(), Refusal> {
        let is_interviewed = self.status == CandidateStatus::Interviewed;
        if is_interviewed { Ok(()) } else { Err(NOT_INTERVIEWED) }
    }

    /// Makes the same move as an event about `evaluator` would. Counts the revision of their evaluation if that changes
    /// or `is_new`.
    fn record_completion(
        &mut self,
        (evaluator, is_new): (CustomerId, bool),
        completed: bool,
        roster: &mut EvaluatorIndex,
        now: DateTime<Utc>,
    ) -> Result<&mut ScoreNumbers, Refusal> {
        if !completed && self.is_vetoed_by(evaluator) {
            return Err(VETOED);
        }
        // Events have whole seconds: one of the same second that comes later is later.
        let at = now.trunc_subsecs(0);
        let known = self.evaluations.get(&evaluator);
        let was_completed = known.is_some_and(|known| known.completed);
        // Later than every event so far, even one with a date in the future.
        let moves = was_completed != completed || known.is_some_and(|known| known.at > at);
        if moves {
            let seat = roster.take_seat(evaluator)?;
            self.evaluations.insert(evaluator, EvaluationReport { completed, at, seat });
        }
        let score = self.scores.entry(evaluator).or_default();
        score.revision += u64::from(moves || is_new);
        score.saved_at = at;
        Ok(score)
    }
}
