//! The ways in which candidates advance, with their conditions, as one table.

use chrono::{DateTime, Utc};

use crate::Refusal;
use crate::answers::{ANSWERS_MISSING, Answers};
use crate::candidate::{
    Candidate, CandidateStatus, ConductedInterview, EMAIL_MISSING, InterviewAdjustments, TIME_OVER,
};
use crate::company::Company;
use crate::mail::suppression::UNDELIVERABLE;
use crate::privacy::consent::CONSENT_MISSING;
use crate::privacy::erasure_request::ERASURE_REQUESTED;
use crate::privacy::legal::LegalTextId;
use crate::project::{Project, ProjectStatus, ReminderDays};
use crate::questionnaire::Questionnaire;
use crate::transition::CandidateMail;

/// The user who advances a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// A project manager.
    Manager,
    Candidate,
}

impl Actor {
    pub const ALL: [Self; 2] = [Self::Manager, Self::Candidate];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveCondition {
    /// The candidate has not requested erasure, which stops mails to them.
    NoErasureRequest,
    ProjectRunning,
    /// The email address is deliverable, or the client sends the mails about the interview itself.
    Reachable,
    /// There is a deadline, and it is in the future.
    DeadlineAhead,
    /// The deadline, if there is one, is in the future.
    DeadlineNotPassed,
    /// A password is set, or none is needed.
    HasPassword,
    /// The candidate has accepted the current version of every required legal text.
    TextsAccepted,
    /// This service conducts the interview, and all required questions are answered. Never holds for other interviews: their
    /// platform reports the completion as an event.
    QuestionsAnswered,
}

/// One row of the table: who may advance a candidate from a status, and the conditions.
#[derive(Debug, Clone, Copy)]
pub struct AdvanceRule {
    pub from: CandidateStatus,
    /// The user who may advance the candidate.
    pub by: Actor,
    /// Restricts the row to candidates with, or without, a password.
    pub has_password: Option<bool>,
    /// The conditions, checked in this order.
    pub needs: &'static [MoveCondition],
    /// The next status.
    pub to: CandidateStatus,
    pub mail: Option<CandidateMail>,
}

/// All ways to advance.
pub const ADVANCES: &[AdvanceRule] = {
    use CandidateStatus::{Aborted, Confirmed, Expired, Interviewed, Interviewing, Invited, New};
    use MoveCondition::{
        DeadlineAhead, DeadlineNotPassed, HasPassword, NoErasureRequest, ProjectRunning, QuestionsAnswered,
        Reachable, TextsAccepted,
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
    const COMPLETED: Option<CandidateMail> = Some(CandidateMail::Completed);
    const DEADLINE: Option<CandidateMail> = Some(CandidateMail::DeadlineChanged);
    &[
        line(
            New,
            Actor::Manager,
            None,
            &[NoErasureRequest, ProjectRunning, Reachable, DeadlineAhead],
            Invited,
            INVITATION,
        ),
        line(
            Aborted,
            Actor::Manager,
            None,
            // Candidates who have begun keep their access, so they need neither an invitation nor an address.
            &[NoErasureRequest, ProjectRunning, DeadlineAhead],
            Confirmed,
            DEADLINE,
        ),
        line(
            Expired,
            Actor::Manager,
            Some(false),
            &[NoErasureRequest, ProjectRunning, Reachable, DeadlineAhead],
            Invited,
            INVITATION,
        ),
        line(
            Expired,
            Actor::Manager,
            // A password remains valid after the deadline. Without one, only a new invitation gives access.
            Some(true),
            &[NoErasureRequest, ProjectRunning, DeadlineAhead],
            Confirmed,
            DEADLINE,
        ),
        line(
            Invited,
            Actor::Candidate,
            None,
            // The deadline may have been removed since the invitation. Only the interview itself needs one.
            &[ProjectRunning, DeadlineNotPassed, HasPassword, TextsAccepted],
            Confirmed,
            None,
        ),
        line(
            Confirmed,
            Actor::Candidate,
            None,
            // Check consents again: since the confirmation, one may have been withdrawn or a new version published.
            &[ProjectRunning, DeadlineAhead, TextsAccepted],
            Interviewing,
            None,
        ),
        // Closing the project or withdrawing a consent must not stop candidates who have begun.
        line(Interviewing, Actor::Candidate, None, &[QuestionsAnswered], Interviewed, COMPLETED),
    ]
};

/// No row of the table applies.
pub const NO_TRANSITION: Refusal =
    Refusal { code: "no_transition", detail: "You cannot advance the candidate from the current status." };
pub const PROJECT_NOT_RUNNING: Refusal = Refusal {
    code: "project_not_running",
    detail: "The project is not running. Set its status to `40-running` first.",
};
/// The email address of an invited candidate cannot be removed.
pub const EMAIL_REQUIRED: Refusal = Refusal {
    code: "email_missing",
    detail: "An invited candidate needs an email address. Replace it instead of removing it.",
};
/// The deadline of a candidate in the interview cannot be removed.
pub const DEADLINE_REQUIRED: Refusal = Refusal {
    code: "deadline_missing",
    detail: "A candidate in the interview needs a deadline. Replace it instead of removing it.",
};
/// The candidate has no deadline.
pub const DEADLINE_MISSING: Refusal =
    Refusal { code: "deadline_missing", detail: "The candidate has no deadline. Set one first." };
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
/// The client sends the mails about the interview itself.
pub const MAILS_OFF: Refusal = Refusal {
    code: "mails_off",
    detail: "`receive_mails` of the candidate is false, so the service sends them no mails about the interview.",
};

/// All refusals of advancing.
pub const NOT_ADVANCED: [Refusal; 12] = [
    NO_TRANSITION,
    ERASURE_REQUESTED,
    PROJECT_NOT_RUNNING,
    EMAIL_MISSING,
    UNDELIVERABLE,
    DEADLINE_MISSING,
    DEADLINE_PASSED,
    PASSWORD_MISSING,
    CONSENT_MISSING,
    NOT_IMPLEMENTED,
    ANSWERS_MISSING,
    TIME_OVER,
];

/// The settings of project and company that advancing depends on.
#[derive(Debug, Clone)]
pub struct AdvanceTerms {
    /// Whether the project is running.
    pub is_running: bool,
    /// The number of days until the default deadline, which candidates without a deadline get with the invitation.
    pub default_days: Option<u32>,
    /// Whether candidates may take the interview without a password.
    pub allow_hash_login: bool,
    /// When candidates are reminded automatically.
    pub reminder_days: ReminderDays,
    /// The legal texts that candidates must have accepted.
    pub required_texts: Vec<LegalTextId>,
    /// The interview; `None` if this service does not conduct it.
    pub interview: Option<InterviewTerms>,
}

/// The terms of an interview that this service conducts.
#[derive(Debug, Clone, Copy)]
pub struct InterviewTerms {
    /// The interview of a candidate who begins now.
    pub conducted: ConductedInterview,
    /// Whether the candidate has answered all required questions that can be answered.
    pub is_answered: bool,
}

impl AdvanceTerms {
    /// The terms of a project of a company.
    pub fn of(project: &Project, company: &Company) -> Self {
        Self {
            is_running: project.status == ProjectStatus::Running,
            default_days: project.settings.default_interview_period.or(company.default_interview_period),
            allow_hash_login: project.settings.allow_hash_login,
            reminder_days: project.settings.reminder_days.clone(),
            required_texts: company.legal.required(),
            interview: None,
        }
    }

    /// Adds the terms of the interview with these questions, for a candidate with these adjustments and answers.
    pub fn with_interview(
        self,
        project: &Project,
        questionnaire: &Questionnaire,
        answers: &Answers,
        adjustments: InterviewAdjustments,
        now: DateTime<Utc>,
    ) -> Self {
        let interview = project.conducts(questionnaire).then(|| InterviewTerms {
            conducted: ConductedInterview::of(project),
            is_answered: answers.missing(questionnaire, adjustments, now).is_empty(),
        });
        Self { interview, ..self }
    }
}

impl Candidate {
    /// Checks that the deadline is in the future. Fails with [`DEADLINE_MISSING`] or [`DEADLINE_PASSED`].
    pub(super) fn require_deadline_ahead(&self, now: DateTime<Utc>) -> Result<(), Refusal> {
        match self.profile.deadline {
            None => Err(DEADLINE_MISSING),
            Some(_) if self.is_overdue(now) => Err(DEADLINE_PASSED),
            Some(_) => Ok(()),
        }
    }
}

impl MoveCondition {
    pub(super) fn refusal(
        self,
        candidate: &Candidate,
        terms: &AdvanceTerms,
        now: DateTime<Utc>,
    ) -> Option<Refusal> {
        match self {
            Self::NoErasureRequest => candidate.erasure_request.map(|_| ERASURE_REQUESTED),
            Self::ProjectRunning => (!terms.is_running).then_some(PROJECT_NOT_RUNNING),
            Self::Reachable => candidate.require_reachable().err(),
            Self::DeadlineAhead => candidate.require_deadline_ahead(now).err(),
            Self::DeadlineNotPassed => candidate.is_overdue(now).then_some(DEADLINE_PASSED),
            Self::HasPassword => {
                let is_missing = candidate.password_hash.is_none();
                (is_missing && candidate.needs_password(terms.allow_hash_login)).then_some(PASSWORD_MISSING)
            }
            Self::TextsAccepted => {
                (!candidate.has_accepted(&terms.required_texts)).then_some(CONSENT_MISSING)
            }
            Self::QuestionsAnswered if candidate.interview.is_none() => Some(NOT_IMPLEMENTED),
            Self::QuestionsAnswered if candidate.has_expired(now) => Some(TIME_OVER),
            Self::QuestionsAnswered => {
                (!terms.interview.is_some_and(|interview| interview.is_answered)).then_some(ANSWERS_MISSING)
            }
        }
    }
}
