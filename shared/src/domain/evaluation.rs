//! When the evaluation of a candidate counts as completed.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::id::CustomerId;

/// How far the evaluation of a candidate has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum EvaluationStatus {
    /// Nobody has finished evaluating.
    Pending,
    /// Some have, too few.
    Partial,
    /// Enough have.
    Completed,
}

/// How many completed evaluations make a candidate fully evaluated: `team_evaluation`, where 0 means all evaluators.
pub fn needed(team_evaluation: u8, evaluators: usize) -> usize {
    if team_evaluation == 0 { evaluators } else { usize::from(team_evaluation) }
}

/// The evaluation status of a candidate that the customers in `completed_by` have evaluated.
pub fn status(completed_by: &BTreeSet<CustomerId>, needed: usize) -> EvaluationStatus {
    match completed_by.len() {
        0 => EvaluationStatus::Pending,
        done if done < needed => EvaluationStatus::Partial,
        _ => EvaluationStatus::Completed,
    }
}

/// The evaluation status as `evaluator` sees it: none for who is none.
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
    fn enough_is_what_the_project_says() {
        let [one, two] = [1, 2].map(|byte| CustomerId::from_bytes([byte; 16]));
        let by = |customers: &[CustomerId]| customers.iter().copied().collect::<BTreeSet<_>>();
        assert_eq!(needed(0, 3), 3);
        assert_eq!(needed(2, 3), 2);
        assert_eq!(status(&by(&[]), 2), EvaluationStatus::Pending);
        assert_eq!(status(&by(&[one]), 2), EvaluationStatus::Partial);
        assert_eq!(status(&by(&[one, two]), 2), EvaluationStatus::Completed);
        assert_eq!(
            status(&by(&[]), 0),
            EvaluationStatus::Pending,
            "without evaluators nothing was evaluated"
        );
        assert_eq!(status_for(Some(one), &by(&[])), Some(EvaluationStatus::Pending));
        assert_eq!(status_for(Some(one), &by(&[one])), Some(EvaluationStatus::Completed));
        assert_eq!(status_for(None, &by(&[one])), None);
    }
}
