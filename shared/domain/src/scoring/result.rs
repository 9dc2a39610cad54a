//! Results: the completed evaluations of a candidate, and their means.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::candidate::{Candidate, CandidateStatus};
use crate::evaluation::mean::{RatingMean, RatingSum};
use crate::evaluation::{Evaluation, RatingTarget, RatingValues};
use crate::id::{CustomerId, VetoId};
use crate::project::Project;
use crate::questionnaire::Questionnaire;

/// A candidate's result, which also includes evaluations by customers who are not evaluators at present.
// An item of its own, so that changing evaluators, questions or criteria need not write candidates, and a list sorted by rating
// need not read evaluations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultSummary {
    /// All customers who have completed an evaluation.
    pub by: BTreeMap<CustomerId, CompletedEvaluation>,
    /// All customers who have vetoed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vetos: BTreeMap<CustomerId, VetoId>,
}

/// The numbers of a completed evaluation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedEvaluation {
    /// When the evaluation was completed.
    pub at: DateTime<Utc>,
    /// The values of the evaluation's ratings; `None` without ratings.
    pub rated: Option<RatingValues>,
}

impl ResultSummary {
    /// The summary of a candidate; `None` unless they are interviewed and have a completed evaluation.
    pub fn of(candidate: &Candidate) -> Option<Self> {
        let mut by = BTreeMap::new();
        for customer in candidate.completed_by() {
            let rated = candidate.scores.get(&customer).and_then(|score| score.rated.clone());
            by.insert(customer, CompletedEvaluation { at: candidate.completed_at(customer)?, rated });
        }
        let has_result = candidate.status == CandidateStatus::Interviewed && !by.is_empty();
        has_result.then(|| Self { by, vetos: candidate.vetos().collect() })
    }

    /// Whether results are hidden from `customer`, because they are an evaluator who has not evaluated yet.
    pub fn is_hidden_from(&self, customer: Option<CustomerId>, project: &Project) -> bool {
        project.staff.evaluates(customer).is_some_and(|own| !self.by.contains_key(&own))
    }

    /// The completed evaluations of the project's current evaluators.
    pub fn counting(&self, project: &Project) -> impl Iterator<Item = (CustomerId, &CompletedEvaluation)> {
        let evaluators = &project.staff.evaluators;
        self.by.iter().filter(|(by, _)| evaluators.contains(by)).map(|(by, completed)| (*by, completed))
    }

    /// The overall rating on the current scale: for each evaluator the mean of their ratings, then the mean over the evaluators.
    // Not the mean of all ratings: evaluators who rate more must not weigh more.
    pub fn overall(&self, project: &Project, questionnaire: &Questionnaire) -> RatingMean {
        let mut overall = RatingMean::default();
        for (_, completed) in self.counting(project) {
            if let Some(values) = &completed.rated {
                // The current questions, criteria and scale apply, because changing those writes no candidates.
                overall.add(values.sum(questionnaire), project.settings.maximum_score);
            }
        }
        overall
    }
}

impl ResultSummary {
    /// For each completed evaluation the mean of its ratings, then the mean over all of them, as a whole number from 0 to 10,
    /// rounded half up; `None` without ratings.
    // All evaluators, questions and criteria count, because a deletion reads neither the project nor its questions. Each
    // evaluation counts on its own scale, so the project's scale does not matter.
    pub fn tenths_of_scale(&self) -> Option<u8> {
        let mut overall = RatingMean::default();
        for values in self.by.values().filter_map(|completed| completed.rated.as_ref()) {
            overall.add(values.sum_of_all(), 10);
        }
        overall.whole().and_then(|rating| rating.try_into().ok())
    }
}

/// The mean of the ratings of `target`, on a scale with the maximum `scale`.
pub fn average(target: RatingTarget, evaluations: &[&Evaluation], scale: u32) -> RatingMean {
    let mut average = RatingMean::default();
    for evaluation in evaluations {
        for rating in evaluation.ratings.iter().filter(|rating| rating.target == target) {
            average.add(RatingSum { tenths: rating.tenths, count: 1, maximum: evaluation.maximum }, scale);
        }
    }
    average
}
