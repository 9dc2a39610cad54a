//! Moves of a candidate: one table, and the rules they follow.

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};

use super::Refusal;
use super::candidate::{Candidate, CandidateStatus, EMAIL_MISSING};
use super::company::Company;
use super::mail::CandidateMail;
use super::project::{Project, ProjectStatus};
use super::rate::MailLimitReached;
use super::secret::AccessKey;
use super::suppression::UNDELIVERABLE;

/// The user who advances a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// A project manager.
    Manager,
    /// The candidate.
    Candidate,
}

impl Actor {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Manager, Self::Candidate];
}

/// A condition of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveCondition {
    /// The project is running.
    ProjectRunning,
    /// The email address is deliverable.
    Reachable,
    /// There is a deadline, and it is in the future.
    DeadlineAhead,
    /// The deadline, if there is one, is in the future.
    DeadlineNotPassed,
    /// A password is set, or the project needs none.
    HasPassword,
    /// Never holds: the platform reports this move as an event.
    ByEventOnly,
}

/// One row of the table: who may advance a candidate from a status, and the conditions.
#[derive(Debug, Clone, Copy)]
pub struct AdvanceRule {
    /// The current status.
    pub from: CandidateStatus,
    /// The user who may advance the candidate.
    pub by: Actor,
    /// Restricts the row to candidates with, or without, a password.
    pub has_password: Option<bool>,
    /// The conditions, checked in this order.
    pub needs: &'static [MoveCondition],
    /// The next status.
    pub to: CandidateStatus,
    /// The mail to the candidate.
    pub mail: Option<CandidateMail>,
}

/// All ways to advance.
pub const ADVANCES: &[AdvanceRule] = {
    use CandidateStatus::{Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, New};
    use MoveCondition::{
        ByEventOnly, DeadlineAhead, DeadlineNotPassed, HasPassword, ProjectRunning, Reachable,
    };
    const fn line(
        from: CandidateStatus,
        by: Actor,
        has_password: Option<bool>,
        needs: &'static [MoveCondition],
        to: CandidateStatus,
        mail: Option<CandidateMail>,
    ) -> AdvanceRule {
        AdvanceRule { from, by, has_password, needs, to, mail }
    }
    const INVITATION: Option<CandidateMail> = Some(CandidateMail::Invitation);
    const DEADLINE: Option<CandidateMail> = Some(CandidateMail::DeadlineChanged);
    &[
        line(New, Actor::Manager, None, &[ProjectRunning, Reachable, DeadlineAhead], Invited, INVITATION),
        line(Aborted, Actor::Manager, None, &[ProjectRunning, DeadlineAhead], Confirmed, DEADLINE),
        line(
            Expired,
            Actor::Manager,
            Some(false),
            &[ProjectRunning, Reachable, DeadlineAhead],
            Invited,
            INVITATION,
        ),
        line(Expired, Actor::Manager, Some(true), &[ProjectRunning, DeadlineAhead], Confirmed, DEADLINE),
        line(
            Invited,
            Actor::Candidate,
            None,
            &[ProjectRunning, DeadlineNotPassed, HasPassword],
            Confirmed,
            None,
        ),
        line(Confirmed, Actor::Candidate, None, &[ProjectRunning, DeadlineAhead], Interviewing, None),
        line(Interviewing, Actor::Candidate, None, &[ByEventOnly], Interviewed, None),
    ]
};

/// No row of the table applies.
pub const NO_TRANSITION: Refusal =
    Refusal { code: "no_transition", detail: "You cannot advance the candidate from the current status." };
/// The project is not running.
pub const PROJECT_NOT_RUNNING: Refusal = Refusal {
    code: "project_not_running",
    detail: "The project is not running. Set its status to `40-running` first.",
};
/// The email address of an invited candidate cannot be removed.
pub const EMAIL_REQUIRED: Refusal = Refusal {
    code: "email_missing",
    detail: "An invited candidate needs an email address. Replace it instead of removing it.",
};
const DEADLINE_MISSING: Refusal =
    Refusal { code: "deadline_missing", detail: "The candidate has no deadline. Set one first." };
/// The deadline has passed.
pub const DEADLINE_PASSED: Refusal = Refusal {
    code: "deadline_passed",
    detail: "The candidate's deadline has passed. Set a later one first.",
};
const PASSWORD_MISSING: Refusal =
    Refusal { code: "password_missing", detail: "Set a password before you confirm." };
const NOT_IMPLEMENTED: Refusal = Refusal {
    code: "not_implemented",
    detail: "Candidates complete interviews on the interview platform. This endpoint cannot mark them as completed.",
};
/// The candidate cannot be skipped.
pub const NOT_SKIPPABLE: Refusal = Refusal {
    code: "no_transition",
    detail: "Candidates who have started or completed the interview, or are already skipped, cannot be skipped.",
};
/// The candidate cannot be reminded.
pub const NOT_REMINDABLE: Refusal =
    Refusal { code: "no_reminder", detail: "Only invited or confirmed candidates can be reminded." };

