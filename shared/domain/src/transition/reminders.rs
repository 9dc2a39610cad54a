//! Automatic reminders, at set times before the deadline.

use chrono::{DateTime, TimeDelta, Utc};

use super::{CandidateChange, CandidateMail};
use crate::candidate::Candidate;
use crate::project::ReminderDays;

/// A reminder is dropped if another mail was sent less than a day before it, or if it is a day late.
const DAY: TimeDelta = TimeDelta::days(1);

impl Candidate {
    /// The time of the next automatic reminder, even if it will be dropped then. `None` unless the candidate is invited or confirmed.
    pub fn next_reminder_at(&self) -> Option<DateTime<Utc>> {
        self.reminders.first().copied().filter(|_| self.status.is_waiting())
    }

    /// When the schedule must process the candidate next: at the end of their time or at the next reminder, whichever is earlier.
    pub fn due_at(&self) -> Option<DateTime<Utc>> {
        self.expires_at().into_iter().chain(self.next_reminder_at()).min()
    }

    /// Sets the times of the reminders before the deadline. Later changes of the project's days affect only later invitations and
    /// deadlines.
    pub(super) fn arm_reminders(&mut self, days: &ReminderDays, now: DateTime<Utc>) {
        let deadline = self.profile.deadline;
        self.reminders = deadline.map(|deadline| days.moments(deadline, now)).unwrap_or_default();
    }

    /// Sends or drops the reminder that is due at `now`; `None` if none is due. A reminder is dropped, not postponed, if it is a
    /// day late, if another mail was sent less than a day before it, if the project is not running, if the deadline has passed,
    /// or if the candidate gets no mails.
    pub fn after_due_reminder(
        mut self,
        project_is_running: bool,
        now: DateTime<Utc>,
    ) -> Option<CandidateChange> {
        self.next_reminder_at().filter(|moment| *moment <= now)?;
        self.reminders.retain(|moment| now - *moment < DAY);
        let Some(moment) = self.reminders.first().copied().filter(|moment| *moment <= now) else {
            return Some(self.into());
        };
        self.reminders.remove(0);
        let is_mailed = self.mailed_at.is_some_and(|mailed_at| mailed_at > moment - DAY);
        let is_reached = self.takes_mails() && self.require_reachable().is_ok();
        if is_mailed || !is_reached || !project_is_running || self.is_overdue(now) {
            return Some(self.into());
        }
        self.reminded_at = Some(now);
        // The mail counts at the reminder's planned time. Reminders a day apart are then all sent, however late the sweeps run.
        Some(CandidateChange::new(self, Some(CandidateMail::Reminder), moment))
    }
}
