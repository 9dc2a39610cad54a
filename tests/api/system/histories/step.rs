//! The steps of a history, and their answers.

use shared::event::RecordOutcome;

#[derive(Debug, Clone, Copy)]
pub(super) struct ReportedEvent {
    pub(super) candidate: usize,
    pub(super) report: PlatformReport,
    pub(super) at: i64,
    pub(super) is_applied: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StepAnswer {
    Done,
    Refused(String),
    Unauthenticated,
    NotFound,
    Throttled,
    Event(RecordOutcome),
    /// Numbers of expired and of aborted candidates.
    Swept(usize, usize),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum DeadlineChange {
    None,
    /// Minutes from now; negative for one that has passed.
    In(i64),
}

/// How a candidate authenticates.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeyOrToken {
    Key,
    Token,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum PlatformReport {
    Completed,
    Aborted,
    Evaluated { by: usize, completed: bool },
}

/// A step of a history. Candidates and evaluators are numbers.
#[derive(Debug, Clone)]
pub(super) enum HistoryStep {
    Create {
        has_email: bool,
    },
    Email {
        candidate: usize,
        has_email: bool,
    },
    Deadline {
        candidate: usize,
        deadline: DeadlineChange,
    },
    Advance {
        candidate: usize,
    },
    AdvanceItself {
        candidate: usize,
        by: KeyOrToken,
    },
    Password {
        candidate: usize,
        by: KeyOrToken,
    },
    Skip {
        candidate: usize,
    },
    Cancel {
        candidate: usize,
        notify: bool,
    },
    Remind {
        candidate: usize,
    },
    Delete {
        candidate: usize,
    },
    /// A manager puts a candidate on hold, for so many minutes or without an end.
    Hold {
        candidate: usize,
        minutes: Option<i64>,
    },
    Release {
        candidate: usize,
    },
    RequestErasure {
        candidate: usize,
    },
    WithdrawErasure {
        candidate: usize,
    },
    Wait {
        minutes: i64,
    },
    Sweep,
    Report {
        candidate: usize,
        report: PlatformReport,
        minutes_ago: i64,
    },
    ReportAgain,
    /// An evaluator saves an evaluation through the API.
    Save {
        candidate: usize,
        by: usize,
        completed: bool,
    },
    Veto {
        candidate: usize,
        by: usize,
    },
    Project {
        to: &'static str,
    },
    Evaluators {
        who: [bool; 3],
    },
}

impl HistoryStep {
    /// The candidate that the step is about.
    pub(super) fn candidate(&self) -> Option<usize> {
        match *self {
            Self::Email { candidate, .. }
            | Self::Deadline { candidate, .. }
            | Self::Advance { candidate }
            | Self::AdvanceItself { candidate, .. }
            | Self::Password { candidate, .. }
            | Self::Skip { candidate }
            | Self::Cancel { candidate, .. }
            | Self::Remind { candidate }
            | Self::Delete { candidate }
            | Self::Hold { candidate, .. }
            | Self::Release { candidate }
            | Self::RequestErasure { candidate }
            | Self::WithdrawErasure { candidate }
            | Self::Report { candidate, .. }
            | Self::Save { candidate, .. }
            | Self::Veto { candidate, .. } => Some(candidate),
            Self::Create { .. }
            | Self::Wait { .. }
            | Self::Sweep
            | Self::ReportAgain
            | Self::Project { .. }
            | Self::Evaluators { .. } => None,
        }
    }
}

pub(super) fn refused<T>(code: &str) -> Result<T, StepAnswer> {
    Err(StepAnswer::Refused(code.to_owned()))
}
