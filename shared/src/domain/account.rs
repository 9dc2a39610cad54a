//! Who can call.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::id::{CandidateId, CompanyId, CustomerId, ProjectId, TokenId};

/// Somebody of a company who can log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "account", rename_all = "kebab-case")]
pub enum Account {
    /// A staff user.
    Customer {
        /// Which.
        customer: CustomerId,
    },
    /// A candidate.
    Candidate {
        /// Its project.
        project: ProjectId,
        /// Which.
        candidate: CandidateId,
    },
}

/// Whom a credential is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The company.
    pub company: CompanyId,
    /// The account.
    pub account: Account,
    /// Who acts in its name, if that is somebody else.
    pub on_behalf_by: Option<CustomerId>,
}

impl Claim {
    /// The claim of somebody in their own name.
    pub fn own(company: CompanyId, account: Account) -> Self {
        Self { company, account, on_behalf_by: None }
    }
}

/// Whoever a request is answered to, whichever of their credentials it came with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Principal {
    /// Somebody who can log in.
    Account(Account),
    /// A named token of the company.
    NamedToken(TokenId),
}

impl Principal {
    /// A staff user.
    pub fn of_customer(customer: CustomerId) -> Self {
        Self::Account(Account::Customer { customer })
    }

    /// A candidate of a project.
    pub fn of_candidate(project: ProjectId, candidate: CandidateId) -> Self {
        Self::Account(Account::Candidate { project, candidate })
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(Account::Customer { customer }) => write!(f, "customer {customer}"),
            Self::Account(Account::Candidate { candidate, .. }) => write!(f, "candidate {candidate}"),
            Self::NamedToken(token) => write!(f, "token {token}"),
        }
    }
}
