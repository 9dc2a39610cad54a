//! What the platform's other parts report of a candidate, in whatever order it arrives.

use chrono::{DateTime, Utc};

use super::Refusal;
use super::candidate::{Candidate, CandidateStatus, Evaluation};
use super::id::CustomerId;
use super::roster::Roster;

/// What was reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// The interview was taken to its end.
    Completed,
    /// The interview was broken off.
    Aborted,
    /// An evaluator finished evaluating, or took that back.
    Evaluated {
        /// The evaluator.
        customer: CustomerId,
        /// Whether the evaluation is finished.
        completed: bool,
    },
}

impl Candidate {
    /// The candidate as `report`, of something that happened at `at`, makes it; none when it changes nothing. Whoever
    /// evaluates for the first time takes a seat in the `roster` of the candidate's project.
    ///
    /// A completed interview is a fact whatever was reported or swept before it; one that was broken off counts only if
    /// it is the present one, not an earlier try. An evaluation may arrive before the interview that it is of; of two by
    /// one evaluator, the one that happened later counts. Evaluations are kept whoever made them: those who are no
    /// evaluators today may become some tomorrow.
    ///
    /// # Errors
    /// [`NO_SEAT`](super::roster::NO_SEAT).
    pub fn after_report(
        mut self,
        report: Report,
        roster: &mut Roster,
        at: DateTime<Utc>,
    ) -> Result<Option<Self>, Refusal> {
        use CandidateStatus::{Aborted, Confirmed, Expired, Interviewed, Interviewing};
        match (report, self.status) {
            (Report::Completed, Interviewing | Confirmed | Aborted | Expired) => {
                self.status = Interviewed;
                self.interviewed_at = Some(at);
                self.access_key = None;
            }
            (Report::Aborted, Interviewing) if !self.started_after(at) => {
                self.status = Aborted;
                self.access_key = None;
            }
            (Report::Evaluated { customer, completed }, _) => {
                let known = self.evaluations.get(&customer);
                if known.is_some_and(|known| known.at > at) {
                    return Ok(None);
                }
                let seat = roster.take_seat(customer)?;
                self.evaluations.insert(customer, Evaluation { completed, at, seat });
            }
            (Report::Completed | Report::Aborted, _) => return Ok(None),
        }
        Ok(Some(self))
    }

    /// Whether the present try at the interview began after `at`, of which only the second is known.
    fn started_after(&self, at: DateTime<Utc>) -> bool {
        self.started_at.is_some_and(|started| started.timestamp() > at.timestamp())
    }
}

#[cfg(test)]
mod tests;
