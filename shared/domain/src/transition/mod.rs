//! Moves of a candidate between statuses: one table, and the rules for them.

mod action;
mod advances;
mod cancellation;
mod help_answer;
mod latest_link;
mod mail;
pub mod project_counts;
mod reminders;
mod reopening;
pub mod report;

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};

pub use action::CandidateAction;
pub use advances::{
    ADVANCES, Actor, AdvanceRule, AdvanceTerms, DEADLINE_MISSING, DEADLINE_PASSED, DEADLINE_REQUIRED,
    EMAIL_REQUIRED, InterviewTerms, MAILS_OFF, MoveCondition, NO_TRANSITION, NOT_ADVANCED, NOT_REMINDABLE,
    NOT_SKIPPABLE, PROJECT_NOT_RUNNING,
};
pub use mail::CandidateMail;
pub use reopening::{ALREADY_EVALUATED, NOT_REOPENABLE, ReopeningRequest, ReopeningTerms};

use super::Refusal;
use super::candidate::{Candidate, CandidateStatus, EndedByTime};
use super::mail::rate::RefusedOrThrottled;
use super::privacy::erasure_request::ERASURE_REQUESTED;
use super::project::ReminderDays;
use super::secret::AccessKey;

/// A change of a candidate that the rules allow, with the mail about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateChange {
    pub candidate: Candidate,
    /// `None` if no mail is due, or the candidate takes no mails.
    pub mail: Option<CandidateMail>,
    /// Whether the write must check that the project is still running.
    pub needs_running_project: bool,
}

impl From<Candidate> for CandidateChange {
    /// A change without a mail.
    fn from(candidate: Candidate) -> Self {
        Self { candidate, mail: None, needs_running_project: false }
    }
}

impl CandidateChange {
    fn new(mut candidate: Candidate, mail: Option<CandidateMail>, now: DateTime<Utc>) -> Self {
        let mail = mail.filter(|_| candidate.takes_mails());
        candidate.mailed_at = mail.map(|_| now).or(candidate.mailed_at);
        candidate.is_key_mailed |= mail.is_some() && candidate.access_key.is_some();
        Self { candidate, mail, needs_running_project: false }
    }

    /// Counts the mail, if there is one, towards the limit of reminders. Otherwise, changing the deadline or the address would
    /// circumvent the limit.
    fn count_mail(&mut self, now: DateTime<Utc>) -> Result<(), RefusedOrThrottled> {
        if self.mail.is_some() { self.candidate.mail_rate.count(now) } else { Ok(()) }
    }
}

