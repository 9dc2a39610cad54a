//! When a candidate's evaluation is complete.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::candidate::Candidate;
use super::id::CustomerId;
use super::project::Project;

/// The state of a candidate's evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum EvaluationStatus {
    /// No evaluation is complete.
    Pending,
    /// Some evaluations are complete, but not enough.
    Partial,
    /// Enough evaluations are complete.
    Completed,
}

/// The number of completed evaluations that make a candidate fully evaluated: `team_evaluation`, or the number of
/// evaluators if that is 0. Never 0: without evaluators, no candidate is fully evaluated.
pub fn needed(team_evaluation: u8, evaluators: usize) -> usize {
    if team_evaluation == 0 { evaluators.max(1) } else { usize::from(team_evaluation) }
}

/// The evaluation status of a candidate of a project: a veto by one of its evaluators completes the evaluation.
pub fn status_of(candidate: &Candidate, project: &Project) -> EvaluationStatus {
    let evaluators = &project.staff.evaluators;
    if candidate.vetos().any(|(by, _)| evaluators.contains(&by)) {
        return EvaluationStatus::Completed;
    }
    // Evaluations by other customers are stored, and count once their authors become evaluators.
    let done = candidate.completed_by().intersection(evaluators).count();
    status(done, project.evaluations_needed())
}

/// The evaluation status with `done` completed evaluations by the project's evaluators.
fn status(done: usize, needed: usize) -> EvaluationStatus {
    match done {
        0 => EvaluationStatus::Pending,
        done if done < needed => EvaluationStatus::Partial,
        _ => EvaluationStatus::Completed,
    }
}

/// The evaluation status for `evaluator`; none for other users.
pub fn status_for(
    evaluator: Option<CustomerId>,
    completed_by: &BTreeSet<CustomerId>,
) -> Option<EvaluationStatus> {
    let is_done = completed_by.contains(&evaluator?);
    Some(if is_done { EvaluationStatus::Completed } else { EvaluationStatus::Pending })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_sets_the_number_of_evaluations_needed() {
        let one = CustomerId::from_bytes([1; 16]);
        let by = |customers: &[CustomerId]| customers.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!(needed(0, 3), 3);
        assert_eq!(needed(2, 3), 2);
        assert_eq!(needed(0, 0), 1, "without evaluators nobody is fully evaluated");
        assert_eq!(status(0, 2), EvaluationStatus::Pending);
        assert_eq!(status(1, 2), EvaluationStatus::Partial);
        assert_eq!(status(2, 2), EvaluationStatus::Completed);
        assert_eq!(status_for(Some(one), &by(&[])), Some(EvaluationStatus::Pending));
        assert_eq!(status_for(Some(one), &by(&[one])), Some(EvaluationStatus::Completed));
        assert_eq!(status_for(None, &by(&[one])), None);
    }
}
