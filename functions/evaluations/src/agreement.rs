//! How far the evaluators of a project agree.

use axum::Json;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use shared::auth::access::Admitted;
use shared::domain::candidate::CandidateStatus;
use shared::domain::policy::ReadAgreement;
use shared::domain::questionnaire::Questionnaire;
use shared::domain::scoring::agreement::{
    Agreement, EVALUATE_ALL_FIRST, LeftOut, MAX_CANDIDATES, NoAlpha, ProjectAgreement, TOO_MANY_CANDIDATES,
};
use shared::http::example_uri;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::wire::Uri;
use shared::{Error, Result};

use crate::view::EvaluationScope;

/// The agreement of a project's evaluators.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProjectAgreement")]
pub(crate) struct ProjectAgreementView {
    /// The agreement on the answers to each question.
    questions: Vec<QuestionAgreementView>,
    /// The agreement on each criterion.
    criteria: Vec<CriterionAgreementView>,
    /// The agreement on each evaluator's mean rating of a candidate.
    overall: AgreementView,
    /// The agreement on the recommendation.
    recommendation: AgreementView,
    /// The number of evaluations that count.
    #[schemars(example = 131)]
    counted: usize,
    /// The number of evaluations that do not count, by reason; each is listed under its first reason.
    left_out: LeftOutView,
}

/// The agreement of evaluators on the answers to a question.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "QuestionAgreement")]
struct QuestionAgreementView {
    /// The URL of the question.
    #[schemars(example = example_uri::QUESTION)]
    question: Uri,
    #[serde(flatten)]
    agreement: AgreementView,
}

/// The agreement of evaluators on a criterion.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CriterionAgreement")]
struct CriterionAgreementView {
    /// The URL of the criterion.
    #[schemars(example = example_uri::CRITERION)]
    criterion: Uri,
    #[serde(flatten)]
    agreement: AgreementView,
}

/// The agreement of evaluators on one subject.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Agreement")]
struct AgreementView {
    /// Krippendorff's alpha with at most four decimals: 1 for agreement, 0 for chance, less for systematic
    /// disagreement; null with a `reason`.
    #[schemars(example = 0.7104)]
    alpha: Option<Alpha>,
    /// The number of candidates rated by at least two evaluators.
    #[schemars(example = 42)]
    units: usize,
    /// The number of evaluators who gave these ratings.
    #[schemars(example = 5)]
    raters: usize,
    /// The number of these ratings.
    #[schemars(example = 131)]
    values: usize,
    /// Why there is no alpha; null if there is one.
    #[schemars(example = ())]
    reason: Option<NoAlpha>,
}

/// The numbers of evaluations that do not count. Each is listed under the first of these reasons that applies.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LeftOutEvaluations")]
struct LeftOutView {
    /// Evaluations that a named token has written.
    #[schemars(example = 0)]
    by_token: usize,
    /// Evaluations whose author, or a user acting on their behalf, could read others before.
    #[schemars(example = 4)]
    not_blind: usize,
    /// The only evaluations of their candidates.
    #[schemars(example = 12)]
    single: usize,
}

/// An alpha in ten-thousandths.
#[derive(JsonSchema)]
#[schemars(inline, description = "")]
struct Alpha(#[schemars(with = "f64", range(min = -1, max = 1))] i32);

impl Serialize for Alpha {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 % 10_000 {
            // Serialise whole numbers as `1`, like other numbers in responses, not `1.0`.
            0 => serializer.serialize_i32(self.0 / 10_000),
            _ => serializer.serialize_f64(f64::from(self.0) / 10_000.0),
        }
    }
}

impl AgreementView {
    fn new(Agreement { alpha, units, raters, values }: Agreement) -> Self {
        let rounded = alpha.map(|alpha| Alpha((alpha * 10_000.0).round_ties_even() as i32));
        Self { reason: rounded.as_ref().err().copied(), alpha: rounded.ok(), units, raters, values }
    }
}

impl ProjectAgreementView {
    fn new(agreement: ProjectAgreement, scope: EvaluationScope<'_>) -> Self {
        let ProjectAgreement { questions, criteria, overall, recommendation, counted, left_out } = agreement;
        let LeftOut { by_token, not_blind, single } = left_out;
        let questions = questions.into_iter().map(|(question, agreement)| QuestionAgreementView {
            question: scope.question(question),
            agreement: AgreementView::new(agreement),
        });
        let criteria = criteria.into_iter().map(|(criterion, agreement)| CriterionAgreementView {
            criterion: scope.criterion(criterion),
            agreement: AgreementView::new(agreement),
        });
        Self {
            questions: questions.collect(),
            criteria: criteria.collect(),
            overall: AgreementView::new(overall),
            recommendation: AgreementView::new(recommendation),
            counted,
            left_out: LeftOutView { by_token, not_blind, single },
        }
    }
}

/// GET …/results/agreement/
pub(crate) async fn read(
    access: Admitted<Questionnaire, ReadAgreement>,
) -> Result<CommittedResponse<Json<ProjectAgreementView>>> {
    let project = &access.target.project;
    let counts = &access.target.counts;
    // Check first, without further reads: the loaded counts suffice.
    if counts.awaiting_evaluation(project, access.caller.customer()).is_some_and(|waiting| waiting > 0) {
        return Err(Error::Forbidden(EVALUATE_ALL_FIRST));
    }
    if counts.with_status(CandidateStatus::Interviewed) > MAX_CANDIDATES {
        return Err(TOO_MANY_CANDIDATES.into());
    }
    let questionnaire = &access.target.questionnaire;
    let agreement = ProjectAgreement::of(access.store.first_judgements(project).await?, questionnaire);
    let scope = EvaluationScope::new(project, questionnaire, access.references());
    access.show(ProjectAgreementView::new(agreement, scope))
}