impl Candidate {
    /// Whether the deadline has passed.
    pub fn is_overdue(&self, now: DateTime<Utc>) -> bool {
        self.profile.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Advances the candidate. `key` is a new key for an invitation. Fails if no row of [`ADVANCES`] applies, or with the first
    /// condition that does not hold.
    pub fn advance(
        mut self,
        by: Actor,
        terms: &AdvanceTerms,
        now: DateTime<Utc>,
        key: AccessKey,
    ) -> Result<CandidateChange, Refusal> {
        let line = ADVANCES.iter().find(|line| {
            line.from == self.status
                && line.by == by
                && line.has_password.is_none_or(|needed| needed == self.password_hash.is_some())
        });
        let line = line.ok_or(NO_TRANSITION)?;
        if self.status == CandidateStatus::New && self.profile.deadline.is_none() {
            let deadline = terms.default_days.map(|days| now + TimeDelta::days(days.into()));
            // Whole seconds, so that a client that sends back a deadline does not change it.
            self.profile.deadline = deadline.map(|deadline| deadline.trunc_subsecs(0));
        }
        if let Some(refusal) = line.needs.iter().find_map(|condition| condition.refusal(&self, terms, now)) {
            return Err(refusal);
        }
        if line.to.is_waiting() && !self.status.is_waiting() {
            self.arm_reminders(&terms.reminder_days, now);
        }
        self.status = line.to;
        self.ended_by_time = None;
        match line.to {
            CandidateStatus::Invited => {
                self.invited_at = Some(now);
                self.replace_key(Some(key));
            }
            CandidateStatus::Confirmed => {
                self.confirmed_at = Some(now);
                self.keep_key_or(key);
            }
            CandidateStatus::Interviewing => {
                self.started_at = Some(now);
                self.interview = terms.interview.map(|interview| interview.conducted);
            }
            CandidateStatus::Interviewed => self = self.interviewed(now),
            _ => {}
        }
        let needs_running_project = line.needs.contains(&MoveCondition::ProjectRunning);
        Ok(CandidateChange { needs_running_project, ..CandidateChange::new(self, line.mail, now) })
    }

    /// Completes the interview at `at` and revokes the candidate's sessions. There is a mail if this service conducts the interview.
    pub fn completed(self, at: DateTime<Utc>) -> CandidateChange {
        let mail = self.interview.map(|_| CandidateMail::Completed);
        CandidateChange::new(self.interviewed(at), mail, at)
    }

    /// Withdraws the candidate permanently at `now`, and revokes their sessions and their key. Fails for candidates who are in
    /// the interview, have completed it, or are already skipped.
    pub fn skip(self, now: DateTime<Utc>) -> Result<CandidateChange, Refusal> {
        use CandidateStatus::{
            Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, New, Skipped,
        };
        match self.status {
            New | Invited | Confirmed | Expired | Aborted => {}
            Interviewing | Interviewed | Skipped => return Err(NOT_SKIPPABLE),
        }
        Ok(self.withdrawn(now).into())
    }

    /// Makes the candidate `skipped` at `now` and revokes their key and sessions.
    fn withdrawn(mut self, now: DateTime<Utc>) -> Self {
        self.status = CandidateStatus::Skipped;
        self.ended_by_time = None;
        self.skipped_at = Some(now);
        self.one_time_key = None;
        self.close_help_request(now);
        self.with_access_ended()
    }

    /// Applies a manager's change at `now` to the candidate, who was `before`. A new deadline is mailed, and a new address
    /// revokes the keys sent to the old one. `key` is a new key for candidates who [move](Self::moves_from); without it, they
    /// would have none. Candidates who have requested erasure get no mail. `reminder_days` are those of the project. Fails if an
    /// invited candidate would have no deliverable address, an interview would have no end, or the candidate gets too many mails.
    pub fn after_change(
        mut self,
        before: &Self,
        reminder_days: &ReminderDays,
        now: DateTime<Utc>,
        key: Option<AccessKey>,
    ) -> Result<CandidateChange, RefusedOrThrottled> {
        let has_other_deadline = self.profile.deadline != before.profile.deadline;
        if has_other_deadline {
            self.arm_reminders(reminder_days, now);
        }
        if has_other_deadline || self.adjustments != before.adjustments {
            self.close_help_request(now);
        }
        // Without an end, the key and the interview would stay valid forever.
        if self.status == CandidateStatus::Interviewing
            && self.profile.deadline.is_none()
            && before.profile.deadline.is_some()
        {
            return Err(DEADLINE_REQUIRED.into());
        }
        let needs_email = self.status == CandidateStatus::Invited && self.profile.receive_mails;
        // A pending address that is withdrawn may have been the only one.
        if needs_email && self.shown_email().is_none() && before.shown_email().is_some() {
            return Err(EMAIL_REQUIRED.into());
        }
        if self.profile.email != before.profile.email && needs_email {
            self.require_reachable()?;
        }
        if self.moves_from(before) {
            return self.after_move(before, now, key);
        }
        let mail = self.deadline_mail(before, now);
        let mut change = CandidateChange::new(self, mail, now);
        change.count_mail(now)?;
        Ok(change)
    }

    /// Whether the candidate, who was `before`, has left the address to which their keys were sent.
    pub fn moves_from(&self, before: &Self) -> bool {
        // Setting a first address is not a move: no mail can have reached another person.
        before.profile.email.is_some() && self.profile.email != before.profile.email
    }

    /// Applies a new address: revokes all sessions and the keys mailed to the old address, and mails the key to the new one.
    fn after_move(
        mut self,
        before: &Self,
        now: DateTime<Utc>,
        key: Option<AccessKey>,
    ) -> Result<CandidateChange, RefusedOrThrottled> {
        // Keep a key that only the client has handed out: nobody at the old address knows it.
        let keeps_key = self.access_key.is_some() && !self.is_key_mailed;
        let next = self.access_key.clone().and_then(|known| if keeps_key { Some(known) } else { key });
        let has_key = next.is_some();
        self.redirect_key(next);
        self.one_time_key = None;
        self.session_epoch += 1;
        let is_over = self.is_overdue(now);
        let mail = match self.status {
            CandidateStatus::Invited => {
                // The password may have been chosen with a key that reached the wrong person.
                self.password_hash = self.password_hash.filter(|_| keeps_key);
                // Without a mail, the change is no invitation.
                if self.takes_mails() {
                    self.invited_at = Some(now);
                }
                (!is_over).then_some(CandidateMail::Invitation)
            }
            CandidateStatus::Confirmed if has_key => (!is_over).then_some(CandidateMail::Reminder),
            _ => self.deadline_mail(before, now),
        };
        let mut change = CandidateChange::new(self, mail, now);
        change.count_mail(now)?;
        Ok(change)
    }

    /// The mail about a changed deadline; `None` if it does not concern the candidate.
    fn deadline_mail(&self, before: &Self, now: DateTime<Utc>) -> Option<CandidateMail> {
        // The candidate could not act on a deadline in the past, so it is not mailed.
        let is_news = self.profile.deadline != before.profile.deadline && !self.is_overdue(now);
        (self.status.is_waiting() && is_news).then_some(CandidateMail::DeadlineChanged)
    }

    /// Reminds the candidate of the interview. Fails if they are neither invited nor confirmed, have requested erasure, take no
    /// mails or have no deliverable address, if the deadline has passed, or if too many mails were sent.
    pub fn remind(mut self, now: DateTime<Utc>) -> Result<CandidateChange, RefusedOrThrottled> {
        if !self.status.is_waiting() {
            return Err(NOT_REMINDABLE.into());
        }
        if self.erasure_request.is_some() {
            return Err(ERASURE_REQUESTED.into());
        }
        if self.is_overdue(now) {
            return Err(DEADLINE_PASSED.into());
        }
        if !self.profile.receive_mails {
            return Err(MAILS_OFF.into());
        }
        self.require_reachable()?;
        self.mail_rate.count(now)?;
        self.reminded_at = Some(now);
        Ok(CandidateChange::new(self, Some(CandidateMail::Reminder), now))
    }

    /// Ends the candidate's time after the deadline, or after the interview has closed, and revokes their sessions and their key.
    /// `None` if time changes nothing.
    pub fn expire(mut self, now: DateTime<Utc>) -> Option<Self> {
        if !self.has_expired(now) {
            return None;
        }
        self.status = match self.status {
            CandidateStatus::Invited | CandidateStatus::Confirmed => {
                self.expired_at = Some(now);
                CandidateStatus::Expired
            }
            CandidateStatus::Interviewing => {
                self.aborted_at = Some(now);
                CandidateStatus::Aborted
            }
            _ => return None,
        };
        Some(self.with_access_ended())
    }

    /// Records how the interview `ended` by time, after [`expire`](Self::expire) has aborted it, with a mail about it. Does
    /// nothing if no question was answered.
    pub fn with_end_by_time(mut self, ended: EndedByTime, now: DateTime<Utc>) -> CandidateChange {
        if ended.answered == 0 {
            return self.into();
        }
        self.ended_by_time = Some(ended);
        CandidateChange::new(self, Some(CandidateMail::EndedByTime), now)
    }
}

#[cfg(test)]
mod tests;
