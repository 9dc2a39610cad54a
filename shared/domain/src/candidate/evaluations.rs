//! Reads from a candidate who has completed an evaluation of them, and who has vetoed.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::Candidate;
use crate::evaluation::evaluator_index::EvaluatorSet;
use crate::id::{CustomerId, VetoId};

impl Candidate {
    /// All customers who have completed an evaluation, even if they are no longer evaluators of the project.
    pub fn completed_by(&self) -> BTreeSet<CustomerId> {
        let completed = self.evaluations.iter().filter(|(_, report)| report.completed);
        completed.map(|(customer, _)| *customer).collect()
    }

    /// When `evaluator` completed their evaluation; `None` if they have not.
    pub fn completed_at(&self, evaluator: CustomerId) -> Option<DateTime<Utc>> {
        self.evaluations.get(&evaluator).filter(|report| report.completed).map(|report| report.at)
    }

    /// All customers who have vetoed, with their vetoes, even if they are no longer evaluators of the project.
    pub fn vetos(&self) -> impl Iterator<Item = (CustomerId, VetoId)> {
        self.scores.iter().filter_map(|(customer, score)| Some((*customer, score.veto?)))
    }

    /// Whether `customer` has vetoed.
    pub fn is_vetoed_by(&self, customer: CustomerId) -> bool {
        self.scores.get(&customer).is_some_and(|score| score.veto.is_some())
    }

    /// The revision of an evaluation; 0 before it is first saved.
    pub fn revision_of(&self, evaluator: CustomerId) -> u64 {
        self.scores.get(&evaluator).map_or(0, |score| score.revision)
    }

    /// The customers who have completed an evaluation, as a bit set.
    pub fn completed_set(&self) -> EvaluatorSet {
        self.evaluations.values().filter(|report| report.completed).map(|report| report.bit).collect()
    }

    /// The customers who have vetoed, as a bit set.
    pub fn vetoed_set(&self) -> EvaluatorSet {
        self.vetos().filter_map(|(customer, _)| Some(self.evaluations.get(&customer)?.bit)).collect()
    }
}
