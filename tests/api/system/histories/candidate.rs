//! The model of a candidate.

use shared::domain::candidate::CandidateStatus::{
    self, Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, New, Skipped,
};

use super::step::{DeadlineChange, HistoryStep, KeyOrToken, PlatformReport, StepAnswer, refused};

/// A candidate; its times are minutes since the start.
#[derive(Debug, Clone)]
pub(super) struct ModelCandidate {
    pub(super) status: CandidateStatus,
    pub(super) deadline: Option<i64>,
    pub(super) invited_at: Option<i64>,
    pub(super) confirmed_at: Option<i64>,
    pub(super) interviewed_at: Option<i64>,
    pub(super) has_key: bool,
    pub(super) started_at: Option<i64>,
    pub(super) has_email: bool,
    pub(super) has_password: bool,
    /// When reminders were sent.
    pub(super) reminders: Vec<i64>,
    pub(super) had_key: bool,
    /// Whether it has logged in since it chose its password.
    pub(super) has_token: bool,
    /// The last evaluation of each evaluator: whether it is completed, and when it was made.
    pub(super) evaluations: [Option<(bool, i64)>; 3],
    /// Which evaluators have vetoed.
    pub(super) vetos: [bool; 3],
}

pub(super) static NEW_CANDIDATE: ModelCandidate = ModelCandidate {
    status: New,
    deadline: None,
    invited_at: None,
    confirmed_at: None,
    interviewed_at: None,
    has_key: false,
    started_at: None,
    has_email: false,
    has_password: false,
    reminders: Vec::new(),
    had_key: false,
    has_token: false,
    evaluations: [None; 3],
    vetos: [false; 3],
};

impl ModelCandidate {
    /// The step that advances this candidate, whose number is `candidate`.
    pub(super) fn next_step(&self, candidate: usize, now: i64) -> Option<HistoryStep> {
        let lacks_deadline = self.deadline.is_none() || self.is_overdue(now);
        let by = if self.has_password { KeyOrToken::Token } else { KeyOrToken::Key };
        let report = |report| Some(HistoryStep::Report { candidate, report, minutes_ago: 0 });
        match self.status {
            New | Invited | Confirmed | Expired | Aborted if lacks_deadline => {
                Some(HistoryStep::Deadline { candidate, deadline: DeadlineChange::In(30) })
            }
            New | Expired if !self.has_email => Some(HistoryStep::Email { candidate, has_email: true }),
            New | Expired | Aborted => Some(HistoryStep::Advance { candidate }),
            Invited if !self.has_password && !candidate.is_multiple_of(3) => {
                Some(HistoryStep::Password { candidate, by })
            }
            Invited | Confirmed => Some(HistoryStep::AdvanceItself { candidate, by }),
            Interviewing => report(PlatformReport::Completed),
            Interviewed => {
                let by = (0..2).find(|by| !self.is_evaluated_by(*by))?;
                let is_saved = candidate.is_multiple_of(2);
                if is_saved {
                    return Some(HistoryStep::Save { candidate, by, completed: true });
                }
                report(PlatformReport::Evaluated { by, completed: true })
            }
            Skipped => None,
        }
    }

    /// Removes the email address, and with it the session, or sets it.
    pub(super) fn set_email(&mut self, has_email: bool) -> Result<(), StepAnswer> {
        if self.status == Invited && !has_email {
            return refused("email_missing");
        }
        self.has_token &= !self.has_email || has_email;
        self.has_email = has_email;
        Ok(())
    }

    pub(super) fn is_overdue(&self, now: i64) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    pub(super) fn is_evaluated_by(&self, evaluator: usize) -> bool {
        self.vetos[evaluator] || self.evaluations[evaluator].is_some_and(|(completed, _)| completed)
    }

    /// Saves an evaluation.
    pub(super) fn save(&mut self, by: usize, completed: bool, now: i64) -> Result<(), StepAnswer> {
        if completed && self.status != Interviewed {
            return refused("not_interviewed");
        }
        if !completed && self.vetos[by] {
            return refused("vetoed");
        }
        self.evaluations[by] = Some((completed, now));
        Ok(())
    }

    pub(super) fn skip(&mut self) -> Result<(), StepAnswer> {
        if matches!(self.status, Interviewing | Interviewed | Skipped) {
            return refused("no_transition");
        }
        self.status = Skipped;
        self.has_key = false;
        Ok(())
    }

    /// Sends a reminder, of which five an hour are allowed.
    pub(super) fn remind(&mut self, now: i64) -> Result<(), StepAnswer> {
        if !matches!(self.status, Invited | Confirmed) {
            return refused("no_reminder");
        }
        if self.is_overdue(now) {
            return refused("deadline_passed");
        }
        if !self.has_email {
            return refused("email_missing");
        }
        self.reminders.retain(|minute| now - minute < 60);
        if self.reminders.len() == 5 {
            return Err(StepAnswer::Throttled);
        }
        self.reminders.push(now);
        Ok(())
    }

    /// Records a veto.
    pub(super) fn veto(&mut self, by: usize, now: i64) -> Result<(), StepAnswer> {
        if self.status != Interviewed {
            return refused("not_interviewed");
        }
        if self.vetos[by] {
            return refused("already_vetoed");
        }
        self.vetos[by] = true;
        self.evaluations[by] = Some((true, now));
        Ok(())
    }

    /// Applies a report. Returns whether it counts.
    pub(super) fn apply_report(&mut self, report: PlatformReport, at: i64) -> bool {
        match report {
            PlatformReport::Completed
                if matches!(self.status, Confirmed | Interviewing | Expired | Aborted) =>
            {
                self.status = Interviewed;
                self.interviewed_at = Some(at);
                self.has_key = false;
            }
            PlatformReport::Aborted
                if self.status == Interviewing && self.started_at.is_some_and(|start| start <= at) =>
            {
                self.status = Aborted;
                self.has_key = false;
            }
            // A veto completes the evaluation for good: no event takes that back.
            PlatformReport::Evaluated { by, completed }
                if !self.vetos[by] && self.evaluations[by].is_none_or(|(_, known)| known <= at) =>
            {
                self.evaluations[by] = Some((completed, at));
            }
            _ => return false,
        }
        true
    }
}
