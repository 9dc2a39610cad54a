//! What is still to be done about a change, noted together with the change itself.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, CandidateStatus};
use super::id::{CandidateId, CompanyId, ProjectId};
use super::mail::CandidateMail;

/// How often an effect is tried before it is given up.
pub const ATTEMPTS: u32 = 8;
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

    /// The effect taken on at `now`; none when it was given up.
    pub fn taken(mut self, now: DateTime<Utc>) -> Option<Self> {
        self.next_try_at.take()?;
        self.attempts += 1;
        self.next_try_at = Some(now + LEASE);
        Some(self)
    }

    /// The effect after a try that failed at `now`: due again later each time, until it is given up.
    pub fn failed(mut self, now: DateTime<Utc>) -> Self {
        let delay = TimeDelta::minutes(1 << self.attempts.min(ATTEMPTS));
        self.next_try_at = (self.attempts < ATTEMPTS).then(|| now + delay);
        self
    }

    /// The effect after a try at `now` for which there was no room: it does not count.
    pub fn postponed(mut self, now: DateTime<Utc>) -> Self {
        self.attempts -= 1;
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
