//! Results: what a candidate's evaluations amount to.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::candidate::{Candidate, CandidateStatus};
use crate::evaluation::mean::{RatingMean, RatingSum};
use crate::evaluation::{Evaluation, RatingTarget, RatingValues};
use crate::id::{CustomerId, VetoId};
use crate::project::Project;
use crate::questionnaire::Questionnaire;

/// A candidate's result, before it is reduced to the current evaluators.
// An item of its own, so that a change of evaluators, questions or criteria writes no candidates, and a list by rating
// reads no evaluations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultSummary {
    /// Everyone who has completed an evaluation.
    pub by: BTreeMap<CustomerId, CompletedEvaluation>,
    /// Everyone who has vetoed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vetos: BTreeMap<CustomerId, VetoId>,
}

/// The numbers of a completed evaluation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedEvaluation {
    /// When it was completed.
    pub at: DateTime<Utc>,
    /// The values of its ratings; `None` without ratings.
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

    /// Whether `customer` is an evaluator who has yet to evaluate.
    pub fn is_hidden_from(&self, customer: Option<CustomerId>, project: &Project) -> bool {
        project.staff.evaluates(customer).is_some_and(|own| !self.by.contains_key(&own))
    }

    /// The completed evaluations of the project's evaluators.
    pub fn counting(&self, project: &Project) -> impl Iterator<Item = (CustomerId, &CompletedEvaluation)> {
        let evaluators = &project.staff.evaluators;
        self.by.iter().filter(|(by, _)| evaluators.contains(by)).map(|(by, completed)| (*by, completed))
    }

    /// The overall rating on today's scale: the mean over the evaluators of the mean of each one's ratings.
    // This is not the mean of all ratings: evaluators who rate more do not weigh more.
    pub fn overall(&self, project: &Project, questionnaire: &Questionnaire) -> RatingMean {
        let mut overall = RatingMean::default();
        for (_, completed) in self.counting(project) {
            if let Some(values) = &completed.rated {
                // Today's questions, criteria and scale count: changing those writes no candidates.
                overall.add(values.sum(questionnaire), project.settings.maximum_score);
            }
        }
        overall
    }
}

impl ResultSummary {
    /// The mean over all completed evaluations of the mean of each one's ratings, in tenths of the scale from 0 to 10, rounded
    /// half up; `None` without ratings.
    // Everyone's and of everything, because a deletion reads neither the project nor its questions. Each evaluation counts on
    // its own scale, so the project's scale does not matter, today's or another.
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
