//! What the evaluations of candidates amount to.

use std::cmp::Ordering;

use axum::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shared::auth::access::{Admitted, AdmittedRequest, CandidateEvaluations};
use shared::domain::id::{CandidateId, CustomerId};
use shared::domain::interview::{Criterion, Interview, Question};
use shared::domain::mean::RatingMean;
use shared::domain::outcome::{ResultSummary, average};
use shared::domain::parse_enum;
use shared::domain::policy::ReadProject;
use shared::domain::scorecard::{Evaluation, RatingTarget};
use shared::http::example_uri;
use shared::http::page::{ListQuery, PageView};
use shared::http::respond::CommittedResponse;
use shared::http::wire::{Decimal, Timestamp, Uri};
use shared::store::CandidateResult;
use shared::store::page::Page;
use shared::{Error, Result};

use crate::view::{
    CriterionResultView, EvaluationScope, QuestionResultView, ResultEvaluationView, ResultRatingView,
    VetoView, decimal,
};

/// The result of a candidate.
///
/// In lists, evaluators who have yet to evaluate a candidate get null in place of everything that others have said.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Result")]
pub(crate) struct ResultView {
    /// The URL of the resource.
    #[schemars(example = example_uri::RESULT)]
    resource_uri: Uri,
    /// The candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Uri,
    /// The mean over the evaluators of the mean of each one's ratings, with at most two decimals; null without ratings.
    #[schemars(example = 4.25)]
    overall_rating: Option<Decimal>,
    /// The greatest rating possible: the project's `maximum_score`.
    #[schemars(example = 5)]
    maximum_score: u32,
    /// The questions, in their order.
    question_results: Option<Vec<QuestionResultView>>,
    /// The criteria, in their order.
    criteria_results: Option<Vec<CriterionResultView>>,
    /// All ratings.
    ratings: Option<Vec<ResultRatingView>>,
    /// The completed evaluations by the project's evaluators.
    evaluations: Option<Vec<ResultEvaluationView>>,
    /// The vetos of the project's evaluators.
    vetos: Option<Vec<VetoView>>,
}

impl ResultView {
    fn hidden(candidate: CandidateId, of: EvaluationScope<'_>) -> Self {
        Self {
            resource_uri: of
                .references
                .project(&of.project.company, of.project.id)
                .join("results")
                .join(candidate),
            candidate: of.candidate(candidate),
            overall_rating: None,
            maximum_score: of.project.settings.maximum_score,
            question_results: None,
            criteria_results: None,
            ratings: None,
            evaluations: None,
            vetos: None,
        }
    }

    fn new<'a>(
        candidate: CandidateId,
        summary: &ResultSummary,
        card_of: impl Fn(CustomerId) -> Option<&'a Evaluation>,
        of: EvaluationScope<'_>,
    ) -> Self {
        let counting: Vec<_> = summary.counting(of.project).collect();
        let cards: Vec<&Evaluation> = counting.iter().filter_map(|(by, _)| card_of(*by)).collect();
        let scale = of.project.settings.maximum_score;
        let mean = |about: RatingTarget| decimal(average(about, cards.iter().copied(), scale));
        let project = (&of.project.company, of.project.id);
        let question = |one: &Question| QuestionResultView {
            question: of.references.question(project.0, project.1, one.id),
            average_rating: mean(RatingTarget::Question(one.id)),
        };
        let criterion = |one: &Criterion| CriterionResultView {
            criterion: of.references.criterion(project.0, project.1, one.id),
            average_rating: mean(RatingTarget::Criterion(one.id)),
        };
        let evaluations = counting.iter().map(|(by, completed)| ResultEvaluationView {
            evaluator: of.customer(*by),
            recommendation: card_of(*by).and_then(|card| card.recommendation),
            comment: card_of(*by).map(|card| card.comment.to_string()).unwrap_or_default(),
            completed_at: Timestamp(completed.at),
        });
        let vetos = cards.iter().filter_map(|card| Some(VetoView::new(card.veto.as_ref()?, card, of)));
        Self {
            overall_rating: decimal(summary.overall(of.project, of.interview)),
            question_results: Some(of.interview.questions.iter().map(question).collect()),
            criteria_results: Some(of.interview.criteria.iter().map(criterion).collect()),
            ratings: Some(cards.iter().flat_map(|card| ResultRatingView::all_of(card, of)).collect()),
            evaluations: Some(evaluations.collect()),
            vetos: Some(vetos.collect()),
            ..Self::hidden(candidate, of)
        }
    }
}

