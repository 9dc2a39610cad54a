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
    /// When mails were sent that count towards the limit.
    pub(super) counted_mails: Vec<i64>,
    pub(super) had_key: bool,
    /// Whether it has logged in since it chose its password.
    pub(super) has_token: bool,
    /// Whether that session has not been revoked.
    pub(super) is_token_valid: bool,
    /// The last evaluation of each evaluator: whether it is completed, and when it was made.
    pub(super) evaluations: [Option<(bool, i64)>; 3],
    /// Which evaluators have vetoed.
    pub(super) vetos: [bool; 3],
    /// When the hold ends, if there is or was one; none without an end.
    pub(super) hold: Option<Option<i64>>,
    /// When the request for erasure is due.
    pub(super) erasure_due_at: Option<i64>,
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
    counted_mails: Vec::new(),
    had_key: false,
    has_token: false,
    is_token_valid: false,
    evaluations: [None; 3],
    vetos: [false; 3],
    hold: None,
    erasure_due_at: None,
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
            New | Expired | Aborted if self.erasure_due_at.is_some() => {
                Some(HistoryStep::WithdrawErasure { candidate })
            }
            New | Expired if !self.has_email => Some(HistoryStep::Email { candidate, has_email: true }),
            New | Expired | Aborted => Some(HistoryStep::Advance { candidate }),
            Invited if !self.has_password && !candidate.is_multiple_of(3) => {
                Some(HistoryStep::Password { candidate, by })
            }
            Invited | Confirmed => Some(HistoryStep::AdvanceItself { candidate, by }),
            // Some interviews break off, so that histories advance aborted candidates too.
            Interviewing if candidate % 3 == 1 => report(PlatformReport::Aborted),
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

    pub(super) fn is_on_hold(&self, now: i64) -> bool {
        self.hold.is_some_and(|until| until.is_none_or(|until| now < until))
    }

    /// Refuses a deletion while there is a hold.
    pub(super) fn require_no_hold(&self, now: i64) -> Result<(), StepAnswer> {
        if self.is_on_hold(now) { refused("on_hold") } else { Ok(()) }
    }

    pub(super) fn release(&mut self, now: i64) -> Result<(), StepAnswer> {
        if !self.is_on_hold(now) {
            return Err(StepAnswer::NotFound);
        }
        self.hold = None;
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

    /// Advances the candidate by its own request.
    pub(super) fn advance_itself(
        &mut self,
        now: i64,
        is_running: bool,
        allow_hash_login: bool,
    ) -> Result<(), StepAnswer> {
        match self.status {
            Interviewing => return refused("not_implemented"),
            Invited | Confirmed if !is_running => return refused("project_not_running"),
            Confirmed if self.deadline.is_none() => return refused("deadline_missing"),
            Invited | Confirmed if self.is_overdue(now) => return refused("deadline_passed"),
            Invited if !self.has_password && !allow_hash_login => return refused("password_missing"),
            Invited => {
                self.status = Confirmed;
                self.confirmed_at = Some(now);
                self.has_key = !self.has_password;
            }
            Confirmed => {
                self.status = Interviewing;
                self.started_at = Some(now);
            }
            New | Interviewed | Expired | Aborted | Skipped => return refused("no_transition"),
        }
        Ok(())
    }

    pub(super) fn skip(&mut self) -> Result<(), StepAnswer> {
        if matches!(self.status, Interviewing | Interviewed | Skipped) {
            return refused("no_transition");
        }
        self.status = Skipped;
        self.end_access();
        Ok(())
    }

    /// Cancels the interview. Returns whether a mail can tell.
    pub(super) fn cancel(&mut self) -> Result<bool, StepAnswer> {
        if self.status == Interviewed {
            return refused("already_interviewed");
        }
        if self.status == Skipped {
            return Ok(false);
        }
        self.status = Skipped;
        self.end_access();
        Ok(self.has_email && self.erasure_due_at.is_none() && self.invited_at.is_some())
    }

    /// Revokes the key and the session.
    pub(super) fn end_access(&mut self) {
        (self.has_key, self.is_token_valid) = (false, false);
    }

    /// Sends a reminder, of which five an hour are allowed.
    pub(super) fn remind(&mut self, now: i64) -> Result<(), StepAnswer> {
        if !matches!(self.status, Invited | Confirmed) {
            return refused("no_reminder");
        }
        if self.erasure_due_at.is_some() {
            return refused("erasure_requested");
        }
        if self.is_overdue(now) {
            return refused("deadline_passed");
        }
        if !self.has_email {
            return refused("email_missing");
        }
        self.count_mail(now)
    }

    /// Counts a reminder, or a mail about a new deadline: five an hour.
    pub(super) fn count_mail(&mut self, now: i64) -> Result<(), StepAnswer> {
        self.counted_mails.retain(|minute| now - minute < 60);
        if self.counted_mails.len() == 5 {
            return Err(StepAnswer::Throttled);
        }
        self.counted_mails.push(now);
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
                self.end_access();
            }
            PlatformReport::Aborted
                if self.status == Interviewing && self.started_at.is_some_and(|start| start <= at) =>
            {
                self.status = Aborted;
                self.end_access();
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
