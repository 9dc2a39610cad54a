//! Who is calling.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::domain::account::{Account, Claim, Principal};
use crate::domain::candidate::Candidate;
use crate::domain::customer::Customer;
use crate::domain::history::Origin;
use crate::domain::id::{CompanyId, CustomerId};
use crate::domain::named_token::NamedToken;
use crate::domain::policy::Standing;
use crate::domain::project::Project;
use crate::domain::secret::PasswordHash;
use crate::domain::staff::{Role, Staff};
use crate::domain::text::Email;
use crate::domain::upload::Author;
use crate::store::{Key, Session, Versioned};

/// An authenticated caller.
#[derive(Debug)]
pub struct Caller {
    /// Their account or named token.
    pub identity: Identity,
    /// How they proved it.
    pub proof: Proof,
}

/// The account or named token of a caller.
#[derive(Debug)]
pub enum Identity {
    /// A staff user.
    Customer(Versioned<Customer>),
    /// A candidate.
    Candidate(Versioned<Candidate>),
    /// A named token.
    NamedToken(NamedToken),
}

/// The credential that a caller authenticated with.
#[derive(Debug)]
pub enum Proof {
    /// A session of theirs.
    Session(Box<LiveSession>),
    /// The key that a candidate was sent.
    AccessKey,
    /// The value of a named token.
    NamedToken,
}

/// A session that was found alive.
#[derive(Debug)]
pub struct LiveSession {
    /// The session.
    pub session: Session,
    /// When it ends unless it is used before.
    pub ends: DateTime<Utc>,
    /// Whether the request is a use that keeps the session alive for longer.
    pub(super) slides: bool,
    pub(super) key: Key,
}

impl Caller {
    /// The caller's company.
    pub fn company(&self) -> &CompanyId {
        self.identity.company()
    }

    /// The caller, whichever of their credentials the request came with.
    pub fn principal(&self) -> Principal {
        match &self.identity {
            Identity::NamedToken(token) => Principal::NamedToken(token.id),
            Identity::Customer(customer) => Principal::of_customer(customer.id),
            Identity::Candidate(candidate) => Principal::of_candidate(candidate.project, candidate.id),
        }
    }

    /// The caller as the author of changes at `now`, in the request with this identifier.
    pub(super) fn origin(&self, request: Option<String>, now: DateTime<Utc>) -> Origin {
        let on_behalf_by = match &self.proof {
            Proof::Session(live) => live.session.claim.on_behalf_by,
            Proof::AccessKey | Proof::NamedToken => None,
        };
        Origin { on_behalf_by, request, ..Origin::new(self.principal(), now) }
    }

    /// The caller as the author of an upload, who must still be known when the file arrives.
    pub fn author(&self) -> Author {
        match (&self.proof, self.principal()) {
            (Proof::Session(live), _) => {
                let Session { claim, epoch, actor_epoch, .. } = live.session.clone();
                Author::Account { claim, epoch: Some(epoch), actor_epoch }
            }
            (_, Principal::Account(account)) => {
                let claim = Claim::own(self.company().clone(), account);
                Author::Account { claim, epoch: None, actor_epoch: None }
            }
            (_, Principal::NamedToken(token)) => Author::NamedToken { token },
        }
    }

    /// The email address of the caller; none for a named token.
    pub fn email(&self) -> Option<&Email> {
        match &self.identity {
            Identity::Customer(customer) => Some(&customer.email),
            Identity::Candidate(candidate) => candidate.profile.email.as_ref(),
            Identity::NamedToken(_) => None,
        }
    }

    /// The caller's name, for people to read.
    pub fn name(&self) -> String {
        match &self.identity {
            Identity::Customer(customer) => format!("{} {}", customer.first_name, customer.last_name),
            Identity::Candidate(candidate) => {
                format!("{} {}", candidate.profile.first_name, candidate.profile.last_name)
            }
            Identity::NamedToken(token) => token.name.to_string(),
        }
    }

    /// The staff user who is calling, if it is one.
    pub fn customer(&self) -> Option<CustomerId> {
        match &self.identity {
            Identity::Customer(customer) => Some(customer.id),
            Identity::Candidate(_) | Identity::NamedToken(_) => None,
        }
    }

    /// What the caller is in the company as a whole.
    pub fn in_company(&self) -> Standing {
        self.identity.in_company()
    }

    /// What the caller is in a project of their company with this staff.
    pub fn in_project(&self, staff: &Staff) -> Standing {
        self.identity.in_project(staff)
    }

    /// What the caller is to a candidate of a project of their company.
    pub fn towards(&self, candidate: &Candidate, project: &Project) -> Standing {
        self.identity.towards(candidate, project)
    }
}

impl Identity {
    pub(super) fn in_company(&self) -> Standing {
        self.with_roles(|_| BTreeSet::new())
    }

    pub(super) fn in_project(&self, staff: &Staff) -> Standing {
        self.with_roles(|customer| staff.roles_of(customer))
    }

    fn with_roles(&self, roles: impl FnOnce(CustomerId) -> BTreeSet<Role>) -> Standing {
        match self {
            Self::Customer(customer) => Standing::Staff(customer.account_type, roles(customer.id)),
            Self::NamedToken(_) => Standing::NamedToken,
            Self::Candidate(_) => Standing::Outsider,
        }
    }

    pub(super) fn towards(&self, candidate: &Candidate, project: &Project) -> Standing {
        match (self, self.in_project(&project.staff)) {
            (Self::Candidate(own), _) if own.id == candidate.id && own.project == candidate.project => {
                Standing::Itself
            }
            (Self::Customer(customer), Standing::Staff(account_type, roles))
                if roles.is_empty() && candidate.share_of(customer.id).is_some() =>
            {
                Standing::Sharee(account_type)
            }
            (_, standing) => standing,
        }
    }

    pub(super) fn company(&self) -> &CompanyId {
        match self {
            Self::Customer(customer) => &customer.company,
            Self::Candidate(candidate) => &candidate.company,
            Self::NamedToken(token) => &token.company,
        }
    }

    /// The account and what it logs in by; none for a named token.
    pub(super) fn user(&self) -> Option<(Account, User<'_>)> {
        let (account, epoch, password_hash) = match self {
            Self::Customer(own) => {
                let epoch = own.is_active.then_some(own.session_epoch);
                (Account::Customer { customer: own.id }, epoch, own.password_hash.as_ref())
            }
            Self::Candidate(own) => {
                let epoch = own.may_log_in().then_some(own.session_epoch);
                let account = Account::Candidate { project: own.project, candidate: own.id };
                (account, epoch, own.password_hash.as_ref())
            }
            Self::NamedToken(_) => return None,
        };
        Some((account, User { epoch, password_hash }))
    }
}

pub(super) struct User<'a> {
    /// The epoch that a session must be of to be alive; none when no session may be.
    pub(super) epoch: Option<u32>,
    /// None before a password was chosen.
    pub(super) password_hash: Option<&'a PasswordHash>,
}
