//! A candidate's evaluations in the data document, as they were saved, even if the project's questions have changed.

use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::candidate::Candidate;
use shared::domain::evaluation::{Evaluation, FirstJudgement, RatingTarget, RatingValues, Recommendation};
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
    /// The maximum rating when the evaluation was saved; null if the service only knows that it was completed.
    #[schemars(example = 5)]
    maximum_score: Option<u32>,
    /// The ratings, followed by comments without a value; including deleted questions and criteria.
    ratings: Vec<RatingDataView>,
    /// The recommendation of the evaluator; null if they make none.
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
    /// From 0 to the `maximum_score` of the evaluation; null for a comment without a rating.
    #[schemars(example = 4)]
    value: Option<Decimal>,
    /// The reason for the rating.
    #[schemars(example = &"Clear and to the point.")]
    comment: String,
}

/// The content of an evaluation when it was first completed, even if it was changed or deleted later.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "FirstJudgementData")]
pub(crate) struct FirstJudgementDataView {
    /// The customer who evaluated.
    #[schemars(example = example_uri::CUSTOMER)]
    evaluator: Uri,
    /// When the evaluation was first completed.
    completed_at: Timestamp,
    /// The maximum rating at that time; null without ratings.
    #[schemars(example = 5)]
    maximum_score: Option<u32>,
    /// The values, including those of deleted questions and criteria.
    ratings: Vec<ValueDataView>,
    /// The recommendation of the evaluator; null if they made none.
    #[schemars(example = &"strong_yes")]
    recommendation: Option<Recommendation>,
    /// Whether the evaluator had no access to other evaluations or vetoes of the candidate before.
    #[schemars(example = true)]
    blind: bool,
    /// Whether a named token wrote it on behalf of the evaluator.
    #[schemars(example = false)]
    by_token: bool,
    /// When the evaluation was last changed after its first completion; null if it was not.
    #[schemars(example = ())]
    changed_at: Option<Timestamp>,
}

/// The value of an answer or of a criterion.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RatedValueData")]
struct ValueDataView {
    /// The question; null for criteria.
    #[schemars(example = example_uri::QUESTION)]
    question: Option<Uri>,
    /// The criterion; null for questions.
    #[schemars(example = None::<Uri>)]
    criterion: Option<Uri>,
    /// The text of the question, or the name of the criterion; null if it is deleted.
    #[schemars(example = &"Which project are you most proud of?")]
    text: Option<String>,
    /// From 0 to the `maximum_score` of the first judgement.
    #[schemars(example = 3)]
    value: Decimal,
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
    /// The reason for the veto.
    #[schemars(example = &"Certificates could not be verified.")]
    comment: String,
}

/// The context that all views of one candidate's evaluations share.
#[derive(Clone, Copy)]
pub(super) struct EvaluationDataScope<'a> {
    pub(super) candidate: &'a Candidate,
    pub(super) questionnaire: &'a Questionnaire,
    pub(super) references: ReferenceUris<'a>,
}

impl EvaluationDataScope<'_> {
    /// The evaluation by `evaluator`; `None` unless it is completed. Drafts stay private to their authors.
    pub(super) fn completed(
        &self,
        evaluator: CustomerId,
        written: Option<&Evaluation>,
    ) -> Option<EvaluationDataView> {
        let completed_at = self.candidate.completed_at(evaluator)?;
        let ratings = written.into_iter().flat_map(|evaluation| &evaluation.ratings);
        let ratings = ratings.map(|rating| self.rating(rating.target, Some(rating.tenths), &rating.comment));
        let remarks = written.into_iter().flat_map(|evaluation| &evaluation.remarks);
        let remarks = remarks.map(|remark| self.rating(remark.target, None, &remark.comment));
        Some(EvaluationDataView {
            evaluator: self.customer(evaluator),
            completed_at: Timestamp(completed_at),
            maximum_score: written.map(|evaluation| evaluation.maximum),
            ratings: ratings.chain(remarks).collect(),
            recommendation: written.and_then(|evaluation| evaluation.recommendation),
            comment: written.map(|evaluation| evaluation.comment.to_string()).unwrap_or_default(),
        })
    }

    /// The content of the evaluation when it was first completed; `None` if it never was.
    pub(super) fn first(&self, written: &Evaluation) -> Option<FirstJudgementDataView> {
        let FirstJudgement { completed_at, recommendation, rated, blind, by_token } =
            written.first.as_ref()?;
        Some(FirstJudgementDataView {
            evaluator: self.customer(written.evaluator),
            completed_at: Timestamp(*completed_at),
            maximum_score: rated.as_ref().map(|values| values.maximum),
            ratings: rated.as_ref().map(|values| self.values(values)).unwrap_or_default(),
            recommendation: *recommendation,
            blind: *blind,
            by_token: *by_token,
            changed_at: written.changed_at.map(Timestamp),
        })
    }

    fn values(&self, values: &RatingValues) -> Vec<ValueDataView> {
        let questions = values.questions.iter().map(|(id, tenths)| (RatingTarget::Question(*id), tenths));
        let criteria = values.criteria.iter().map(|(id, tenths)| (RatingTarget::Criterion(*id), tenths));
        let all = questions.chain(criteria);
        let view = |(target, tenths): (RatingTarget, &u32)| {
            let (question, criterion, text) = self.rated(target);
            ValueDataView { question, criterion, text, value: Decimal::of_tenths(*tenths) }
        };
        all.map(view).collect()
    }

    /// The evaluator's veto; `None` if there is none.
    pub(super) fn veto(&self, written: &Evaluation) -> Option<VetoDataView> {
        let veto = written.veto.as_ref()?;
        Some(VetoDataView {
            evaluator: self.customer(written.evaluator),
            at: Timestamp(veto.id.created_at()),
            comment: veto.comment.to_string(),
        })
    }

    fn rating(&self, target: RatingTarget, tenths: Option<u32>, comment: &TextLines<500>) -> RatingDataView {
        let (question, criterion, text) = self.rated(target);
        let value = tenths.map(Decimal::of_tenths);
        let comment = comment.to_string();
        RatingDataView { question, criterion, text, value, comment }
    }

    /// The URL of the rated question or criterion, and its current text.
    fn rated(&self, target: RatingTarget) -> (Option<Uri>, Option<Uri>, Option<String>) {
        let Candidate { company, project, .. } = self.candidate;
        match target {
            RatingTarget::Question(id) => {
                let text = self.questionnaire.question(id).map(|question| question.text.to_string());
                (Some(self.references.uri_in_project(company, *project, id)), None, text)
            }
            RatingTarget::Criterion(id) => {
                let text = self.questionnaire.criterion(id).map(|criterion| criterion.name.to_string());
                (None, Some(self.references.uri_in_project(company, *project, id)), text)
            }
        }
    }

    fn customer(&self, customer: CustomerId) -> Uri {
        self.references.uri(&self.candidate.company, customer)
    }
}
