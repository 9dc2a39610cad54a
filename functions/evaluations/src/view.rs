//! Evaluations, vetos and results as clients see them.

use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::access::RatedCandidate;
use shared::domain::candidate::Candidate;
use shared::domain::id::{CandidateId, CustomerId};
use shared::domain::interview::Interview;
use shared::domain::mean::{RatingMean, rescaled};
use shared::domain::project::Project;
use shared::domain::scorecard::{Evaluation, Rating, RatingTarget, Recommendation, Veto};
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::wire::{Decimal, Timestamp, Uri};

/// What a view is about: a project and what is rated in it.
#[derive(Clone, Copy)]
pub(crate) struct EvaluationScope<'a> {
    pub(crate) project: &'a Project,
    pub(crate) interview: &'a Interview,
    pub(crate) references: ReferenceUris<'a>,
}

impl<'a> EvaluationScope<'a> {
    pub(crate) fn new(of: &'a RatedCandidate, references: ReferenceUris<'a>) -> Self {
        Self { project: &of.project, interview: &of.interview, references }
    }

    /// The references of what is rated: a question, or a criterion.
    pub(crate) fn rated(&self, about: RatingTarget) -> (Option<Uri>, Option<Uri>) {
        let Project { company, id, .. } = self.project;
        match about {
            RatingTarget::Question(question) => {
                (Some(self.references.question(company, *id, question)), None)
            }
            RatingTarget::Criterion(criterion) => {
                (None, Some(self.references.criterion(company, *id, criterion)))
            }
        }
    }

    pub(crate) fn customer(&self, customer: CustomerId) -> Uri {
        self.references.customer(&self.project.company, customer)
    }

    pub(crate) fn candidate(&self, candidate: CandidateId) -> Uri {
        self.references.candidate(&self.project.company, self.project.id, candidate)
    }

    pub(crate) fn evaluation(&self, candidate: CandidateId, evaluator: CustomerId) -> Uri {
        self.candidate(candidate).join("evaluations").join(evaluator)
    }

    /// The ratings that count, with their values on today's scale.
    pub(crate) fn ratings<'b>(&self, card: &'b Evaluation) -> impl Iterator<Item = (&'b Rating, Decimal)> {
        let (scale, maximum) = (self.project.settings.maximum_score, card.maximum);
        let there = card.ratings.iter().filter(|rating| rating.about.is_in(self.interview));
        there.map(move |rating| (rating, Decimal::of_tenths(rescaled(rating.tenths, maximum, scale))))
    }
}

/// A rating of an answer or of a criterion.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Rating")]
pub(crate) struct RatingView {
    /// The question; null in ratings of criteria.
    #[schemars(example = example_uri::QUESTION)]
    question: Option<Uri>,
    /// The criterion; null in ratings of questions.
    #[schemars(example = None::<Uri>)]
    criterion: Option<Uri>,
    /// From 0 to the project's `maximum_score`, with at most one decimal.
    #[schemars(example = 4)]
    value: Decimal,
    /// Why.
    #[schemars(example = &"Clear and to the point.")]
    comment: String,
}

/// An evaluation.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Evaluation")]
pub(crate) struct EvaluationView {
    /// The URL of the resource.
    #[schemars(example = example_uri::EVALUATION)]
    resource_uri: Uri,
    /// The candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Uri,
    /// The customer who evaluates.
    #[schemars(example = example_uri::CUSTOMER)]
    evaluator: Uri,
    /// The ratings.
    ratings: Vec<RatingView>,
    /// The greatest rating possible: the project's `maximum_score` of today.
    #[schemars(example = 5)]
    maximum_score: u32,
    /// What the evaluator recommends; null for nothing.
    #[schemars(example = &"strong_yes")]
    recommendation: Option<Recommendation>,
    /// The evaluator's note.
    #[schemars(example = &"I would like to work with her.")]
    comment: String,
    /// Whether the evaluation counts; if not, it is a draft.
    #[schemars(example = true)]
    completed: bool,
    /// When the evaluation was completed; null for a draft.
    completed_at: Option<Timestamp>,
}

