//! What is still to be done about a change, noted together with the change itself.

use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::customer::Customer;
use super::deletion::Deletion;
use super::erasure::{Erased, Erasure};
use super::id::{CandidateId, CompanyId, CustomerId, ProjectId};
use super::language::Language;
use super::mail::CandidateMail;
use super::text::{Email, Name};
use super::transition::Step;

/// How often an effect is tried before it is given up.
pub const ATTEMPTS: u32 = 8;
/// How long an effect may be postponed.
const PATIENCE: TimeDelta = TimeDelta::days(3);
/// How long whoever has taken an effect on may need for it; after that another may try.
const LEASE: TimeDelta = TimeDelta::minutes(2);

/// Something that is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Made of its cause, so that one cause cannot have it twice.
    pub id: String,
    /// The company that it is done for.
    pub company: CompanyId,
    /// What is to be done.
    pub task: Task,
    /// When it was caused.
    pub created_at: DateTime<Utc>,
    /// How often it was tried, the try under way included.
    pub attempts: u32,
    /// When it may be tried again; none once it is given up.
    pub next_try_at: Option<DateTime<Utc>>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Task {
    /// Send a mail to a candidate.
    CandidateMail {
        /// The candidate's project.
        project: ProjectId,
        /// Who gets it.
        candidate: CandidateId,
        /// What it tells.
        mail: CandidateMail,
    },
    /// Send a customer the key to choose its first password with.
    CustomerInvitation {
        /// Who gets it.
        customer: CustomerId,
    },
    /// Tell somebody that it is no customer any more.
    CustomerDeleted {
        /// Who it was.
        was: Box<FormerCustomer>,
        /// The name of who deleted it.
        by: String,
    },
    /// Delete objects that nothing refers to any more.
    ObjectsDeleted {
        /// Their keys in the bucket.
        keys: Vec<String>,
    },
    /// Note in the ledger that something was erased, and delete its objects.
    Erased {
        /// What it was.
        erased: Erased,
        /// The keys of what may be stored of it in the bucket.
        keys: Vec<String>,
    },
    /// Finish a deletion that broke off.
    Deletion {
        /// The deletion.
        deletion: Deletion,
    },
    /// Send everybody whom a name leads to a key to choose another password with.
    PasswordReset {
        /// The user name or email address.
        name: String,
    },
}

/// What is left to know of a customer who was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerCustomer {
    /// Where to write.
    pub email: Email,
    /// First name.
    pub first_name: Name,
    /// Last name.
    pub last_name: Name,
    /// The language to write in.
    pub language: Language,
}

impl Task {
    /// The name in identifiers and logs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::CandidateMail { mail, .. } => mail.as_str(),
            Self::CustomerInvitation { .. } => "customer-invitation",
            Self::CustomerDeleted { .. } => "customer-deleted",
            Self::ObjectsDeleted { .. } => "objects-deleted",
            Self::Erased { .. } => "erased",
            Self::Deletion { .. } => "deletion",
            Self::PasswordReset { .. } => "password-reset",
        }
    }
}

impl Effect {
    /// `task`, caused at `now` by what `cause` names, such as one write of one item.
    ///
    /// Due only some time later: until then the table's stream, which is faster, has its chance.
    pub fn new(company: CompanyId, cause: impl fmt::Display, task: Task, now: DateTime<Utc>) -> Self {
        Self {
            id: format!("{cause}-{}", task.as_str()),
            company,
            task,
            created_at: now,
            attempts: 0,
            next_try_at: Some(now + TimeDelta::minutes(1)),
        }
    }

    /// The mail that a candidate's step causes, if it causes one, as the `version`th write of the candidate's item.
    pub fn of_step(step: &Step, version: u64, now: DateTime<Utc>) -> Option<Self> {
        let candidate = &step.candidate;
        let task =
            Task::CandidateMail { project: candidate.project, candidate: candidate.id, mail: step.mail? };
        Some(Self::new(candidate.company.clone(), format_args!("{}-{version}", candidate.id), task, now))
    }

    /// The invitation of a customer, as the `version`th write of its item.
    pub fn of_invitation(customer: &Customer, version: u64, now: DateTime<Utc>) -> Self {
        let task = Task::CustomerInvitation { customer: customer.id };
        Self::new(customer.company.clone(), format_args!("{}-{version}", customer.id), task, now)
    }

    /// A deletion that begins at `now`. The request that begins it is the first try: the stream leaves it alone, and the
    /// sweep takes it up when the time of that try is over.
    pub fn of_deletion(company: CompanyId, deletion: Deletion, now: DateTime<Utc>) -> Self {
        let id = Self::id_of_deletion(&deletion);
        let task = Task::Deletion { deletion };
        Self { id, company, task, created_at: now, attempts: 1, next_try_at: Some(now + LEASE) }
    }

    /// The identifier of the effect of a deletion.
    pub fn id_of_deletion(deletion: &Deletion) -> String {
        format!("{deletion}-deletion")
    }

    /// What is left to do about an erasure, of which objects may be stored under `keys`. A restored table can bring about
    /// another of the same.
    pub fn of_erasure(erasure: Erasure, keys: Vec<String>) -> Self {
        let Erasure { company, erased, at } = erasure;
        let cause = format_args!("{erased}-{}", at.timestamp());
        Self::new(company, cause, Task::Erased { erased, keys }, at)
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
}
