//! Results of commands.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};
use serde::Serialize;
use shared::auth::OperatorAccess;
use shared::domain::company::Company;
use shared::domain::customer::Customer;
use shared::domain::effect::Effect;
use shared::domain::id::CompanyId;
use shared::http::wire::Uri;
use shared::store::{RecountResult, ReindexResult};

/// The result of a command. Each command sets some of the fields.
#[derive(Debug, Default, Serialize)]
pub struct CommandOutput {
    /// The company's identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub company: Option<String>,
    /// The staff user's reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customer: Option<Uri>,
    /// The page where that user chooses a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_link: Option<ActivationLink>,
    /// References of the accounts whose sessions were revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Vec<Uri>>,
    /// Every company.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub companies: Option<Vec<ListedCompany>>,
    /// The result of a recount.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recount: Option<RecountResult>,
    /// The result of repeated deletions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erased_again: Option<ErasedAgain>,
    /// Effects that have failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<FailedEffects>,
    /// Numbers of retried effects, by kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retried: Option<BTreeMap<&'static str, usize>>,
    /// The result of rebuilding the search entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<ReindexResult>,
    /// The number before the next event's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_event: Option<u64>,
}

/// A company of a list.
#[derive(Debug, Serialize)]
pub struct ListedCompany {
    /// The identifier.
    pub company: String,
    /// The display name.
    pub name: String,
}

/// Effects that have failed, the oldest first; at most [`FailedEffects::LISTED`] in each list.
#[derive(Debug, Serialize)]
pub struct FailedEffects {
    /// Those that the outbox tries again.
    pub waiting: Vec<FailedEffect>,
    /// Those that it gave up.
    pub given_up: Vec<FailedEffect>,
}

impl FailedEffects {
    /// The most effects of one list.
    pub const LISTED: usize = 1000;
}

/// An effect that has failed.
#[derive(Debug, Serialize)]
pub struct FailedEffect {
    /// Its identifier, as in the log.
    pub id: String,
    /// The company's identifier.
    pub company: String,
    /// The task, as in the log, such as `invitation`.
    pub kind: &'static str,
    /// When it was caused.
    pub created_at: DateTime<Utc>,
    /// Tries, including one under way.
    pub attempts: u32,
    /// When it is tried next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_try_at: Option<DateTime<Utc>>,
    /// When it was given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up_at: Option<DateTime<Utc>>,
}

impl From<&Effect> for FailedEffect {
    fn from(effect: &Effect) -> Self {
        Self {
            id: effect.id.clone(),
            company: effect.company.to_string(),
            kind: effect.task.as_str(),
            created_at: effect.created_at,
            attempts: effect.attempts,
            next_try_at: effect.next_try_at,
            given_up_at: effect.given_up_at,
        }
    }
}

/// The result of repeated deletions.
#[derive(Debug, Default, Serialize)]
pub struct ErasedAgain {
    /// Recorded deletions.
    pub noted: usize,
    /// Items that existed again and were deleted.
    pub erased: usize,
    /// Items that exist again and could not be deleted.
    pub kept: Vec<UndeletedItem>,
}

/// An item that could not be deleted.
#[derive(Debug, Serialize)]
pub struct UndeletedItem {
    /// The reference.
    pub uri: Uri,
    /// The reason, a sentence.
    pub reason: &'static str,
}

impl ErasedAgain {
    /// Adds an item that could not be deleted.
    pub(crate) fn keep(&mut self, uri: Uri, reason: &'static str) {
        self.kept.push(UndeletedItem { uri, reason });
    }
}

/// A link with a one-time key. `Debug` hides it, so that it is not logged.
#[derive(Clone, Serialize)]
pub struct ActivationLink(String);

impl ActivationLink {
    pub(crate) fn new(link: String) -> Self {
        Self(link)
    }

    /// The URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ActivationLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ActivationLink(…)")
    }
}

impl CommandOutput {
    pub(crate) fn of_company(company: &CompanyId) -> Self {
        Self { company: Some(company.to_string()), ..Self::default() }
    }

    pub(crate) fn of_customer(customer: &Customer, operator: &OperatorAccess) -> Self {
        let reference = operator.references().uri(&customer.company, customer.id);
        Self { customer: Some(reference), ..Self::of_company(&customer.company) }
    }
}

impl From<&Company> for ListedCompany {
    fn from(company: &Company) -> Self {
        Self { company: company.id.to_string(), name: company.name.to_string() }
    }
}
