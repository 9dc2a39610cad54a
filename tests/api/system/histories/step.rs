//! The steps of a history, and what each may be answered.

use platform_events::EventOutcome;

#[derive(Debug, Clone, Copy)]
pub(super) struct Event {
    pub(super) one: usize,
    pub(super) report: Report,
    pub(super) at: i64,
    pub(super) is_applied: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Done,
    Refused(String),
    Unauthenticated,
    Throttled,
    Event(EventOutcome),
    /// So many expired, so many aborted.
    Swept(usize, usize),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Deadline {
    None,
    /// In so many minutes; negative for one that has passed.
    In(i64),
}

/// How a candidate proves who it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Means {
    Key,
    Token,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Report {
    Completed,
    Aborted,
    Evaluated { by: usize, completed: bool },
}

/// A step of a history; `one` is the number of a candidate.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Create {
        has_email: bool,
    },
    Email {
        one: usize,
        has_email: bool,
    },
    Deadline {
        one: usize,
        deadline: Deadline,
    },
    Advance {
        one: usize,
    },
    AdvanceItself {
        one: usize,
        by: Means,
    },
    Password {
        one: usize,
        by: Means,
    },
    Skip {
        one: usize,
    },
    Remind {
        one: usize,
    },
    Delete {
        one: usize,
    },
    Wait {
        minutes: i64,
    },
    Sweep,
    Report {
        one: usize,
        report: Report,
        minutes_ago: i64,
    },
    ReportAgain,
    /// An evaluator saves an evaluation through the API.
    Save {
        one: usize,
        by: usize,
        completed: bool,
    },
    Veto {
        one: usize,
        by: usize,
    },
    Project {
        to: &'static str,
    },
    Evaluators {
        who: [bool; 3],
    },
}

impl Step {
    /// Whom it is about.
    pub(super) fn one(&self) -> Option<usize> {
        match *self {
            Self::Email { one, .. }
            | Self::Deadline { one, .. }
            | Self::Advance { one }
            | Self::AdvanceItself { one, .. }
            | Self::Password { one, .. }
            | Self::Skip { one }
            | Self::Remind { one }
            | Self::Delete { one }
            | Self::Report { one, .. }
            | Self::Save { one, .. }
            | Self::Veto { one, .. } => Some(one),
            Self::Create { .. }
            | Self::Wait { .. }
            | Self::Sweep
            | Self::ReportAgain
            | Self::Project { .. }
            | Self::Evaluators { .. } => None,
        }
    }
}

pub(super) fn refused<T>(code: &str) -> Result<T, Answer> {
    Err(Answer::Refused(code.to_owned()))
}
