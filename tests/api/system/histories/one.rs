//! A candidate as the contract sees it.

use shared::domain::candidate::CandidateStatus::{
    self, Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, New, Skipped,
};

use super::step::{Answer, Deadline, Means, Report, Step, refused};

/// A candidate; its moments are minutes since the beginning.
#[derive(Debug, Clone)]
pub(super) struct One {
    pub(super) status: CandidateStatus,
    pub(super) deadline: Option<i64>,
    pub(super) invited_at: Option<i64>,
    pub(super) confirmed_at: Option<i64>,
    pub(super) interviewed_at: Option<i64>,
    pub(super) has_key: bool,
    pub(super) started_at: Option<i64>,
    pub(super) has_email: bool,
    pub(super) has_password: bool,
    /// When its managers had a reminder sent.
    pub(super) reminders: Vec<i64>,
    pub(super) had_key: bool,
    /// Whether it has logged in since it chose its password.
    pub(super) has_token: bool,
    /// What each of the people has said last, and when.
    pub(super) evaluations: [Option<(bool, i64)>; 3],
    /// Which of the people have vetoed.
    pub(super) vetos: [bool; 3],
}

pub(super) static NOBODY: One = One {
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

impl One {
    /// The step that leads this candidate, whose number is `one`, a little further.
    pub(super) fn onwards(&self, one: usize, now: i64) -> Option<Step> {
        let lacks_deadline = self.deadline.is_none() || self.is_overdue(now);
        let by = if self.has_password { Means::Token } else { Means::Key };
        let report = |report| Some(Step::Report { one, report, minutes_ago: 0 });
        match self.status {
            New | Invited | Confirmed | Expired | Aborted if lacks_deadline => {
                Some(Step::Deadline { one, deadline: Deadline::In(30) })
            }
            New | Expired if !self.has_email => Some(Step::Email { one, has_email: true }),
            New | Expired | Aborted => Some(Step::Advance { one }),
            Invited if !self.has_password && !one.is_multiple_of(3) => Some(Step::Password { one, by }),
            Invited | Confirmed => Some(Step::AdvanceItself { one, by }),
            Interviewing => report(Report::Completed),
            Interviewed => {
                let by = (0..2).find(|by| !self.is_evaluated_by(*by))?;
                let is_saved = one.is_multiple_of(2);
                if is_saved {
                    return Some(Step::Save { one, by, completed: true });
                }
                report(Report::Evaluated { by, completed: true })
            }
            Skipped => None,
        }
    }

    /// Takes the address away, with the session that it led to, or gives it.
    pub(super) fn set_email(&mut self, has_email: bool) -> Result<(), Answer> {
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
    pub(super) fn save(&mut self, by: usize, completed: bool, now: i64) -> Result<(), Answer> {
        if completed && self.status != Interviewed {
            return refused("not_interviewed");
        }
        if !completed && self.vetos[by] {
            return refused("vetoed");
        }
        self.evaluations[by] = Some((completed, now));
        Ok(())
    }

    /// Takes a veto in.
    pub(super) fn veto(&mut self, by: usize, now: i64) -> Result<(), Answer> {
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

    /// Takes a report in; whether it counts.
    pub(super) fn take_report(&mut self, report: Report, at: i64) -> bool {
        match report {
            Report::Completed if matches!(self.status, Confirmed | Interviewing | Expired | Aborted) => {
                self.status = Interviewed;
                self.interviewed_at = Some(at);
                self.has_key = false;
            }
            Report::Aborted
                if self.status == Interviewing && self.started_at.is_some_and(|start| start <= at) =>
            {
                self.status = Aborted;
                self.has_key = false;
            }
            // A veto completes the evaluation for good: no event takes that back.
            Report::Evaluated { by, completed }
                if !self.vetos[by] && self.evaluations[by].is_none_or(|(_, known)| known <= at) =>
            {
                self.evaluations[by] = Some((completed, at));
            }
            _ => return false,
        }
        true
    }
}
