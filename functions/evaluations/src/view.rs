//! Evaluations, vetoes and results as clients see them.

use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::candidate::Candidate;
use shared::domain::evaluation::mean::RatingMean;
use shared::domain::evaluation::{
    Evaluation, FirstJudgement, RatingTarget, RatingValues, Recommendation, Veto,
};
use shared::domain::id::{CandidateId, CriterionId, CustomerId, QuestionId, VetoId};
use shared::domain::project::Project;
use shared::domain::questionnaire::Questionnaire;
use shared::domain::scale::rescaled;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::wire::{Decimal, Identifier, Timestamp, Uri};

/// The project and the questionnaire that a view belongs to.
#[derive(Clone, Copy)]
pub(crate) struct EvaluationScope<'a> {
    pub(crate) project: &'a Project,
    pub(crate) questionnaire: &'a Questionnaire,
    pub(crate) references: ReferenceUris<'a>,
}

impl<'a> EvaluationScope<'a> {
    pub(crate) fn new(
        project: &'a Project,
        questionnaire: &'a Questionnaire,
        references: ReferenceUris<'a>,
    ) -> Self {
        Self { project, questionnaire, references }
    }

    pub(crate) fn question(&self, question: QuestionId) -> Uri {
        self.references.uri_in_project(&self.project.company, self.project.id, question)
    }

    pub(crate) fn criterion(&self, criterion: CriterionId) -> Uri {
        self.references.uri_in_project(&self.project.company, self.project.id, criterion)
    }

    pub(crate) fn customer(&self, customer: CustomerId) -> Uri {
        self.references.uri(&self.project.company, customer)
    }

    pub(crate) fn candidate(&self, candidate: CandidateId) -> Uri {
        self.references.uri_in_project(&self.project.company, self.project.id, candidate)
    }

    pub(crate) fn page(&self, candidate: CandidateId) -> Uri {
        self.references.candidate_page(&self.project.company, self.project.id, candidate)
    }

    pub(crate) fn evaluation(&self, candidate: CandidateId, evaluator: CustomerId) -> Uri {
        self.candidate(candidate).join("evaluations").join(evaluator)
    }

    pub(crate) fn results(&self) -> Uri {
        self.references.uri(&self.project.company, self.project.id).join("results")
    }

    /// The ratings whose questions and criteria still exist, on today's scale, then such comments without a value.
    fn ratings(self, evaluation: &Evaluation) -> impl Iterator<Item = RatingView> {
        let scale = self.project.settings.maximum_score;
        let maximum = evaluation.maximum;
        let ratings = evaluation.ratings.iter().map(move |rating| {
            let value = Decimal::of_tenths(rescaled(rating.tenths, maximum, scale));
            (rating.target, Some(value), &rating.comment)
        });
        let remarks = evaluation.remarks.iter().map(|remark| (remark.target, None, &remark.comment));
        let existing = ratings.chain(remarks).filter(move |(target, ..)| target.is_in(self.questionnaire));
        existing.map(move |(target, value, comment)| {
            let (question, criterion) = self.rated(target);
            RatingView { question, criterion, value, comment: comment.to_string() }
        })
    }

    /// The question or the criterion that is rated.
    fn rated(&self, target: RatingTarget) -> (Option<Uri>, Option<Uri>) {
        match target {
            RatingTarget::Question(question) => (Some(self.question(question)), None),
            RatingTarget::Criterion(criterion) => (None, Some(self.criterion(criterion))),
        }
    }

