//! Candidates' results: means and recommendations over their evaluations.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use axum::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::auth::access::{Admitted, AdmittedRequest, CandidateEvaluations};
use shared::domain::answers::Answers;
use shared::domain::evaluation::mean::RatingMean;
use shared::domain::evaluation::{Evaluation, RatingTarget};
use shared::domain::id::{CandidateId, CustomerId};
use shared::domain::parse_enum;
use shared::domain::policy::ReadProject;
use shared::domain::questionnaire::Questionnaire;
use shared::domain::scoring::result::{ResultSummary, average};
use shared::http::QueryParameters;
use shared::http::example_uri;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::page::PageView;
use shared::http::wire::{Decimal, Identifier, Timestamp, Uri};
use shared::store::CandidateResult;
use shared::store::page::Page;
use shared::{Error, Result};

use crate::view::{
    CriterionResultView, EvaluationScope, QuestionResultView, ResultEvaluationView, ResultRatingView,
    VetoView, decimal,
};

/// The result of a candidate.
///
/// In lists, evaluators who have not evaluated a candidate yet get null instead of other evaluators' data.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Result")]
pub(crate) struct ResultView {
    id: Identifier<CandidateId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::RESULT)]
    resource_uri: Uri,
    /// The URL of the candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Uri,
    /// The page where staff watch and evaluate the candidate's interview.
    #[schemars(example = example_uri::CANDIDATE_PAGE)]
    interview_suite_url: Uri,
    /// The mean over all evaluators of each evaluator's mean rating, with at most two decimals; null without ratings.
    #[schemars(example = 4.25)]
    overall_rating: Option<Decimal>,
    /// The maximum rating: the project's `maximum_score`.
    #[schemars(example = 5)]
    maximum_score: u32,
    /// The questions, in their order.
    question_results: Option<Vec<QuestionResultView>>,
    /// The criteria, in their order.
    criteria_results: Option<Vec<CriterionResultView>>,
    /// All ratings. Comments without a rating are only in the evaluations.
    ratings: Option<Vec<ResultRatingView>>,
    /// The completed evaluations by the project's evaluators.
    evaluations: Option<Vec<ResultEvaluationView>>,
    /// The vetoes of the project's evaluators.
    vetos: Option<Vec<VetoView>>,
}

impl ResultView {
    fn hidden(candidate: CandidateId, scope: EvaluationScope<'_>) -> Self {
        Self {
            id: Identifier(candidate),
            resource_uri: scope.results().join(candidate),
            candidate: scope.candidate(candidate),
            interview_suite_url: scope.page(candidate),
            overall_rating: None,
            maximum_score: scope.project.settings.maximum_score,
            question_results: None,
            criteria_results: None,
            ratings: None,
            evaluations: None,
            vetos: None,
        }
    }

    fn new(
        candidate: CandidateId,
        summary: &ResultSummary,
        evaluations: &HashMap<(CandidateId, CustomerId), Evaluation>,
        answers: Option<&Answers>,
        scope: EvaluationScope<'_>,
    ) -> Self {
        let EvaluationScope { project, questionnaire, .. } = scope;
        let mut views = Vec::new();
        let mut counting = Vec::new();
        for (evaluator, completed) in summary.counting(project) {
            // `None` if only an event has completed the evaluation.
            let evaluation = evaluations.get(&(candidate, evaluator));
            views.push(ResultEvaluationView {
                evaluator: scope.customer(evaluator),
                recommendation: evaluation.and_then(|evaluation| evaluation.recommendation),
                comment: evaluation.map(|evaluation| evaluation.comment.to_string()).unwrap_or_default(),
                completed_at: Timestamp(completed.at),
            });
            counting.extend(evaluation);
        }
        let scale = project.settings.maximum_score;
        let questions = questionnaire.questions.iter().map(|question| QuestionResultView {
            question: scope.question(question.id),
            question_text: answers.map_or(&question.text, |answers| answers.asked_text(question)).to_string(),
            average_rating: decimal(average(RatingTarget::Question(question.id), &counting, scale)),
        });
        let criteria = questionnaire.criteria.iter().map(|criterion| CriterionResultView {
            criterion: scope.criterion(criterion.id),
            average_rating: decimal(average(RatingTarget::Criterion(criterion.id), &counting, scale)),
        });
        let ratings = counting.iter().flat_map(|evaluation| ResultRatingView::all_of(evaluation, scope));
        let vetos = counting
            .iter()
            .filter_map(|evaluation| Some(VetoView::new(evaluation.veto.as_ref()?, evaluation, scope)));
        Self {
            overall_rating: decimal(summary.overall(project, questionnaire)),
            question_results: Some(questions.collect()),
            criteria_results: Some(criteria.collect()),
            ratings: Some(ratings.collect()),
            vetos: Some(vetos.collect()),
            evaluations: Some(views),
            ..Self::hidden(candidate, scope)
        }
    }
}

