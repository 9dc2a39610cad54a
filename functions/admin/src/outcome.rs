//! What commands answer.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use shared::auth::Operator;
use shared::domain::company::Company;
use shared::domain::customer::Customer;
use shared::domain::id::CompanyId;
use shared::store::{Recount, Reindexed};

/// What a command did; each has only some of it to tell.
#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    /// The company that it was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub company: Option<String>,
    /// The address of the staff user that it was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub customer: Option<String>,
    /// Where that user chooses a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation_link: Option<ActivationLink>,
    /// The addresses of those whose sessions have ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Vec<String>>,
    /// Every company.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub companies: Option<Vec<ListedCompany>>,
    /// What was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recount: Option<Recount>,
    /// What was erased again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erased_again: Option<ErasedAgain>,
    /// How many effects were taken up again, by what they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retried: Option<BTreeMap<&'static str, usize>>,
    /// What was done about the search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Reindexed>,
}

/// A company in a list.
#[derive(Debug, Serialize)]
pub struct ListedCompany {
    /// Its identifier.
    pub company: String,
    /// What it is called.
    pub name: String,
}

/// What the ledger of erasures led to.
#[derive(Debug, Default, Serialize)]
pub struct ErasedAgain {
    /// How many erasures it has noted.
    pub noted: usize,
    /// How many of those were in the table again, and are not any more.
    pub erased: usize,
    /// What is in the table again and could not be erased.
    pub kept: Vec<Kept>,
}

/// Something that could not be erased.
#[derive(Debug, Serialize)]
pub struct Kept {
    /// Its address.
    pub uri: String,
    /// Why.
    pub reason: &'static str,
}

impl ErasedAgain {
    /// Tells that something could not be erased.
    pub(crate) fn keep(&mut self, uri: String, reason: &'static str) {
        self.kept.push(Kept { uri, reason });
    }
}

/// A link with a one-time key in it, which no log may show.
#[derive(Clone, Serialize)]
pub struct ActivationLink(String);

impl ActivationLink {
    /// Wraps a link.
    pub(crate) fn new(link: String) -> Self {
        Self(link)
    }

    /// The link.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ActivationLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ActivationLink(…)")
    }
}

impl Outcome {
    /// About a company.
    pub(crate) fn of_company(company: &CompanyId) -> Self {
        Self { company: Some(company.to_string()), ..Self::default() }
    }

    /// About a staff user.
    pub(crate) fn of_customer(customer: &Customer, operator: &Operator) -> Self {
        let reference = operator.references().customer(&customer.company, customer.id);
        Self { customer: Some(reference), ..Self::of_company(&customer.company) }
    }
}

impl From<&Company> for ListedCompany {
    fn from(company: &Company) -> Self {
        Self { company: company.id.to_string(), name: company.name.to_string() }
    }
}