/// The order of a list of results. Those without an overall rating come last.
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

    /// Sorts results, of which the caller sees those that are not hidden. Equal ones keep their order.
    fn sort(
        self,
        rows: Vec<CandidateResult>,
        caller: Option<CustomerId>,
        of: EvaluationScope<'_>,
    ) -> Vec<CandidateResult> {
        let mean = |row: &CandidateResult| match row.summary.is_hidden_from(caller, of.project) {
            // Sorted like results without a rating: the order must not tell what the caller may not see.
            true => RatingMean::default(),
            false => row.summary.overall(of.project, of.interview),
        };
        let mut rated: Vec<_> = rows.into_iter().map(|row| (mean(&row), row)).collect();
        rated.sort_by(|(one, _), (other, _)| self.compare(*one, *other));
        rated.into_iter().map(|(_, row)| row).collect()
    }
}

/// GET …/results/
pub(crate) async fn list(
    access: Admitted<Interview, ReadProject>,
    query: ListQuery,
) -> Result<PageView<ResultView>> {
    let order: Option<ResultOrder> = query.filter("ordering", parse_enum)?;
    let total = access.target.counts.results(&access.target.project);
    query.check_range(total)?;
    let references = access.references();
    let of = EvaluationScope {
        project: &access.target.project,
        interview: &access.target.stored.interview,
        references,
    };
    let page = match order {
        None => access.store.list_results(of.project, query.page()).await?,
        Some(order) => {
            let rows = access.store.all_results(of.project).await?;
            let rows = order.sort(rows, access.caller.customer(), of);
            query.slice_unsorted(rows, |row| row.candidate.to_string()).0
        }
    };
    let page = views(&access, page, of).await?;
    query.answer(page, total)
}

/// The views of a page of results, with what the caller may see of them.
async fn views(
    access: &AdmittedRequest,
    page: Page<CandidateResult>,
    of: EvaluationScope<'_>,
) -> Result<Page<ResultView>> {
    let is_hidden = |row: &CandidateResult| row.summary.is_hidden_from(access.caller.customer(), of.project);
    let mut ids = Vec::new();
    for row in page.rows.iter().filter(|row| !is_hidden(row)) {
        ids.extend(row.summary.counting(of.project).map(|(by, _)| (row.candidate, by)));
    }
    let cards = access.store.scorecards(access.company_id(), of.project.id, ids).await?;
    let view = |row: CandidateResult| {
        let card_of = |by| cards.get(&(row.candidate, by));
        if is_hidden(&row) {
            // Shown without its ratings instead of left out, so that pages stay even.
            ResultView::hidden(row.candidate, of)
        } else {
            ResultView::new(row.candidate, &row.summary, card_of, of)
        }
    };
    Ok(page.map(view))
}

/// GET …/results/{candidateId}/
pub(crate) async fn read(
    access: Admitted<CandidateEvaluations, ReadProject>,
) -> Result<CommittedResponse<Json<ResultView>>> {
    let candidate = &access.target.candidate;
    let summary = ResultSummary::of(candidate);
    let summary = summary.filter(|summary| summary.counting(&access.target.project).next().is_some());
    let summary = summary.ok_or(Error::NotFound)?;
    access.require_sight()?;
    let cards = access.store.scorecards_of(access.company_id(), candidate.project, candidate.id).await?;
    let of = EvaluationScope::new(&access.target, access.references());
    access.show(ResultView::new(candidate.id, &summary, |by| cards.get(&by), of))
}