    /// The values whose questions and criteria still exist, in the order of these, on today's scale.
    fn values(&self, values: &RatingValues) -> Vec<ValueView> {
        let scale = self.project.settings.maximum_score;
        let view = |target, tenths: &u32| {
            let (question, criterion) = self.rated(target);
            let value = Decimal::of_tenths(rescaled(*tenths, values.maximum, scale));
            ValueView { question, criterion, value }
        };
        let questions = self.questionnaire.questions.iter();
        let questions = questions
            .filter_map(|one| Some(view(RatingTarget::Question(one.id), values.questions.get(&one.id)?)));
        let criteria = self.questionnaire.criteria.iter();
        let criteria = criteria
            .filter_map(|one| Some(view(RatingTarget::Criterion(one.id), values.criteria.get(&one.id)?)));
        questions.chain(criteria).collect()
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
    /// From 0 to the project's `maximum_score`, with at most one decimal; null for a comment alone, which counts for nothing.
    #[schemars(example = 4)]
    value: Option<Decimal>,
    /// The reason for the rating.
    #[schemars(example = &"Clear and to the point.")]
    comment: String,
}

/// The value of an answer or of a criterion.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RatedValue")]
struct ValueView {
    /// The question; null for criteria.
    #[schemars(example = example_uri::QUESTION)]
    question: Option<Uri>,
    /// The criterion; null for questions.
    #[schemars(example = None::<Uri>)]
    criterion: Option<Uri>,
    /// On the scale of today's `maximum_score`.
    #[schemars(example = 3)]
    value: Decimal,
}

/// The content of an evaluation when it was first completed, without its texts. Later changes leave it as it is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FirstJudgement")]
struct FirstJudgementView {
    /// When the evaluation was first completed.
    completed_at: Timestamp,
    /// The recommendation of the evaluator; null if they made none.
    recommendation: Option<Recommendation>,
    /// The values of the ratings.
    ratings: Vec<ValueView>,
    /// Whether the evaluator could read no other evaluation or veto of the candidate before. Owners, admins, interview managers and
    /// reviewers count as readers as soon as there is one, and so does who acts on behalf of the evaluator; roles that they had before
    /// do not count.
    #[schemars(example = true)]
    blind: bool,
    /// Whether a named token has written it on behalf of the evaluator.
    #[schemars(example = false)]
    by_token: bool,
}

impl FirstJudgementView {
    fn new(first: &FirstJudgement, scope: EvaluationScope<'_>) -> Self {
        let FirstJudgement { completed_at, recommendation, rated, blind, by_token } = first;
        Self {
            completed_at: Timestamp(*completed_at),
            recommendation: *recommendation,
            ratings: rated.as_ref().map(|values| scope.values(values)).unwrap_or_default(),
            blind: *blind,
            by_token: *by_token,
        }
    }
}

/// An evaluation.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Evaluation")]
pub(crate) struct EvaluationView {
    id: Identifier<CustomerId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::EVALUATION)]
    resource_uri: Uri,
    /// The candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Uri,
    /// The customer who evaluates.
    #[schemars(example = example_uri::CUSTOMER)]
    evaluator: Uri,
    /// The ratings, then the comments without a value.
    ratings: Vec<RatingView>,
    /// The greatest rating possible: the project's `maximum_score` of today.
    #[schemars(example = 5)]
    maximum_score: u32,
    /// The recommendation of the evaluator; null if they make none.
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
    /// The content of the evaluation when it was first completed; null before, and if only an event or a veto has completed it.
    first: Option<FirstJudgementView>,
    /// When the evaluation was last changed after that; null before any change.
    #[schemars(example = ())]
    changed_at: Option<Timestamp>,
}

impl EvaluationView {
    /// The view of an evaluation of a candidate; `evaluation` is `None` if only an event has completed it.
    pub(crate) fn new(
        candidate: &Candidate,
        evaluator: CustomerId,
        evaluation: Option<&Evaluation>,
        scope: EvaluationScope<'_>,
    ) -> Self {
        let completed_at = candidate.completed_at(evaluator);
        Self {
            id: Identifier(evaluator),
            resource_uri: scope.evaluation(candidate.id, evaluator),
            candidate: scope.candidate(candidate.id),
            evaluator: scope.customer(evaluator),
            ratings: evaluation.into_iter().flat_map(|evaluation| scope.ratings(evaluation)).collect(),
            maximum_score: scope.project.settings.maximum_score,
            recommendation: evaluation.and_then(|evaluation| evaluation.recommendation),
            comment: evaluation.map(|evaluation| evaluation.comment.to_string()).unwrap_or_default(),
            completed: completed_at.is_some(),
            completed_at: completed_at.map(Timestamp),
            first: evaluation
                .and_then(|evaluation| evaluation.first.as_ref())
                .map(|first| FirstJudgementView::new(first, scope)),
            changed_at: evaluation.and_then(|evaluation| evaluation.changed_at).map(Timestamp),
        }
    }
}

/// A veto.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Veto")]
pub(crate) struct VetoView {
    id: Identifier<VetoId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::VETO)]
    resource_uri: Uri,
    /// The reason for the veto.
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
    pub(crate) fn new(veto: &Veto, evaluation: &Evaluation, scope: EvaluationScope<'_>) -> Self {
        let candidate = scope.candidate(evaluation.candidate);
        Self {
            id: Identifier(veto.id),
            resource_uri: candidate.join("vetos").join(veto.id),
            comment: veto.comment.to_string(),
            candidate,
            evaluator: scope.customer(evaluation.evaluator),
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
    /// The text of the question as the candidate was asked it; today's text if they have not answered it here.
    #[schemars(example = &"Which project are you most proud of?")]
    pub(crate) question_text: String,
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
    /// The reason for the rating.
    #[schemars(example = &"Clear and to the point.")]
    comment: String,
}

impl ResultRatingView {
    /// The views of the ratings in an evaluation, without the comments that have no value.
    pub(crate) fn all_of(evaluation: &Evaluation, scope: EvaluationScope<'_>) -> impl Iterator<Item = Self> {
        let evaluator = scope.customer(evaluation.evaluator);
        scope.ratings(evaluation).filter_map(move |rating| {
            let RatingView { question, criterion, value, comment } = rating;
            Some(Self { question, criterion, evaluator: evaluator.clone(), value: value?, comment })
        })
    }
}

/// A completed evaluation without its ratings.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ResultEvaluation")]
pub(crate) struct ResultEvaluationView {
    /// The customer who evaluated.
    #[schemars(example = example_uri::CUSTOMER)]
    pub(crate) evaluator: Uri,
    /// The recommendation of the evaluator; null if they make none.
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
