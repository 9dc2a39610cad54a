//! Which evaluators are reminded of a candidate.

use chrono::{DateTime, NaiveDate, Utc};

use crate::candidate::{Candidate, CandidateStatus};
use crate::id::CustomerId;
use crate::project::{Project, ProjectStatus};
use crate::scoring::status::EvaluationStatus;
use crate::staff::reminder::is_evaluation_due;
use crate::time_zone::TimeZone;

impl Project {
    /// After how many days the project's evaluators are reminded; `None` if it is not running, has no evaluators or sends no reminders.
    pub fn reminder_days(&self) -> Option<u32> {
        let has_evaluators = !self.staff.evaluators.is_empty();
        self.settings.evaluation_days.filter(|_| self.status == ProjectStatus::Running && has_evaluators)
    }
}

impl Candidate {
    /// The evaluators of the project who are reminded on `day`, in the company's time zone, because the candidate awaits their evaluation.
    pub fn reminded_evaluators<'a>(
        &'a self,
        project: &'a Project,
        zone: &TimeZone,
        day: NaiveDate,
        now: DateTime<Utc>,
    ) -> impl Iterator<Item = CustomerId> + use<'a> {
        let is_due = project.reminder_days().zip(self.interviewed_at).is_some_and(|(days, ended_at)| {
            self.status == CandidateStatus::Interviewed && is_evaluation_due(ended_at, days, zone, day)
        });
        // Nobody should evaluate candidates who have requested erasure or are on hold.
        let is_judged = self.erasure_request.is_none() && self.hold_at(now).is_none();
        let waits = is_due && is_judged && self.evaluation_status(project) != EvaluationStatus::Completed;
        let open = project.staff.evaluators.iter().copied().filter(|by| self.completed_at(*by).is_none());
        open.filter(move |_| waits)
    }
}
