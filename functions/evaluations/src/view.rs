//! Views of evaluations, vetoes and results.

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

/// The project and the questionnaire of evaluations.
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

    /// The ratings of existing questions and criteria, on the project's current scale, followed by comments without a
    /// value.
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

    /// The URL of the rated question or criterion.
    fn rated(&self, target: RatingTarget) -> (Option<Uri>, Option<Uri>) {
        match target {
            RatingTarget::Question(question) => (Some(self.question(question)), None),
            RatingTarget::Criterion(criterion) => (None, Some(self.criterion(criterion))),
        }
    }

    /// The values of existing questions and criteria, in the order of the questionnaire and on the project's current
    /// scale.
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
    /// The URL of the question; null in ratings of criteria.
    #[schemars(example = example_uri::QUESTION)]
    question: Option<Uri>,
    /// The URL of the criterion; null in ratings of questions.
    #[schemars(example = None::<Uri>)]
    criterion: Option<Uri>,
    /// From 0 to the project's `maximum_score`, with at most one decimal; null for a comment without a rating, which
    /// does not count.
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
    /// The URL of the question; null for criteria.
    #[schemars(example = example_uri::QUESTION)]
    question: Option<Uri>,
    /// The URL of the criterion; null for questions.
    #[schemars(example = None::<Uri>)]
    criterion: Option<Uri>,
    /// The value on the scale of the current `maximum_score`.
    #[schemars(example = 3)]
    value: Decimal,
}

/// The content of an evaluation when it was first completed, without texts. Later changes do not affect it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FirstJudgement")]
struct FirstJudgementView {
    /// When the evaluation was first completed.
    completed_at: Timestamp,
    /// The recommendation of the evaluator; null if they made none.
    recommendation: Option<Recommendation>,
    /// The values of the ratings.
    ratings: Vec<ValueView>,
    /// Whether the evaluator had no access to other evaluations or vetoes of the candidate before. If there was one,
    /// owners, admins, interview managers and reviewers had access, and so had users acting on behalf of the evaluator;
    /// only their roles at that time count.
    #[schemars(example = true)]
    blind: bool,
    /// Whether a named token wrote it on behalf of the evaluator.
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
    /// The URL of the evaluated candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Uri,
    /// The URL of the evaluator.
    #[schemars(example = example_uri::CUSTOMER)]
    evaluator: Uri,
    /// The ratings, followed by comments without a rating.
    ratings: Vec<RatingView>,
    /// The maximum rating: the project's current `maximum_score`.
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
    /// When the evaluation was last changed after its first completion; null if it was not.
    #[schemars(example = ())]
    changed_at: Option<Timestamp>,
}

impl EvaluationView {
    /// The view of an evaluator's evaluation of a candidate. `evaluation` is `None` if only an event has completed it.
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
    /// The URL of the candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Uri,
    /// The URL of the evaluator.
    #[schemars(example = example_uri::CUSTOMER)]
    evaluator: Uri,
}

impl VetoView {
    /// The view of the veto in an evaluation.
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
    /// The URL of the question.
    #[schemars(example = example_uri::QUESTION)]
    pub(crate) question: Uri,
    /// The text of the question when the candidate answered it; the current text if they have not answered it here.
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
    /// The URL of the criterion.
    #[schemars(example = example_uri::CRITERION)]
    pub(crate) criterion: Uri,
    /// The mean of all ratings, with at most two decimals; null without ratings.
    #[schemars(example = 4.5)]
    pub(crate) average_rating: Option<Decimal>,
}

/// A rating by an evaluator.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ResultRating")]
pub(crate) struct ResultRatingView {
    /// The URL of the question; null in ratings of criteria.
    #[schemars(example = example_uri::QUESTION)]
    question: Option<Uri>,
    /// The URL of the criterion; null in ratings of questions.
    #[schemars(example = None::<Uri>)]
    criterion: Option<Uri>,
    /// The URL of the evaluator.
    #[schemars(example = example_uri::CUSTOMER)]
    evaluator: Uri,
    /// The value on the scale of the current `maximum_score`.
    #[schemars(example = 4)]
    value: Decimal,
    /// The reason for the rating.
    #[schemars(example = &"Clear and to the point.")]
    comment: String,
}

impl ResultRatingView {
    /// The ratings of an evaluation, without comments that have no value.
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
    /// The URL of the evaluator.
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

/// The mean in hundredths, as responses show it.
pub(crate) fn decimal(mean: RatingMean) -> Option<Decimal> {
    mean.hundredths().map(Decimal::of_hundredths)
}
