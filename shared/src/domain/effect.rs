//! What is still to be done about a change, noted together with the change itself.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, CandidateStatus};
use super::id::{CandidateId, CompanyId, ProjectId};
use super::mail::CandidateMail;

/// How often an effect is tried before it is given up.
pub const ATTEMPTS: u32 = 8;
/// How long an effect may be postponed.
const PATIENCE: TimeDelta = TimeDelta::days(3);
/// How long whoever has taken an effect on may need for it; after that another may try.
const LEASE: TimeDelta = TimeDelta::minutes(2);

/// A mail to a candidate that is to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Made of its cause, so that one cause cannot have it twice.
    pub id: String,
    /// The candidate's company.
    pub company: CompanyId,
    /// The candidate's project.
    pub project: ProjectId,
    /// Who gets it.
    pub candidate: CandidateId,
    /// What it tells.
    pub mail: CandidateMail,
    /// When it was caused.
    pub created_at: DateTime<Utc>,
    /// How often it was tried, the try under way included.
    pub attempts: u32,
    /// When it may be tried again; none once it is given up.
    pub next_try_at: Option<DateTime<Utc>>,
}

impl Effect {
    /// `mail` to `candidate`, caused at `now` by the `version`th write of the candidate's item.
    ///
    /// Due only some time later: until then the table's stream, which is faster, has its chance.
    pub fn new(mail: CandidateMail, candidate: &Candidate, version: u64, now: DateTime<Utc>) -> Self {
        Self {
            id: format!("{}-{version}-{}", candidate.id, mail.as_str()),
            company: candidate.company.clone(),
            project: candidate.project,
            candidate: candidate.id,
            mail,
            created_at: now,
            attempts: 0,
            next_try_at: Some(now + TimeDelta::minutes(1)),
        }
    }

    /// Whether it is waiting at `now` for somebody to try it: for the first time, or again.
    pub fn is_waiting(&self, now: DateTime<Utc>) -> bool {
        self.next_try_at.is_some_and(|next| next <= now || self.attempts == 0)
    }

    /// The effect while somebody who began at `now` tries it; given up if that was done often enough already.
    pub fn taken(self, now: DateTime<Utc>) -> Self {
        if self.attempts >= ATTEMPTS {
            return self.given_up();
        }
        Self { attempts: self.attempts + 1, next_try_at: Some(now + LEASE), ..self }
    }

    /// Whether nobody will try it again.
    pub fn is_given_up(&self) -> bool {
        self.next_try_at.is_none()
    }

    /// The effect after a try that failed at `now`: due again later each time, until it is given up.
    pub fn failed(mut self, now: DateTime<Utc>) -> Self {
        let delay = TimeDelta::minutes(1 << self.attempts.min(ATTEMPTS));
        self.next_try_at = (self.attempts < ATTEMPTS).then(|| now + delay);
        self
    }

    /// The effect after a try at `now` for which there was no room: it does not count, unless it goes on for days.
    pub fn postponed(mut self, now: DateTime<Utc>) -> Self {
        if now - self.created_at > PATIENCE {
            return self.given_up();
        }
        // Never back to none, which would be taken for one that nobody has seen yet.
        self.attempts = self.attempts.saturating_sub(1).max(1);
        self.next_try_at = Some(now + TimeDelta::minutes(1));
        self
    }

    /// The effect given up, because no try can succeed.
    pub fn given_up(self) -> Self {
        Self { next_try_at: None, ..self }
    }

    /// Whether `candidate` has moved on, so that what this would tell is no longer so.
    pub fn is_outdated(&self, candidate: &Candidate) -> bool {
        use CandidateStatus::{Confirmed, Invited};
        match self.mail {
            CandidateMail::Invitation => candidate.status != Invited,
            CandidateMail::Reminder | CandidateMail::DeadlineChanged => {
                !matches!(candidate.status, Invited | Confirmed)
            }
        }
    }
}
