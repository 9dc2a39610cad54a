//! Interviews that continue after they were completed or ended by time.

use chrono::{DateTime, Utc};

use super::{CandidateChange, CandidateMail, PROJECT_NOT_RUNNING};
use crate::Refusal;
use crate::candidate::{
    Candidate, CandidateStatus, ConductedInterview, Reopening, ReopeningMessage, ReopeningReason,
};
use crate::privacy::erasure_request::ERASURE_REQUESTED;
use crate::secret::AccessKey;

/// There is no interview that can be reopened.
pub const NOT_REOPENABLE: Refusal = Refusal {
    code: "not_interviewed",
    detail: "Only an interview that this service conducts can be reopened, once it is complete or its time has ended with answers.",
};
/// Somebody has saved an evaluation or a draft, or has vetoed.
pub const ALREADY_EVALUATED: Refusal = Refusal {
    code: "already_evaluated",
    detail: "Somebody has saved an evaluation of the interview or a draft, or has vetoed. Evaluations and drafts can be deleted \
             by those who wrote them.",
};

/// A manager's request to reopen an interview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReopeningRequest {
    pub reason: ReopeningReason,
    /// The message to the candidate.
    pub message: Option<ReopeningMessage>,
    /// The new deadline; `None` to keep the present one.
    pub deadline: Option<DateTime<Utc>>,
}

/// The status of the project, and whether the interview has been evaluated.
#[derive(Debug, Clone, Copy)]
pub struct ReopeningTerms {
    /// Whether the project is running.
    pub is_running: bool,
    /// Whether an evaluation is stored, even a draft.
    pub has_evaluation: bool,
}

impl Candidate {
    /// Lets the candidate continue the interview that they completed or that time ended, with a mail about it. The interview then
    /// has time until the deadline. `key` is a new key for candidates who have neither a key nor a password. Fails with
    /// [`NOT_REOPENABLE`], [`PROJECT_NOT_RUNNING`], [`ERASURE_REQUESTED`], [`ALREADY_EVALUATED`] and, without a deadline in the
    /// future, [`DEADLINE_MISSING`](super::DEADLINE_MISSING) or [`DEADLINE_PASSED`](super::DEADLINE_PASSED).
    pub fn reopen(
        mut self,
        request: ReopeningRequest,
        terms: ReopeningTerms,
        now: DateTime<Utc>,
        key: AccessKey,
    ) -> Result<CandidateChange, Refusal> {
        let was_complete = self.status == CandidateStatus::Interviewed;
        if !(was_complete || self.ended_by_time.is_some()) || self.interview.is_none() {
            return Err(NOT_REOPENABLE);
        }
        if !terms.is_running {
            return Err(PROJECT_NOT_RUNNING);
        }
        if self.erasure_request.is_some() {
            return Err(ERASURE_REQUESTED);
        }
        // Evaluations that the platform reports have no item of their own, so check the candidate as well.
        if terms.has_evaluation || !self.completed_by().is_empty() {
            return Err(ALREADY_EVALUATED);
        }
        let ReopeningRequest { reason, message, deadline } = request;
        self.profile.deadline = deadline.or(self.profile.deadline);
        self.require_deadline_ahead(now)?;
        self.status = CandidateStatus::Interviewing;
        self.started_at = Some(now);
        self.interviewed_at = None;
        self.ended_by_time = None;
        // Only the deadline ends the reopened interview. Its own time would start now, with the manager's request instead of the
        // candidate's click, and could be over before the candidate has read the mail.
        self.interview = Some(ConductedInterview { max_minutes: None });
        let count = self.reopening.map_or(0, |last| last.count) + 1;
        self.reopening = Some(Reopening { reason, message, reopened_at: now, count, was_complete });
        self.close_help_request(now);
        self.keep_key_or(key);
        let change = CandidateChange::new(self, Some(CandidateMail::Reopened), now);
        Ok(CandidateChange { needs_running_project: true, ..change })
    }
}
