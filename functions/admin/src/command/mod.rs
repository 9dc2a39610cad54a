//! Operator commands and their arguments.

mod access;
mod addresses;
mod companies;
mod conversions;
mod create;
mod effects;
mod erase_company;
mod erasure;
mod upkeep;
mod usage;

use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;
use serde_json::{Value, json};
use shared::auth::OperatorAccess;
use shared::domain::id::CompanyId;
use shared::domain::staff::customer::{AccountType, Customer};
use shared::error::FieldErrors;
use shared::{Error, Result};

pub use create::NewStaff;

/// Further ahead than any effect or erasure is scheduled.
const AHEAD: TimeDelta = TimeDelta::days(1);

/// A command and its company.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
pub struct OperatorCommand {
    pub name: String,
    /// The company's identifier: `[a-z0-9-]{2,63}`. It cannot be changed.
    pub company: Option<String>,
    pub command: AdminCommand,
}

impl TryFrom<Value> for OperatorCommand {
    type Error = serde_json::Error;

    fn try_from(event: Value) -> Result<Self, Self::Error> {
        Ok(Self {
            name: String::deserialize(&event["command"])?,
            company: Option::deserialize(&event["company"])?,
            command: AdminCommand::deserialize(event)?,
        })
    }
}

#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum AdminCommand {
    /// Lists every company.
    ListCompanies,
    /// Creates a company with its first owner. Idempotent for the same owner.
    CreateCompany { name: String, owner: NewStaff },
    /// Creates a staff user of an existing company. Idempotent for the same user.
    CreateCustomer { account_type: AccountType, customer: NewStaff },
    /// Erases a company at the end of its contract. Idempotent: a repeated command reports the progress.
    EraseCompany {
        /// The company's identifier again, as a confirmation.
        confirm: Option<String>,
        /// The candidates whose holds are deleted, because the company's staff can no longer do so.
        #[serde(default)]
        release: Vec<String>,
    },
    /// Replaces the addresses and domains that mails in the company's name may be sent from.
    VerifySenders {
        /// The addresses and domains, at most 20.
        senders: Vec<String>,
    },
    /// Shows each company's usage in a month, as CSV.
    Usage {
        /// The calendar month in UTC, such as `2026-11`.
        month: String,
    },
    /// Marks a company as the operator's test company, or removes the mark.
    MarkTest { is_test: bool },
    /// Makes a staff user an owner.
    MakeOwner { username: String },
    /// Makes an owner an admin, so that other owners may delete them.
    RevokeOwner { username: String },
    /// Lets a staff user log in on behalf of others of the company, up to their own account type, without passwords.
    GrantOnBehalf { username: String },
    /// Revokes the permission to log in on behalf of others, and the sessions started with it.
    RevokeOnBehalf { username: String },
    /// Lets a company's staff log in with passwords again, although the company requires its provider.
    AllowPasswords,
    /// Revokes all sessions of every account, staff or candidate, that matches a name.
    EndSessions {
        /// A user name or an email.
        username: String,
    },
    /// Allows mails again to every holder of an address that SES has reported as undeliverable.
    FreeAddress {
        address: String,
        /// Whether to include people who have reported a mail as spam.
        #[serde(default)]
        complaints: bool,
    },
    /// Recounts the tallies and corrects differences.
    Recount {
        /// The identifier of the project to recount; by default all projects.
        project: Option<String>,
    },
    /// Repeats deletions that a restore of the table has undone.
    EraseAgain {
        /// RFC 3339: the time that the table was restored to, or an earlier time.
        since: String,
    },
    /// Lists failed mails and deletions: those that the outbox retries, and those that it has given up.
    ListFailures,
    /// Retries mails and deletions that the outbox has given up.
    RetryEffects {
        /// The kind of effect, as logged, such as `invitation`; by default all.
        kind: Option<String>,
        /// RFC 3339: only effects given up at this moment or later; by default all.
        since: Option<String>,
    },
    /// Retries failed conversions of a company's answers.
    RetryConversions,
    /// Restarts conversions of answers that a restore of the table has undone.
    RestartConversions,
    /// Returns those files of answers whose takes are in the table.
    FilesOfTakes {
        /// Object keys in the bucket.
        files: Vec<String>,
    },
    /// Skips event numbers that were assigned before the table was restored.
    AdvanceSequence,
    /// Rebuilds the search entries of all candidates.
    ReindexSearch,
    /// Encrypts the secrets of all companies again that are still encrypted with the former key.
    Reseal,
}

impl AdminCommand {
    /// Runs the command. Returns its output, with a member for each part.
    pub(crate) async fn run(self, operator: &OperatorAccess, company: Option<&str>) -> Result<Value> {
        match self {
            Self::ListCompanies => companies::list(operator).await,
            Self::CreateCompany { name, owner } => create::company(operator, company, &name, owner).await,
            Self::CreateCustomer { account_type, customer } => {
                create::customer(operator, company, account_type, customer).await
            }
            Self::EraseCompany { confirm, release } => {
                erase_company::run(operator, company, confirm.as_deref(), &release).await
            }
            Self::VerifySenders { senders } => companies::verify_senders(operator, company, &senders).await,
            Self::Usage { month } => usage::show(operator, &month).await,
            Self::MarkTest { is_test } => usage::mark_test(operator, company, is_test).await,
            Self::MakeOwner { username } => access::make_owner(operator, company, &username).await,
            Self::RevokeOwner { username } => access::revoke_owner(operator, company, &username).await,
            Self::GrantOnBehalf { username } => {
                access::set_on_behalf(operator, company, &username, true).await
            }
            Self::RevokeOnBehalf { username } => {
                access::set_on_behalf(operator, company, &username, false).await
            }
            Self::AllowPasswords => access::allow_passwords(operator, company).await,
            Self::EndSessions { username } => access::end_sessions(operator, company, &username).await,
            Self::FreeAddress { address, complaints } => {
                addresses::free(operator, company, &address, complaints).await
            }
            Self::Recount { project } => upkeep::recount(operator, company, project.as_deref()).await,
            Self::EraseAgain { since } => erasure::again(operator, &since).await,
            Self::ListFailures => effects::list(operator).await,
            Self::RetryEffects { kind, since } => {
                effects::retry(operator, kind.as_deref(), company, since.as_deref()).await
            }
            Self::RetryConversions => conversions::retry(operator, company).await,
            Self::RestartConversions => conversions::restart(operator).await,
            Self::FilesOfTakes { files } => conversions::files_of_takes(operator, files).await,
            Self::AdvanceSequence => upkeep::advance_sequence(operator, company).await,
            Self::ReindexSearch => upkeep::reindex_search(operator, company).await,
            Self::Reseal => upkeep::reseal(operator).await,
        }
    }
}

/// The output of a command about a staff user.
fn staff_output(operator: &OperatorAccess, customer: &Customer) -> Value {
    let uri = operator.references().uri(&customer.company, customer.id);
    json!({ "company": customer.company, "customer": uri })
}

fn company_id(text: Option<&str>, errors: &mut FieldErrors) -> Option<CompanyId> {
    let parsed = text.map(str::parse).transpose();
    let id = parsed.map_err(|_| "Use 2 to 63 characters of a-z, 0-9 and -.".to_owned());
    errors.read("company", id.and_then(|id| id.ok_or_else(|| "This field is required.".to_owned())))
}

/// Parses the identifier of a command without other arguments to validate.
fn only_company_id(text: Option<&str>) -> Result<CompanyId> {
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
