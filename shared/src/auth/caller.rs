//! Who is calling.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::policy::Standing;
use crate::domain::account::Account;
use crate::domain::candidate::Candidate;
use crate::domain::customer::Customer;
use crate::domain::id::{CompanyId, CustomerId};
use crate::domain::project::Project;
use crate::domain::secret::PasswordHash;
use crate::store::{Key, Session, Versioned};

/// An authenticated caller.
#[derive(Debug)]
pub struct Caller {
    /// Who it is.
    pub identity: Identity,
    /// How they proved it.
    pub proof: Proof,
}

/// Somebody who can call.
#[derive(Debug)]
pub enum Identity {
    /// A staff user.
    Customer(Versioned<Customer>),
    /// A candidate.
    Candidate(Versioned<Candidate>),
}

/// What a caller is known by.
#[derive(Debug)]
pub enum Proof {
    /// A session of theirs.
    Session(LiveSession),
    /// The key that a candidate was sent.
    AccessKey,
}

/// A session that was found alive.
#[derive(Debug)]
pub struct LiveSession {
    /// The session.
    pub session: Session,
    /// When it ends unless it is used before.
    pub ends: DateTime<Utc>,
    pub(super) key: Key,
}

impl Caller {
    /// The company that the caller belongs to.
    pub fn company(&self) -> &CompanyId {
        match &self.identity {
            Identity::Customer(customer) => &customer.company,
            Identity::Candidate(candidate) => &candidate.company,
        }
    }

    /// The staff user who is calling, if it is one.
    pub fn customer(&self) -> Option<CustomerId> {
        match &self.identity {
            Identity::Customer(customer) => Some(customer.id),
            Identity::Candidate(_) => None,
        }
    }

    /// What the caller is in the company as a whole.
    pub fn in_company(&self) -> Standing {
        match &self.identity {
            Identity::Customer(customer) => Standing::Staff(customer.account_type, BTreeSet::new()),
            Identity::Candidate(_) => Standing::Outsider,
        }
    }

    /// What the caller is in a project of their company.
    pub fn in_project(&self, project: &Project) -> Standing {
        match &self.identity {
            Identity::Customer(customer) => {
                Standing::Staff(customer.account_type, project.staff.roles_of(customer.id))
            }
            Identity::Candidate(_) => Standing::Outsider,
        }
    }

    /// What the caller is to a candidate of a project of their company.
    pub fn towards(&self, candidate: &Candidate, project: &Project) -> Standing {
        match &self.identity {
            Identity::Candidate(own) if own.id == candidate.id && own.project == candidate.project => {
                Standing::Itself
            }
            _ => self.in_project(project),
        }
    }
}

impl Identity {
    /// The account that this is.
    pub(super) fn account(&self) -> Account {
        match self {
            Self::Customer(customer) => Account::Customer { customer: customer.id },
            Self::Candidate(candidate) => {
                Account::Candidate { project: candidate.project, candidate: candidate.id }
            }
        }
    }

    /// The epoch that a session must be of to be alive; none when no session may be.
    pub(super) fn session_epoch(&self) -> Option<u32> {
        match self {
            Self::Customer(customer) => customer.is_active.then_some(customer.session_epoch),
            Self::Candidate(candidate) => candidate.may_log_in().then_some(candidate.session_epoch),
        }
    }

    /// The hash of the password; none before one was chosen.
    pub(super) fn password_hash(&self) -> Option<&PasswordHash> {
        match self {
            Self::Customer(customer) => customer.password_hash.as_ref(),
            Self::Candidate(candidate) => candidate.password_hash.as_ref(),
        }
    }
}
