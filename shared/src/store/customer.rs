//! Access patterns of customers.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::Store;
use super::condition::Condition;
use super::item::{Entity, Versioned};
use super::keys::{self, Key};
use super::login::LoginPartition;
use super::page::{Listing, Page, PageRequest};
use super::tally::Owned;
use super::transaction::Transaction;
use super::upload::FilesOf;
use crate::domain::account::Account;
use crate::domain::customer::{AccountType, Customer};
use crate::domain::effect::Effect;
use crate::domain::erasure::Erased;
use crate::domain::id::{CompanyId, CustomerId};
use crate::domain::text::fold_case;
use crate::error::{Error, Result};

impl Entity for Customer {
    const UNSHOWN: &'static [&'static str] = &["mail_rate", "one_time_key", "password_hash", "session_epoch"];

    fn key(&self) -> Key {
        keys::customer(&self.company, self.id)
    }
}

impl Store {
    /// Creates a customer of an existing company; one who has yet to choose a password is invited by mail.
    ///
    /// # Errors
    /// Messages on `company` when there is none, on `username` and `email` when they are taken.
    pub fn create_customer(&self, customer: &Customer, now: DateTime<Utc>) -> Transaction {
        let mut transaction = self.transaction();
        let no_company = Error::field("company", "There is no such company.");
        transaction.require(keys::company(&customer.company), Condition::Present, no_company);
        transaction.create(customer);
        transaction.customer_logins(None, Some(customer));
        transaction.count_customers(&customer.company, None, Some(customer));
        transaction.files(None, files_of(customer), now);
        transaction.invitation(None, customer, now);
        transaction
    }

    /// Puts `after` in place of `before`, at `now`; invites it by mail if the step calls for that.
    ///
    /// # Errors
    /// [`Error::Changed`]; messages on `email` when the new one is taken; [`LAST_OWNER`] when no owner would be left.
    ///
    /// [`LAST_OWNER`]: crate::domain::customer::LAST_OWNER
    pub fn update_customer(
        &self,
        before: &Versioned<Customer>,
        after: &Customer,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        transaction.replace(before, after);
        transaction.files(Some(files_of(before)), files_of(after), now);
        transaction.customer_logins(Some(before), Some(after));
        transaction.count_customers(&after.company, Some(before), Some(after));
        transaction.invitation(Some(before), after, now);
        transaction
    }

    /// Puts `after` in place of `before` and invites it by mail.
    ///
    /// # Errors
    /// As [`Self::update_customer`].
    pub fn invite_customer(
        &self,
        before: &Versioned<Customer>,
        after: &Customer,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        transaction.replace(before, after);
        transaction.customer_logins(Some(before), Some(after));
        transaction.count_customers(&after.company, Some(before), Some(after));
        transaction.effect(Some(Effect::of_invitation(after, before.version() + 1, now)));
        transaction
    }

    /// Lets customers of one company change together, all or none. At most [`MAX_TOGETHER`](Self::MAX_CUSTOMERS). Who is
    /// activated before having chosen a password is invited again.
    ///
    /// # Errors
    /// [`Error::Changed`]; messages on `username` and `email` when they are taken; [`LAST_OWNER`] when no owner would
    /// be left.
    ///
    /// [`LAST_OWNER`]: crate::domain::customer::LAST_OWNER
    pub fn change_customers(
        &self,
        company: &CompanyId,
        changes: &[CustomerChange],
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        let mut counts = Counts::default();
        for change in changes {
            match change {
                CustomerChange::Create(customer) => {
                    transaction.create(customer);
                    transaction.customer_logins(None, Some(customer));
                    transaction.invitation(None, customer, now);
                    counts.add(None, Some(customer));
                }
                CustomerChange::Replace(before, after) => {
                    transaction.replace(before, after);
                    counts.add(Some(before), Some(after));
                    transaction.invitation(Some(before), after, now);
                }
            }
        }
        transaction.count(company, &counts);
        transaction
    }

    /// How many customers may change together.
    pub const MAX_CUSTOMERS: usize = 15;

    /// Those of `names`, in the form in which names are compared, that are user names, be it of staff or of candidates.
    pub async fn taken_usernames(
        &self,
        company: &CompanyId,
        names: impl IntoIterator<Item = String>,
    ) -> Result<BTreeSet<String>> {
        let mut names: BTreeSet<String> = names.into_iter().collect();
        let key = |name: &String| keys::login_username(company, name);
        let mut batch = self.get(names.iter().map(key)).await?;
        names.retain(|name| batch.take_item(&key(name)).is_some());
        Ok(names)
    }

    /// The customer with this identifier.
    pub async fn customer(&self, company: &CompanyId, id: CustomerId) -> Result<Option<Versioned<Customer>>> {
        self.one(keys::customer(company, id)).await
    }

