//! Operator commands and their arguments.

mod access;
mod companies;
mod create;
mod effects;
mod erasure;
mod upkeep;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use shared::auth::OperatorAccess;
use shared::domain::customer::AccountType;
use shared::domain::id::CompanyId;
use shared::error::FieldErrors;
use shared::{Error, Result};

pub use create::NewStaff;

use crate::outcome::CommandOutput;

/// One command.
#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum AdminCommand {
    /// Lists every company.
    ListCompanies,
    /// Creates a company with its first owner. Idempotent for the same owner.
    CreateCompany {
        /// The identifier: `[a-z0-9-]{2,63}`. It cannot be changed.
        company: String,
        /// The display name.
        name: String,
        /// The first owner.
        owner: NewStaff,
    },
    /// Creates a staff user of an existing company. Idempotent for the same user.
    CreateCustomer {
        /// The company's identifier.
        company: String,
        /// The user's account type.
        account_type: AccountType,
        /// The user.
        customer: NewStaff,
    },
    /// Replaces the senders that mails in a company's name may come from.
    VerifySenders {
        /// The company's identifier.
        company: String,
        /// At most 20 domains and addresses.
        senders: Vec<String>,
    },
    /// Makes a staff user an owner.
    MakeOwner {
        /// The company's identifier.
        company: String,
        /// The user's name.
        username: String,
    },
    /// Makes an owner an admin, so that other owners may delete them.
    RevokeOwner {
        /// The company's identifier.
        company: String,
        /// The user's name.
        username: String,
    },
    /// Lets a staff user log in on behalf of others of the company, up to their own account type, without passwords.
    GrantOnBehalf {
        /// The company's identifier.
        company: String,
        /// The user's name.
        username: String,
    },
    /// Revokes that permission, and the sessions started with it.
    RevokeOnBehalf {
        /// The company's identifier.
        company: String,
        /// The user's name.
        username: String,
    },
    /// Revokes all sessions of every account, staff or candidate, with a login name.
    EndSessions {
        /// The company's identifier.
        company: String,
        /// A user name or an email.
        username: String,
    },
    /// Recounts what tallies count and corrects differences.
    Recount {
        /// The company's identifier.
        company: String,
        /// The identifier of the only project to count; by default all.
        project: Option<String>,
    },
    /// Repeats deletions that a restored table has undone.
    EraseAgain {
        /// RFC 3339: the moment to which the table was restored, or earlier.
        since: String,
    },
    /// Lists mails and deletions that have failed: those that the outbox tries again, and those that it gave up.
    ListFailures,
    /// Retries mails and deletions that the outbox gave up.
    RetryEffects {
        /// The task, as logged, such as `invitation`; by default all.
        kind: Option<String>,
        /// The company's identifier; by default all.
        company: Option<String>,
        /// RFC 3339: when they were given up, or later; by default any time.
        since: Option<String>,
    },
    /// Leaves out numbers of events that a restored table has taken back.
    AdvanceSequence {
        /// The company's identifier.
        company: String,
    },
    /// Rebuilds the search entries of all candidates.
    ReindexSearch {
        /// The company's identifier.
        company: String,
    },
}

impl AdminCommand {
    /// The command's name in JSON.
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
            Self::ListFailures => "list-failures",
            Self::RetryEffects { .. } => "retry-effects",
            Self::AdvanceSequence { .. } => "advance-sequence",
            Self::ReindexSearch { .. } => "reindex-search",
        }
    }

    /// The company argument as sent.
    pub(crate) fn company(&self) -> Option<&str> {
        match self {
            Self::ListCompanies | Self::EraseAgain { .. } | Self::ListFailures => None,
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
            | Self::AdvanceSequence { company }
            | Self::ReindexSearch { company } => Some(company),
        }
    }

    pub(crate) async fn run(self, operator: &OperatorAccess) -> Result<CommandOutput> {
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
            Self::ListFailures => effects::list(operator).await,
            Self::RetryEffects { kind, company, since } => {
                effects::retry(operator, kind.as_deref(), company.as_deref(), since.as_deref()).await
            }
            Self::AdvanceSequence { company } => upkeep::advance_sequence(operator, &company).await,
            Self::ReindexSearch { company } => upkeep::reindex_search(operator, &company).await,
        }
    }
}

fn company_id(text: &str, errors: &mut FieldErrors) -> Option<CompanyId> {
    errors.read("company", text.parse().map_err(|_| "Use 2 to 63 characters of a-z, 0-9 and -.".to_owned()))
}

/// Parses the identifier of a command without other arguments to validate.
fn only_company_id(text: &str) -> Result<CompanyId> {
    let mut errors = FieldErrors::default();
    company_id(text, &mut errors).ok_or(Error::Fields(errors))
}

fn moment(text: &str) -> Result<DateTime<Utc>, String> {
    let moment = DateTime::parse_from_rfc3339(text);
    let moment =
        moment.map_err(|_| "Use ISO 8601 with a time zone, for example 2026-11-08T10:00:00Z.".to_owned());
    Ok(moment?.to_utc())
}

fn no_company() -> Error {
    Error::field("company", "There is no such company.")
}