/// All refusals of advancing.
pub const NOT_ADVANCED: [Refusal; 8] = [
    NO_TRANSITION,
    PROJECT_NOT_RUNNING,
    EMAIL_MISSING,
    UNDELIVERABLE,
    DEADLINE_MISSING,
    DEADLINE_PASSED,
    PASSWORD_MISSING,
    NOT_IMPLEMENTED,
];

/// The settings of project and company for advancing.
#[derive(Debug, Clone, Copy)]
pub struct AdvanceTerms {
    /// Whether the project is running.
    pub is_running: bool,
    /// Days until the deadline that candidates without one get when they are invited.
    pub default_days: Option<u32>,
    /// Whether candidates may take the interview without a password.
    pub allow_hash_login: bool,
}

impl AdvanceTerms {
    /// The terms of a project of a company.
    pub fn of(project: &Project, company: &Company) -> Self {
        Self {
            is_running: project.status == ProjectStatus::Running,
            default_days: project.settings.default_interview_period.or(company.default_interview_period),
            allow_hash_login: project.settings.allow_hash_login,
        }
    }
}

/// The result of a rule: the changed candidate, and the mail about the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransitionResult {
    /// The candidate.
    pub candidate: Candidate,
    /// None if the candidate cannot get mails.
    pub mail: Option<CandidateMail>,
    /// Whether the write requires that the project is still running.
    pub needs_running_project: bool,
}

impl From<Candidate> for TransitionResult {
    /// A change without a mail.
    fn from(candidate: Candidate) -> Self {
        Self::new(candidate, None)
    }
}

impl TransitionResult {
    fn new(candidate: Candidate, mail: Option<CandidateMail>) -> Self {
        let mail = mail.filter(|_| candidate.profile.email.is_some());
        Self { candidate, mail, needs_running_project: false }
    }
}

impl MoveCondition {
    fn refusal(self, candidate: &Candidate, terms: &AdvanceTerms, now: DateTime<Utc>) -> Option<Refusal> {
        match self {
            Self::ProjectRunning => (!terms.is_running).then_some(PROJECT_NOT_RUNNING),
            Self::Reachable => candidate.require_reachable().err(),
            Self::DeadlineAhead if candidate.profile.deadline.is_none() => Some(DEADLINE_MISSING),
            Self::DeadlineAhead | Self::DeadlineNotPassed => {
                candidate.is_overdue(now).then_some(DEADLINE_PASSED)
            }
            Self::HasPassword => {
                (candidate.password_hash.is_none() && !terms.allow_hash_login).then_some(PASSWORD_MISSING)
            }
            Self::ByEventOnly => Some(NOT_IMPLEMENTED),
        }
    }
}

