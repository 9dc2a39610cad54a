//! When a candidate counts as evaluated, and from whom evaluations are hidden.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::candidate::Candidate;
use crate::evaluation::EVALUATE_FIRST;
use crate::id::CustomerId;
use crate::project::Project;
use crate::scoring::result::ResultSummary;

/// The state of a candidate's evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline, extend("x-closed-set" = true))]
pub enum EvaluationStatus {
    /// No evaluation is complete.
    Pending,
    /// Some evaluations are complete, but not enough.
    Partial,
    /// Enough evaluations are complete.
    Completed,
}

/// The status, given the customers who have completed an evaluation and those who have vetoed.
fn evaluation_status<'a>(
    completed_by: impl Iterator<Item = &'a CustomerId>,
    mut vetoed_by: impl Iterator<Item = CustomerId>,
    project: &Project,
) -> EvaluationStatus {
    let evaluators = &project.staff.evaluators;
    // Evaluations by other customers are stored, and count once their authors become evaluators.
    match completed_by.filter(|customer| evaluators.contains(customer)).count() {
        // One veto completes the evaluation for everyone.
        _ if vetoed_by.any(|customer| evaluators.contains(&customer)) => EvaluationStatus::Completed,
        0 => EvaluationStatus::Pending,
        count if count < project.evaluations_needed() => EvaluationStatus::Partial,
        _ => EvaluationStatus::Completed,
    }
}

impl ResultSummary {
    /// The status of the evaluation by the project's evaluators.
    pub fn evaluation_status(&self, project: &Project) -> EvaluationStatus {
        evaluation_status(self.by.keys(), self.vetos.keys().copied(), project)
    }
}

impl Candidate {
    /// The status of the evaluation by the project's evaluators.
    pub fn evaluation_status(&self, project: &Project) -> EvaluationStatus {
        let vetos = self.vetos().map(|(customer, _)| customer);
        evaluation_status(self.completed_by().iter(), vetos, project)
    }

    /// The status of the evaluation by `customer`; `None` if they are not an evaluator of the project.
    pub fn own_evaluation_status(
        &self,
        customer: Option<CustomerId>,
        project: &Project,
    ) -> Option<EvaluationStatus> {
        let evaluator = project.staff.evaluates(customer)?;
        let is_completed = self.completed_at(evaluator).is_some();
        Some(if is_completed { EvaluationStatus::Completed } else { EvaluationStatus::Pending })
    }

    /// Whether others' evaluations are hidden from `customer`, because they are an evaluator who has not evaluated yet.
    // Regardless of other roles: the opinion of an owner or a manager would be biased just as much.
    pub fn is_hidden_from(&self, customer: Option<CustomerId>, project: &Project) -> bool {
        self.own_evaluation_status(customer, project) == Some(EvaluationStatus::Pending)
    }

    /// Checks that `customer` may read everything that is stored about the candidate. Fails with [`EVALUATE_FIRST`] if
    /// evaluations are hidden from them.
    pub fn may_be_exported_by(&self, customer: Option<CustomerId>, project: &Project) -> Result<(), Refusal> {
        // Without an interview there is nothing to evaluate, and a manager who will evaluate must still be able to answer the candidate.
        let is_evaluable = self.interviewed_at.is_some() || !self.completed_by().is_empty();
        if is_evaluable && self.is_hidden_from(customer, project) { Err(EVALUATE_FIRST) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::evaluation::EvaluationReport;
    use crate::samples::{self, customer, evaluator_index};

    fn project(team_evaluation: u8, evaluators: &[u8]) -> Project {
        let mut project = samples::project();
        project.settings.team_evaluation = team_evaluation;
        project.staff.evaluators = evaluators.iter().map(|byte| customer(*byte)).collect();
        project
    }

    #[test]
    fn the_project_sets_the_number_of_evaluations_needed() {
        assert_eq!(project(0, &[1, 2, 3]).evaluations_needed(), 3);
        assert_eq!(project(2, &[1, 2, 3]).evaluations_needed(), 2);
        assert_eq!(project(0, &[]).evaluations_needed(), 1, "without evaluators nobody is fully evaluated");
    }

    #[test]
    fn the_status_follows_from_completed_evaluations() {
        let project = project(2, &[1, 2, 3]);
        let mut candidate = samples::candidate();
        for (evaluator, status) in
            [(4, EvaluationStatus::Pending), (1, EvaluationStatus::Partial), (2, EvaluationStatus::Completed)]
        {
            let bit = evaluator_index().assign_bit(customer(evaluator)).unwrap();
            let report = EvaluationReport { completed: true, at: DateTime::UNIX_EPOCH, bit };
            candidate.evaluations.insert(customer(evaluator), report);
            assert_eq!(candidate.evaluation_status(&project), status);
        }
        let of = |byte| candidate.own_evaluation_status(Some(customer(byte)), &project);
        assert_eq!(of(1), Some(EvaluationStatus::Completed));
        assert_eq!(of(3), Some(EvaluationStatus::Pending));
        assert_eq!(of(4), None, "not an evaluator");
        assert_eq!(candidate.own_evaluation_status(None, &project), None);
    }
}