    /// A page of a company's customers, and how many there are.
    pub async fn list_customers(
        &self,
        company: &CompanyId,
        request: &PageRequest,
    ) -> Result<(Page<Versioned<Customer>>, u64)> {
        self.list_owned(company, &Listing::All(keys::customers(company)), &[Owned::Customers], request).await
    }

    /// Every customer of a company, oldest first.
    pub async fn all_customers(&self, company: &CompanyId) -> Result<Vec<Versioned<Customer>>> {
        self.all(&keys::customers(company)).await
    }

    /// The customer with this user name, in any case.
    pub async fn customer_by_username(
        &self,
        company: &CompanyId,
        username: &str,
    ) -> Result<Option<Versioned<Customer>>> {
        let found = self.customers_of(&LoginPartition::of(company.as_str(), username)).await?;
        let wanted = fold_case(username);
        Ok(found.into_iter().find(|customer| fold_case(customer.username.as_str()) == wanted))
    }
}

/// One of several changes; a change of an existing customer leaves its names as they are.
#[derive(Debug)]
pub enum CustomerChange {
    /// A new one, who is invited by mail.
    Create(Customer),
    /// Another in place of the one before.
    Replace(Box<Versioned<Customer>>, Customer),
}

/// What changes in the counts of a company.
#[derive(Default)]
struct Counts {
    customers: i64,
    owners: i64,
}

impl Counts {
    fn add(&mut self, before: Option<&Customer>, after: Option<&Customer>) {
        let is_owner = |customer: Option<&Customer>| {
            let is_owner = |one: &Customer| one.account_type == AccountType::Owner && one.is_at_work();
            i64::from(customer.is_some_and(is_owner))
        };
        self.customers += i64::from(after.is_some()) - i64::from(before.is_some());
        self.owners += is_owner(after) - is_owner(before);
    }
}

impl Transaction {
    /// Notes the invitation of a customer, if its becoming `after` calls for one.
    fn invitation(&mut self, before: Option<&Versioned<Customer>>, after: &Customer, now: DateTime<Utc>) {
        let is_invited = after.is_invited_since(before.map(|before| &**before));
        let version = before.map_or(0, Versioned::version) + 1;
        self.effect(is_invited.then(|| Effect::of_invitation(after, version, now)));
    }

    /// Deletes a customer with its names and files.
    pub(super) fn customer_gone(&mut self, customer: &Versioned<Customer>, now: DateTime<Utc>) {
        self.delete(customer);
        self.customer_logins(Some(customer), None);
        self.count_customers(&customer.company, Some(customer), None);
        let erased = Erased::Customer { customer: customer.id };
        self.erased((&customer.company, erased), files_of(customer).keys(), now);
    }

    /// Counts that a customer `before` becomes `after`.
    fn count_customers(&mut self, company: &CompanyId, before: Option<&Customer>, after: Option<&Customer>) {
        let mut counts = Counts::default();
        counts.add(before, after);
        self.count(company, &counts);
    }

    fn count(&mut self, company: &CompanyId, counts: &Counts) {
        self.company_tally(company, &[(Owned::Customers, counts.customers), (Owned::Owners, counts.owners)]);
    }

    /// Moves the unique markers of a customer's username and email address, which share one namespace.
    pub(super) fn customer_logins(&mut self, before: Option<&Customer>, after: Option<&Customer>) {
        let Some(one) = after.or(before) else { return };
        let account = Account::Customer { customer: one.id };
        let taken_email = || Error::field("email", "A customer with this email already exists.");
        self.move_login(before.map(username_of), after.map(username_of), account, taken_username());
        self.move_login(before.map(email_of), after.map(email_of), account, taken_email());
        let Some(after) = after else { return };
        let names = |one: &Customer| (fold_case(one.username.as_str()), fold_case(one.email.as_str()));
        let (new_name, new_email) = names(after);
        let (old_name, old_email) = before.map(names).unzip();
        if new_name == new_email {
            return;
        }
        // A username may not be another account's email address, nor the other way round.
        let (c, own) = (&after.company, [old_name.as_ref(), old_email.as_ref()]);
        if !own.contains(&Some(&new_name)) {
            self.require(keys::login_email(c, after.username.as_str()), Condition::Absent, taken_username());
        }
        if !own.contains(&Some(&new_email)) {
            self.require(keys::login_username(c, after.email.as_str()), Condition::Absent, taken_email());
        }
    }
}

pub(super) fn username_of(customer: &Customer) -> Key {
    keys::login_username(&customer.company, customer.username.as_str())
}

pub(super) fn email_of(customer: &Customer) -> Key {
    keys::login_email(&customer.company, customer.email.as_str())
}

fn taken_username() -> Error {
    Error::field("username", super::login::TAKEN_USERNAME)
}

fn files_of(customer: &Customer) -> FilesOf<'_> {
    let files = customer.photo.into_iter().collect();
    FilesOf { company: &customer.company, owner: customer.owner(), files }
}
