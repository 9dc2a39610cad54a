//! The commands, as events carry them.

mod access;
mod companies;
mod create;
mod effects;
mod erasure;
mod upkeep;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use shared::auth::Operator;
use shared::domain::customer::AccountType;
use shared::domain::id::CompanyId;
use shared::error::FieldErrors;
use shared::{Error, Result};

pub use create::Person;

use crate::outcome::Outcome;

/// One command.
#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Command {
    /// Tells every company.
    ListCompanies,
    /// Creates a company with its first owner. Repeated for the same owner, it creates nothing.
    CreateCompany {
        /// The identifier: `[a-z0-9-]{2,63}`, for ever.
        company: String,
        /// What it is called.
        name: String,
        /// Who answers for it.
        owner: Person,
    },
    /// Creates a staff user of an existing company. Repeated for the same user, it creates nothing.
    CreateCustomer {
        /// The company's identifier.
        company: String,
        /// What the user is in the company.
        account_type: AccountType,
        /// The user.
        customer: Person,
    },
    /// Sets where mails in a company's name may come from: what SES has verified for this company.
    VerifySenders {
        /// The company's identifier.
        company: String,
        /// Domains and addresses, at most 20, in place of those set before.
        senders: Vec<String>,
    },
    /// Makes a staff user an owner.
    MakeOwner {
        /// The company's identifier.
        company: String,
        /// The user's name.
        username: String,
    },
    /// Makes an owner an admin, whom other owners may delete.
    RevokeOwner {
        /// The company's identifier.
        company: String,
        /// The user's name.
        username: String,
    },
    /// Lets a staff user act for others of the company, up to its own account type, without their passwords.
    GrantOnBehalf {
        /// The company's identifier.
        company: String,
        /// The user's name.
        username: String,
    },
    /// Takes that away, which ends the sessions that the user has begun for others.
    RevokeOnBehalf {
        /// The company's identifier.
        company: String,
        /// The user's name.
        username: String,
    },
    /// Ends all sessions of everybody, staff and candidates, who logs in by a name.
    EndSessions {
        /// The company's identifier.
        company: String,
        /// A user name or an email.
        username: String,
    },
    /// Counts again what tallies count, and mends what does not agree.
    Recount {
        /// The company's identifier.
        company: String,
        /// The identifier of the only project to count; all when absent.
        project: Option<String>,
    },
    /// Deletes again what has been erased and was brought back since, by a restoration of the table.
    EraseAgain {
        /// From when on erasures count, in RFC 3339: the moment that the table was restored to, or before.
        since: String,
    },
    /// Has mails and deletions tried again that the outbox has given up: all, or only some.
    RetryEffects {
        /// What they do, as the log calls it, such as `invitation`.
        kind: Option<String>,
        /// The company's identifier.
        company: Option<String>,
        /// From when on they were given up, in RFC 3339.
        since: Option<String>,
    },
    /// Makes the search entries of all candidates again.
    ReindexSearch {
        /// The company's identifier.
        company: String,
    },
}

impl Command {
    /// Its name in events.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::ListCompanies => "list-companies",
            Self::CreateCompany { .. } => "create-company",
            Self::CreateCustomer { .. } => "create-customer",
            Self::VerifySenders { .. } => "verify-senders",
            Self::MakeOwner { .. } => "make-owner",
            Self::RevokeOwner { .. } => "revoke-owner",
            Self::GrantOnBehalf { .. } => "grant-on-behalf",
            Self::RevokeOnBehalf { .. } => "revoke-on-behalf",
            Self::EndSessions { .. } => "end-sessions",
            Self::Recount { .. } => "recount",
            Self::EraseAgain { .. } => "erase-again",
            Self::RetryEffects { .. } => "retry-effects",
            Self::ReindexSearch { .. } => "reindex-search",
        }
    }

    /// The company that it is about, as it was sent.
    pub(crate) fn company(&self) -> Option<&str> {
        match self {
            Self::ListCompanies | Self::EraseAgain { .. } => None,
            Self::RetryEffects { company, .. } => company.as_deref(),
            Self::CreateCompany { company, .. }
            | Self::CreateCustomer { company, .. }
            | Self::VerifySenders { company, .. }
            | Self::MakeOwner { company, .. }
            | Self::RevokeOwner { company, .. }
            | Self::GrantOnBehalf { company, .. }
            | Self::RevokeOnBehalf { company, .. }
            | Self::EndSessions { company, .. }
            | Self::Recount { company, .. }
            | Self::ReindexSearch { company } => Some(company),
        }
    }

    pub(crate) async fn run(self, operator: &Operator) -> Result<Outcome> {
        match self {
            Self::ListCompanies => companies::list(operator).await,
            Self::CreateCompany { company, name, owner } => {
                create::company(operator, &company, &name, owner).await
            }
            Self::CreateCustomer { company, account_type, customer } => {
                create::customer(operator, &company, account_type, customer).await
            }
            Self::VerifySenders { company, senders } => {
                companies::verify_senders(operator, &company, &senders).await
            }
            Self::MakeOwner { company, username } => access::make_owner(operator, &company, &username).await,
            Self::RevokeOwner { company, username } => {
                access::revoke_owner(operator, &company, &username).await
            }
            Self::GrantOnBehalf { company, username } => {
                access::set_on_behalf(operator, &company, &username, true).await
            }
            Self::RevokeOnBehalf { company, username } => {
                access::set_on_behalf(operator, &company, &username, false).await
            }
            Self::EndSessions { company, username } => {
                access::end_sessions(operator, &company, &username).await
            }
            Self::Recount { company, project } => {
                upkeep::recount(operator, &company, project.as_deref()).await
            }
            Self::EraseAgain { since } => erasure::again(operator, &since).await,
            Self::RetryEffects { kind, company, since } => {
                effects::retry(operator, kind.as_deref(), company.as_deref(), since.as_deref()).await
            }
            Self::ReindexSearch { company } => upkeep::reindex_search(operator, &company).await,
        }
    }
}

/// Reads the identifier of a company.
fn company_id(text: &str, errors: &mut FieldErrors) -> Option<CompanyId> {
    errors.read("company", text.parse().map_err(|_| "Use 2 to 63 of a-z, 0-9 and -.".to_owned()))
}

/// Reads the identifier of a company, of which nothing else can be wrong.
fn only_company_id(text: &str) -> Result<CompanyId> {
    let mut errors = FieldErrors::default();
    company_id(text, &mut errors).ok_or(Error::Fields(errors))
}

/// Reads a moment.
fn moment(text: &str) -> Result<DateTime<Utc>, String> {
    let moment = DateTime::parse_from_rfc3339(text);
    let moment = moment.map_err(|_| "Use a moment with a zone, such as 2026-11-08T10:00:00Z.".to_owned());
    Ok(moment?.to_utc())
}

/// The company is not there.
fn no_company() -> Error {
    Error::field("company", "There is no such company.")
}
