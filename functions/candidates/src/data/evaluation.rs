//! What evaluators have written about a candidate, as the document shows it: as it was saved, whatever the project asks today.

use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::candidate::Candidate;
use shared::domain::evaluation::{Evaluation, RatingTarget, Recommendation};
use shared::domain::id::CustomerId;
use shared::domain::questionnaire::Questionnaire;
use shared::domain::text::TextLines;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::wire::{Decimal, Timestamp, Uri};

/// A completed evaluation.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "EvaluationData")]
pub(crate) struct EvaluationDataView {
    /// The customer who evaluated. The document names no staff.
    #[schemars(example = example_uri::CUSTOMER)]
    evaluator: Uri,
    /// When the evaluation was completed.
    completed_at: Timestamp,
    /// The greatest rating possible when the evaluation was saved; null if the service knows only that it was completed.
    #[schemars(example = 5)]
    maximum_score: Option<u32>,
    /// The ratings, then the comments without a value, those of questions and criteria that are deleted since included.
    ratings: Vec<RatingDataView>,
    /// What the evaluator recommends; null for nothing.
    #[schemars(example = &"strong_yes")]
    recommendation: Option<Recommendation>,
    /// The evaluator's note.
    #[schemars(example = &"I would like to work with her.")]
    comment: String,
}

/// A rating of an answer or of a criterion.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RatingData")]
struct RatingDataView {
    /// The question; null in ratings of criteria.
    #[schemars(example = example_uri::QUESTION)]
    question: Option<Uri>,
    /// The criterion; null in ratings of questions.
    #[schemars(example = None::<Uri>)]
    criterion: Option<Uri>,
    /// The text of the question, or the name of the criterion; null if it is deleted.
    #[schemars(example = &"Which project are you most proud of?")]
    text: Option<String>,
    /// From 0 to the `maximum_score` of the evaluation; null for a comment alone.
    #[schemars(example = 4)]
    value: Option<Decimal>,
    /// Why.
    #[schemars(example = &"Clear and to the point.")]
    comment: String,
}

/// A veto.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "VetoData")]
pub(crate) struct VetoDataView {
    /// The customer who vetoed.
    #[schemars(example = example_uri::CUSTOMER)]
    evaluator: Uri,
    /// When the candidate was vetoed.
    at: Timestamp,
    /// Why.
    #[schemars(example = &"Certificates could not be verified.")]
    comment: String,
}

/// What the views of a candidate's evaluations are made of.
#[derive(Clone, Copy)]
pub(super) struct EvaluationDataScope<'a> {
    pub(super) candidate: &'a Candidate,
    pub(super) questionnaire: &'a Questionnaire,
    pub(super) references: ReferenceUris<'a>,
}

impl EvaluationDataScope<'_> {
    /// The evaluation by `evaluator`; `None` unless it is completed. Drafts are their authors' own until they complete them.
    pub(super) fn completed(
        &self,
        evaluator: CustomerId,
        written: Option<&Evaluation>,
    ) -> Option<EvaluationDataView> {
        let completed_at = self.candidate.completed_at(evaluator)?;
        let ratings = written.into_iter().flat_map(|one| &one.ratings);
        let ratings = ratings.map(|one| self.rating(one.target, Some(one.tenths), &one.comment));
        let remarks = written.into_iter().flat_map(|one| &one.remarks);
        let remarks = remarks.map(|one| self.rating(one.target, None, &one.comment));
        Some(EvaluationDataView {
            evaluator: self.customer(evaluator),
            completed_at: Timestamp(completed_at),
            maximum_score: written.map(|one| one.maximum),
            ratings: ratings.chain(remarks).collect(),
            recommendation: written.and_then(|one| one.recommendation),
            comment: written.map(|one| one.comment.to_string()).unwrap_or_default(),
        })
    }

    /// The veto in an evaluation.
    pub(super) fn veto(&self, written: &Evaluation) -> Option<VetoDataView> {
        let veto = written.veto.as_ref()?;
        Some(VetoDataView {
            evaluator: self.customer(written.evaluator),
            at: Timestamp(veto.id.created_at()),
            comment: veto.comment.to_string(),
        })
    }

    fn rating(&self, target: RatingTarget, tenths: Option<u32>, comment: &TextLines<500>) -> RatingDataView {
        let Candidate { company, project, .. } = self.candidate;
        let (question, criterion, text) = match target {
            RatingTarget::Question(id) => {
                let text = self.questionnaire.question(id).map(|question| question.text.to_string());
                (Some(self.references.uri_in_project(company, *project, id)), None, text)
            }
            RatingTarget::Criterion(id) => {
                let text = self.questionnaire.criterion(id).map(|criterion| criterion.name.to_string());
                (None, Some(self.references.uri_in_project(company, *project, id)), text)
            }
        };
        let value = tenths.map(Decimal::of_tenths);
        let comment = comment.to_string();
        RatingDataView { question, criterion, text, value, comment }
    }

    fn customer(&self, customer: CustomerId) -> Uri {
        self.references.uri(&self.candidate.company, customer)
    }
}
