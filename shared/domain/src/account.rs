//! Accounts, and the callers that act for them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::id::{CandidateId, CompanyId, CustomerId, ProjectId, TokenId};

/// A user of a company who can log in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "account", rename_all = "kebab-case")]
pub enum Account {
    /// A staff user.
    Customer {
        customer: CustomerId,
    },
    Candidate {
        project: ProjectId,
        candidate: CandidateId,
    },
}

impl Account {
    /// The identifier of the customer or candidate.
    pub fn id(self) -> String {
        match self {
            Self::Customer { customer } => customer.to_string(),
            Self::Candidate { candidate, .. } => candidate.to_string(),
        }
    }
}

/// The account that a credential belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CredentialClaim {
    pub company: CompanyId,
    /// The account that requests act as.
    pub account: Account,
    /// The customer who acts on behalf of the account.
    pub on_behalf_by: Option<CustomerId>,
}

impl CredentialClaim {
    /// The claim of an account that acts for itself.
    pub fn own(company: CompanyId, account: Account) -> Self {
        Self { company, account, on_behalf_by: None }
    }
}

/// The account or token that acts, regardless of the credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Principal {
    /// A user who can log in.
    Account(Account),
    /// A named token of the company.
    NamedToken(TokenId),
}

/// The staff user or named token that created a resource. The resource remains when their rights end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Creator {
    Customer(CustomerId),
    NamedToken { token: TokenId },
}

impl Principal {
    /// The principal as a creator; `None` for candidates: no resource that they create records its creator.
    pub fn creator(self) -> Option<Creator> {
        match self {
            Self::Account(Account::Customer { customer }) => Some(Creator::Customer(customer)),
            Self::Account(Account::Candidate { .. }) => None,
            Self::NamedToken(token) => Some(Creator::NamedToken { token }),
        }
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
