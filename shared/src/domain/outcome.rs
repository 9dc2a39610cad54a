//! Results: what the evaluations of a candidate by the project's evaluators amount to.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, CandidateStatus};
use super::id::{CustomerId, VetoId};
use super::interview::Interview;
use super::mean::{RatingMean, RatingSum};
use super::project::Project;
use super::scorecard::{Evaluation, RatingTarget, RatingValues};

/// What an interviewed candidate's evaluations amount to, whoever the evaluators are: an item of its own, derived from
/// the candidate, by which results are listed and sorted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultSummary {
    /// Everyone who has completed an evaluation.
    pub by: BTreeMap<CustomerId, CompletedEvaluation>,
    /// Everyone who has vetoed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vetos: BTreeMap<CustomerId, VetoId>,
}

/// A completed evaluation in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedEvaluation {
    /// When it was completed.
    pub at: DateTime<Utc>,
    /// Its ratings; none without ratings.
    pub rated: Option<RatingValues>,
}

impl ResultSummary {
    /// The summary of a candidate; none unless they are interviewed and somebody has evaluated them.
    pub fn of(candidate: &Candidate) -> Option<Self> {
        if candidate.status != CandidateStatus::Interviewed {
            return None;
        }
        let completed = |customer: CustomerId| {
            let rated = candidate.scores.get(&customer).and_then(|score| score.rated.clone());
            Some((customer, CompletedEvaluation { at: candidate.completed_at(customer)?, rated }))
        };
        let by: BTreeMap<_, _> = candidate.evaluations.keys().copied().filter_map(completed).collect();
        (!by.is_empty()).then(|| Self { by, vetos: candidate.vetos().collect() })
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
    pub fn overall(&self, project: &Project, interview: &Interview) -> RatingMean {
        let mut overall = RatingMean::default();
        // A mean of means: those who rate more must not weigh more.
        for (_, completed) in self.counting(project) {
            if let Some(values) = &completed.rated {
                // By today's questions, criteria and scale: changing those writes no candidates.
                overall.add(values.ratings(interview), project.settings.maximum_score);
            }
        }
        overall
    }
}

/// The mean of what `cards` say about one question or criterion, on a scale with the maximum `scale`.
pub fn average<'a>(
    about: RatingTarget,
    cards: impl IntoIterator<Item = &'a Evaluation>,
    scale: u32,
) -> RatingMean {
    let mut average = RatingMean::default();
    for card in cards {
        for rating in card.ratings.iter().filter(|rating| rating.about == about) {
            average.add(RatingSum { tenths: rating.tenths, count: 1, maximum: card.maximum }, scale);
        }
    }
    average
}