/// The order of a list of results. Results without an overall rating come last.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(crate) enum ResultOrder {
    /// The lowest overall rating first.
    #[serde(rename = "overall_rating")]
    Ascending,
    /// The highest overall rating first.
    #[serde(rename = "-overall_rating")]
    Descending,
}

impl ResultOrder {
    fn compare(self, one: RatingMean, other: RatingMean) -> Ordering {
        match (one.is_empty(), other.is_empty()) {
            (false, false) if self == Self::Ascending => one.compare(other),
            (false, false) => other.compare(one),
            (one, other) => one.cmp(&other),
        }
    }

    /// Sorts results as `caller` sees them. The sort is stable.
    fn sort(
        self,
        rows: Vec<CandidateResult>,
        caller: Option<CustomerId>,
        scope: EvaluationScope<'_>,
    ) -> Vec<CandidateResult> {
        let mut rated = Vec::with_capacity(rows.len());
        for row in rows {
            // Sort hidden results like those without a rating, so that the order reveals nothing.
            let mean = if row.summary.is_hidden_from(caller, scope.project) {
                RatingMean::default()
            } else {
                row.summary.overall(scope.project, scope.questionnaire)
            };
            rated.push((mean, row));
        }
        rated.sort_by(|(one, _), (other, _)| self.compare(*one, *other));
        rated.into_iter().map(|(_, row)| row).collect()
    }
}

/// GET …/results/
pub(crate) async fn list(
    access: Admitted<Questionnaire, ReadProject>,
    mut query: QueryParameters,
) -> Result<PageView<ResultView>> {
    let order: Option<ResultOrder> = query.filter("ordering", parse_enum);
    let query = query.finish_list()?;
    let total = access.target.counts.results(&access.target.project);
    query.check_range(total)?;
    let scope =
        EvaluationScope::new(&access.target.project, &access.target.questionnaire, access.references());
    let page = match order {
        None => access.store.list_results(scope.project, query.page()).await?,
        Some(order) => {
            let rows = access.store.all_results(scope.project).await?;
            let rows = order.sort(rows, access.caller.customer(), scope);
            query.slice_unsorted(rows, |row| row.candidate.to_string()).0
        }
    };
    let page = views(&access, page, scope).await?;
    query.answer(page, total)
}

/// The views of a page of results. Hidden values are left out.
async fn views(
    access: &AdmittedRequest,
    page: Page<CandidateResult>,
    scope: EvaluationScope<'_>,
) -> Result<Page<ResultView>> {
    let caller = access.caller.customer();
    let project = scope.project;
    let mut ids = Vec::new();
    for row in page.rows.iter().filter(|row| !row.summary.is_hidden_from(caller, project)) {
        ids.extend(row.summary.counting(project).map(|(evaluator, _)| (row.candidate, evaluator)));
    }
    let seen = ids.iter().map(|(candidate, _)| *candidate).collect::<BTreeSet<_>>();
    let evaluations = access.store.evaluations(access.company_id(), project.id, ids).await?;
    let answers = read_answers(access, seen, scope).await?;
    Ok(page.map(|row| {
        if row.summary.is_hidden_from(caller, project) {
            // Keep the result without its ratings instead of leaving it out, so that pages stay full.
            ResultView::hidden(row.candidate, scope)
        } else {
            ResultView::new(row.candidate, &row.summary, &evaluations, answers.get(&row.candidate), scope)
        }
    }))
}

/// GET …/results/{candidateId}/
pub(crate) async fn read(
    access: Admitted<CandidateEvaluations, ReadProject>,
) -> Result<CommittedResponse<Json<ResultView>>> {
    let project = &access.target.project;
    let candidate = &access.target.candidate;
    let summary = ResultSummary::of(candidate).ok_or(Error::NotFound)?;
    if summary.counting(project).next().is_none() {
        return Err(Error::NotFound);
    }
    access.require_sight()?;
    let evaluations = access.store.evaluations_of(access.company_id(), project.id, candidate.id).await?;
    let scope = EvaluationScope::new(project, &access.target.questionnaire, access.references());
    let answers = read_answers(&access, BTreeSet::from([candidate.id]), scope).await?;
    access.show(ResultView::new(candidate.id, &summary, &evaluations, answers.get(&candidate.id), scope))
}

/// Reads the candidates' answers if the text of any question has changed: the answers hold the text that was asked.
async fn read_answers(
    access: &AdmittedRequest,
    candidates: BTreeSet<CandidateId>,
    scope: EvaluationScope<'_>,
) -> Result<HashMap<CandidateId, Answers>> {
    if scope.questionnaire.questions.iter().all(|question| question.former_texts.is_empty()) {
        return Ok(HashMap::new());
    }
    access.store.answers_of(access.company_id(), scope.project.id, candidates).await
}
