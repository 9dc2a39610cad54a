//! Account holders, with the data that mails to them or about them need.

use chrono::{DateTime, Utc};
use shared::Result;
use shared::domain::account::Account;
use shared::domain::candidate::Candidate;
use shared::domain::company::Company;
use shared::domain::history::ChangeAuthor;
use shared::domain::id::CompanyId;
use shared::domain::language::Language;
use shared::domain::mail::address_change::{AccountEmail, EmailKeys};
use shared::domain::mail::suppression::Suppression;
use shared::domain::project::Project;
use shared::domain::project::contact::Contact;
use shared::domain::secret::OneTimeKey;
use shared::domain::staff::customer::Customer;
use shared::domain::text::{Email, ShortName, Username};
use shared::store::{Store, Transaction, VersionedItem};

/// The holder of an account that has a password or can get one.
pub(crate) enum AccountHolder {
    Customer(VersionedItem<Customer>),
    /// A candidate, and their project if it still exists.
    Candidate(Box<VersionedItem<Candidate>>, Option<VersionedItem<Project>>),
}

impl AccountHolder {
    /// Reads an account's holder; `None` if they are gone.
    pub(crate) async fn read(store: &Store, company: &CompanyId, account: Account) -> Result<Option<Self>> {
        match account {
            Account::Customer { customer } => {
                Ok(store.customer(company, customer).await?.map(Self::Customer))
            }
            Account::Candidate { project, candidate } => {
                let (candidate, project) = tokio::try_join!(
                    store.candidate(company, project, candidate),
                    store.project(company, project)
                )?;
                Ok(candidate.map(|candidate| Self::Candidate(Box::new(candidate), project)))
            }
        }
    }

    pub(crate) fn account_email(&self) -> AccountEmail<'_> {
        match self {
            Self::Customer(customer) => customer.account_email(),
            Self::Candidate(candidate, _) => candidate.account_email(),
        }
    }

    /// The transaction that replaces the keys of the account's addresses.
    pub(crate) fn replace_email_keys(
        &self,
        store: &Store,
        keys: EmailKeys,
        now: DateTime<Utc>,
    ) -> Transaction {
        match self {
            Self::Customer(before) => {
                let after = Customer { email_keys: keys, ..Customer::clone(before) };
                store.update_customer(before, &after, now)
            }
            Self::Candidate(before, _) => {
                let after = Candidate { email_keys: keys, ..Candidate::clone(before) };
                store.change_candidate(before, &after.into(), now)
            }
        }
    }

    /// Whether the holder may confirm a new address.
    pub(crate) fn may_confirm(&self) -> bool {
        match self {
            Self::Customer(customer) => customer.is_active,
            Self::Candidate(candidate, _) => candidate.may_log_in() && candidate.erasure_request.is_none(),
        }
    }

    /// Whether mails to this address of the holder are suppressed after a bounce or complaint.
    pub(crate) fn is_suppressed(&self, address: &Email) -> bool {
        let suppression = match self {
            Self::Customer(customer) => customer.suppression.as_ref(),
            Self::Candidate(candidate, _) => candidate.suppression.as_ref(),
        };
        Suppression::reason(suppression, Some(address)).is_some()
    }

    /// The user name; for a candidate without one, the name of the project.
    pub(crate) fn username(&self) -> String {
        match self {
            Self::Candidate(candidate, _) => {
                let username = candidate.profile.username.as_ref();
                username.map_or_else(|| self.name(), |name| Username::as_str(name).to_owned())
            }
            Self::Customer(_) => self.name(),
        }
    }

    pub(crate) fn address(&self) -> Option<&Email> {
        match self {
            Self::Customer(customer) => Some(&customer.email),
            Self::Candidate(candidate, _) => candidate.profile.email.as_ref(),
        }
    }

    pub(crate) fn key(&self) -> Option<&OneTimeKey> {
        match self {
            Self::Customer(customer) => customer.one_time_key.as_ref(),
            Self::Candidate(candidate, _) => candidate.one_time_key.as_ref(),
        }
    }

    pub(crate) fn account(&self) -> Account {
        match self {
            Self::Customer(customer) => customer.account(),
            Self::Candidate(candidate, _) => candidate.account(),
        }
    }

    pub(crate) fn names(&self) -> (&ShortName, &ShortName) {
        match self {
            Self::Customer(customer) => (&customer.first_name, &customer.last_name),
            Self::Candidate(candidate, _) => (&candidate.profile.first_name, &candidate.profile.last_name),
        }
    }

    /// A name that distinguishes accounts with the same address: the user name of staff, the project of a candidate.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Customer(customer) => customer.username.as_str().to_owned(),
            Self::Candidate(_, project) => {
                project.as_ref().map(|project| project.settings.name.to_string()).unwrap_or_default()
            }
        }
    }

    pub(crate) fn language(&self, company: &Company) -> Language {
        match self {
            Self::Customer(customer) => customer.preferred_language,
            Self::Candidate(candidate, project) => candidate.mail_language(project.as_deref(), company),
        }
    }

    pub(crate) fn alias(&self) -> Option<&Email> {
        match self {
            Self::Customer(_) => None,
            Self::Candidate(_, project) => project.as_ref()?.settings.email_alias.as_ref(),
        }
    }

    /// The contact named in the mail; `None` for staff. For candidates, the project's contact if the mail is about this
    /// account only, else the company's.
    pub(crate) fn contact(&self, company: &Company, is_only: bool) -> Option<Contact> {
        match self {
            Self::Customer(_) => None,
            Self::Candidate(_, Some(project)) if is_only => Some(Contact::of(project, company)),
            Self::Candidate(..) => Some(Contact::of_company(company)),
        }
    }
}

/// The name of a change's author; the company's name if the author is gone.
pub(super) async fn find_author_name(store: &Store, company: &Company, by: ChangeAuthor) -> Result<String> {
    let name = match by {
        ChangeAuthor::Customer { customer } => {
            let customer = store.customer(&company.id, customer).await?;
            customer.map(|by| format!("{} {}", by.first_name, by.last_name))
        }
        ChangeAuthor::NamedToken { token } => {
            let tokens = store.tokens(&company.id).await?;
            tokens.into_iter().find(|found| found.id == token).map(|found| found.name.to_string())
        }
        ChangeAuthor::Candidate { project, candidate } => {
            let candidate = store.candidate(&company.id, project, candidate).await?;
            candidate.map(|by| format!("{} {}", by.profile.first_name, by.profile.last_name))
        }
        ChangeAuthor::System | ChangeAuthor::Operator => None,
    };
    Ok(name.unwrap_or_else(|| company.name.to_string()))
}
