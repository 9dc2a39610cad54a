//! Looks up in a candidate who has completed an evaluation of them, and who has vetoed.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::Candidate;
use crate::evaluation::evaluator_index::EvaluatorSet;
use crate::id::{CustomerId, VetoId};

impl Candidate {
    /// Everyone who has completed an evaluation, evaluators of the project or not.
    pub fn completed_by(&self) -> BTreeSet<CustomerId> {
        let completed = self.evaluations.iter().filter(|(_, report)| report.completed);
        completed.map(|(customer, _)| *customer).collect()
    }

    /// When `evaluator` completed their evaluation; `None` if they have not.
    pub fn completed_at(&self, evaluator: CustomerId) -> Option<DateTime<Utc>> {
        self.evaluations.get(&evaluator).filter(|report| report.completed).map(|report| report.at)
    }

    /// Everyone who has vetoed, evaluators of the project or not.
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

    /// Everyone who has completed an evaluation, as a set.
    pub fn completed_set(&self) -> EvaluatorSet {
        self.evaluations.values().filter(|report| report.completed).map(|report| report.bit).collect()
    }

    /// Everyone who has vetoed, as a set.
    pub fn vetoed_set(&self) -> EvaluatorSet {
        self.vetos().filter_map(|(customer, _)| Some(self.evaluations.get(&customer)?.bit)).collect()
    }
}