impl EvaluationView {
    /// The view of an evaluation of a candidate.
    pub(crate) fn new(
        candidate: &Candidate,
        evaluator: CustomerId,
        card: Option<&Evaluation>,
        of: EvaluationScope<'_>,
    ) -> Self {
        let ratings = card.into_iter().flat_map(|card| of.ratings(card)).map(|(rating, value)| {
            let (question, criterion) = of.rated(rating.about);
            RatingView { question, criterion, value, comment: rating.comment.to_string() }
        });
        let completed_at = candidate.completed_at(evaluator);
        Self {
            resource_uri: of.evaluation(candidate.id, evaluator),
            candidate: of.candidate(candidate.id),
            evaluator: of.customer(evaluator),
            ratings: ratings.collect(),
            maximum_score: of.project.settings.maximum_score,
            recommendation: card.and_then(|card| card.recommendation),
            comment: card.map(|card| card.comment.to_string()).unwrap_or_default(),
            completed: completed_at.is_some(),
            completed_at: completed_at.map(Timestamp),
        }
    }
}

/// A veto.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Veto")]
pub(crate) struct VetoView {
    /// The URL of the resource.
    #[schemars(example = example_uri::VETO)]
    resource_uri: Uri,
    /// Why.
    #[schemars(example = &"Certificates could not be verified.")]
    comment: String,
    /// The candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Uri,
    /// The evaluator.
    #[schemars(example = example_uri::CUSTOMER)]
    evaluator: Uri,
}

impl VetoView {
    /// The view of a veto in an evaluation.
    pub(crate) fn new(veto: &Veto, card: &Evaluation, of: EvaluationScope<'_>) -> Self {
        let candidate = of.candidate(card.candidate);
        Self {
            resource_uri: candidate.join("vetos").join(veto.id),
            comment: veto.comment.to_string(),
            candidate,
            evaluator: of.customer(card.evaluator),
        }
    }
}

/// The average rating of the answers to a question.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "QuestionResult")]
pub(crate) struct QuestionResultView {
    /// The question.
    #[schemars(example = example_uri::QUESTION)]
    pub(crate) question: Uri,
    /// The mean of all ratings, with at most two decimals; null without ratings.
    #[schemars(example = 4.5)]
    pub(crate) average_rating: Option<Decimal>,
}

/// The average rating of a criterion.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CriterionResult")]
pub(crate) struct CriterionResultView {
    /// The criterion.
    #[schemars(example = example_uri::CRITERION)]
    pub(crate) criterion: Uri,
    /// The mean of all ratings, with at most two decimals; null without ratings.
    #[schemars(example = 4.5)]
    pub(crate) average_rating: Option<Decimal>,
}

/// A rating by one of the evaluators.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ResultRating")]
pub(crate) struct ResultRatingView {
    /// The question; null in ratings of criteria.
    #[schemars(example = example_uri::QUESTION)]
    question: Option<Uri>,
    /// The criterion; null in ratings of questions.
    #[schemars(example = None::<Uri>)]
    criterion: Option<Uri>,
    /// The customer who rated.
    #[schemars(example = example_uri::CUSTOMER)]
    evaluator: Uri,
    /// On the scale of today's `maximum_score`.
    #[schemars(example = 4)]
    value: Decimal,
    /// Why.
    #[schemars(example = &"Clear and to the point.")]
    comment: String,
}

impl ResultRatingView {
    /// The views of the ratings in an evaluation.
    pub(crate) fn all_of(card: &Evaluation, of: EvaluationScope<'_>) -> Vec<Self> {
        let ratings = of.ratings(card).map(|(rating, value)| {
            let (question, criterion) = of.rated(rating.about);
            let evaluator = of.customer(card.evaluator);
            Self { question, criterion, evaluator, value, comment: rating.comment.to_string() }
        });
        ratings.collect()
    }
}

/// A completed evaluation without its ratings.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ResultEvaluation")]
pub(crate) struct ResultEvaluationView {
    /// The customer who evaluated.
    #[schemars(example = example_uri::CUSTOMER)]
    pub(crate) evaluator: Uri,
    /// What the evaluator recommends; null for nothing.
    pub(crate) recommendation: Option<Recommendation>,
    /// The evaluator's note.
    #[schemars(example = &"I would like to work with her.")]
    pub(crate) comment: String,
    /// When the evaluation was completed.
    pub(crate) completed_at: Timestamp,
}

/// A mean as clients see it.
pub(crate) fn decimal(mean: RatingMean) -> Option<Decimal> {
    mean.hundredths().map(Decimal::of_hundredths)
}
