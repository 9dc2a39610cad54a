//! Applies the reports of other parts of the platform to a candidate, in any order.

use chrono::{DateTime, Utc};

use crate::Refusal;
use crate::candidate::{Candidate, CandidateStatus};
use crate::evaluation::EvaluationReport;
use crate::evaluation::evaluator_index::EvaluatorIndex;
use crate::id::CustomerId;
use crate::transition::CandidateChange;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlatformReport {
    Completed,
    /// The interview ended before it was complete.
    Aborted,
    /// An evaluation was completed or withdrawn.
    Evaluated {
        /// The evaluator.
        customer: CustomerId,
        /// Whether the evaluation is complete.
        completed: bool,
    },
}

impl Candidate {
    /// The change that `report`, of an event at `at`, makes to the candidate; `None` if it changes nothing. A customer's first
    /// evaluation assigns them a bit in the project's `evaluator_index`.
    ///
    /// A completed interview counts after any earlier report or expiry. An aborted one counts only for the current attempt.
    /// Neither counts if it happened before the interview was reopened. An evaluation may arrive before its interview. If an
    /// evaluator has several reports and saves, the latest counts; if they have vetoed, their evaluation stays completed.
    /// Evaluations by other customers are kept. Fails with
    /// [`TOO_MANY_EVALUATORS`](crate::evaluation::evaluator_index::TOO_MANY_EVALUATORS).
    pub fn after_report(
        mut self,
        report: PlatformReport,
        evaluator_index: &mut EvaluatorIndex,
        at: DateTime<Utc>,
    ) -> Result<Option<CandidateChange>, Refusal> {
        use CandidateStatus::{Aborted, Confirmed, Expired, Interviewing};
        match (report, self.status) {
            (PlatformReport::Completed | PlatformReport::Aborted, _) if self.was_reopened_since(at) => {
                return Ok(None);
            }
            (PlatformReport::Completed, Interviewing | Confirmed | Aborted | Expired) => {
                return Ok(Some(self.completed(at)));
            }
            (PlatformReport::Aborted, Interviewing) if !self.started_after(at) => {
                self.status = Aborted;
                self.aborted_at = Some(at);
                self = self.with_access_ended();
            }
            (PlatformReport::Evaluated { customer, completed }, _) => {
                let known = self.evaluations.get(&customer).map(|known| known.at);
                let saved = self.scores.get(&customer).map(|score| score.saved_at);
                if known.max(saved).is_some_and(|last| last > at) || self.is_vetoed_by(customer) {
                    return Ok(None);
                }
                // The author may become an evaluator later, so assign a bit now.
                let bit = evaluator_index.assign_bit(customer)?;
                self.evaluations.insert(customer, EvaluationReport { completed, at, bit });
                self.scores.entry(customer).or_default().revision += 1;
            }
            (PlatformReport::Completed | PlatformReport::Aborted, _) => return Ok(None),
        }
        Ok(Some(self.into()))
    }

    /// Whether the interview was reopened after `at` or in the same second. `at` has whole seconds.
    fn was_reopened_since(&self, at: DateTime<Utc>) -> bool {
        self.reopening.as_ref().is_some_and(|last| last.reopened_at.timestamp() >= at.timestamp())
    }

    /// Whether the current attempt at the interview started after `at`. `at` has whole seconds.
    fn started_after(&self, at: DateTime<Utc>) -> bool {
        self.started_at.is_some_and(|started| started.timestamp() > at.timestamp())
    }
}

#[cfg(test)]
mod tests;