impl Candidate {
    /// Whether the deadline has passed.
    pub fn is_overdue(&self, now: DateTime<Utc>) -> bool {
        self.profile.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Advances the candidate. `key` is a fresh one, for an invitation. Fails if no row of [`ADVANCES`] applies, or
    /// with the first condition that does not hold.
    pub fn advance(
        mut self,
        by: Actor,
        terms: &AdvanceTerms,
        now: DateTime<Utc>,
        key: AccessKey,
    ) -> Result<TransitionResult, Refusal> {
        let fits = |line: &&AdvanceRule| {
            line.from == self.status
                && line.by == by
                && line.has_password.is_none_or(|needed| needed == self.password_hash.is_some())
        };
        let line = ADVANCES.iter().find(fits).ok_or(NO_TRANSITION)?;
        if self.status == CandidateStatus::New && self.profile.deadline.is_none() {
            let after = |days: u32| now + TimeDelta::days(days.into());
            // Deadlines have whole seconds, so that sending back a read deadline does not change it.
            self.profile.deadline = terms.default_days.map(|days| after(days).trunc_subsecs(0));
        }
        if let Some(refusal) = line.needs.iter().find_map(|condition| condition.refusal(&self, terms, now)) {
            return Err(refusal);
        }
        self.status = line.to;
        match line.to {
            CandidateStatus::Invited => {
                self.invited_at = Some(now);
                self.access_key = Some(key);
            }
            CandidateStatus::Confirmed => {
                self.confirmed_at = Some(now);
                let known = self.access_key.take();
                // Only projects without passwords: there the key stays the candidate's only credential.
                self.access_key = self.password_hash.is_none().then(|| known.unwrap_or(key));
            }
            CandidateStatus::Interviewing => self.started_at = Some(now),
            _ => {}
        }
        let needs_running_project = line.needs.contains(&MoveCondition::ProjectRunning);
        Ok(TransitionResult { needs_running_project, ..TransitionResult::new(self, line.mail) })
    }

    /// Withdraws the candidate permanently: revokes their sessions and their key. Fails for candidates who have started
    /// or completed an interview, or are already skipped.
    pub fn skip(mut self) -> Result<TransitionResult, Refusal> {
        use CandidateStatus::{
            Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, New, Skipped,
        };
        match self.status {
            New | Invited | Confirmed | Expired | Aborted => {}
            Interviewing | Interviewed | Skipped => return Err(NOT_SKIPPABLE),
        }
        self.status = Skipped;
        self.access_key = None;
        self.one_time_key = None;
        self.session_epoch += 1;
        Ok(TransitionResult::new(self, None))
    }

    /// Applies a manager's change at `now` to the candidate, who was `before`: a new deadline is mailed, and a new
    /// address revokes the keys sent to the old one. `key` is a fresh one. Fails if an invited candidate would be
    /// without a deliverable address, or gets too many mails.
    pub fn after_change(
        self,
        before: &Self,
        now: DateTime<Utc>,
        key: AccessKey,
    ) -> Result<TransitionResult, MailLimitReached> {
        if self.profile.email != before.profile.email {
            if self.status == CandidateStatus::Invited {
                self.profile.email.as_ref().ok_or(EMAIL_REQUIRED)?;
                self.require_reachable()?;
            }
            // A first address revokes nothing: no mail has gone to another person.
            if before.profile.email.is_some() {
                return self.after_move(before, now, key);
            }
        }
        let mail = self.deadline_mail(before, now);
        Ok(TransitionResult::new(self, mail))
    }

    /// Applies a new address: revokes the keys mailed to the old one and all sessions, and mails the next key to the
    /// new address.
    fn after_move(
        mut self,
        before: &Self,
        now: DateTime<Utc>,
        key: AccessKey,
    ) -> Result<TransitionResult, MailLimitReached> {
        let had_key = self.access_key.is_some();
        self.access_key = had_key.then_some(key);
        self.one_time_key = None;
        self.session_epoch += 1;
        let is_over = self.is_overdue(now);
        let mail = match self.status {
            CandidateStatus::Invited => {
                // The password was chosen with a key that the wrong person may have had.
                self.password_hash = None;
                self.invited_at = Some(now);
                (!is_over).then_some(CandidateMail::Invitation)
            }
            CandidateStatus::Confirmed if had_key => (!is_over).then_some(CandidateMail::Reminder),
            _ => self.deadline_mail(before, now),
        };
        let key_is_mailed = had_key && mail.is_some() && self.profile.email.is_some();
        // Counts like a reminder, or a change of the address would be a way around the limit.
        if key_is_mailed {
            self.mail_rate.count(now)?;
        }
        Ok(TransitionResult::new(self, mail))
    }

    /// The mail about a changed deadline, if it affects the candidate.
    fn deadline_mail(&self, before: &Self, now: DateTime<Utc>) -> Option<CandidateMail> {
        let is_waiting = matches!(self.status, CandidateStatus::Invited | CandidateStatus::Confirmed);
        // A deadline that was set in the past is no news that the candidate could act on.
        let is_news = self.profile.deadline != before.profile.deadline && !self.is_overdue(now);
        (is_waiting && is_news).then_some(CandidateMail::DeadlineChanged)
    }

    /// Reminds the candidate of the interview. Fails if they are neither invited nor confirmed, the deadline has passed,
    /// the address is not deliverable, or too many mails were sent.
    pub fn remind(mut self, now: DateTime<Utc>) -> Result<TransitionResult, MailLimitReached> {
        if !matches!(self.status, CandidateStatus::Invited | CandidateStatus::Confirmed) {
            return Err(NOT_REMINDABLE.into());
        }
        if self.is_overdue(now) {
            return Err(DEADLINE_PASSED.into());
        }
        self.require_reachable()?;
        self.mail_rate.count(now)?;
        self.reminded_at = Some(now);
        Ok(TransitionResult::new(self, Some(CandidateMail::Reminder)))
    }

    /// The candidate after the deadline; none if it changes nothing.
    pub fn expire(mut self, now: DateTime<Utc>) -> Option<Self> {
        if !self.is_overdue(now) {
            return None;
        }
        self.status = match self.status {
            CandidateStatus::Invited | CandidateStatus::Confirmed => CandidateStatus::Expired,
            CandidateStatus::Interviewing => CandidateStatus::Aborted,
            _ => return None,
        };
        self.access_key = None;
        Some(self)
    }
}

#[cfg(test)]
mod tests;
