//! Access patterns of customers.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::Store;
use super::item::{self, Entity, Versioned};
use super::keys::{self, Key};
use super::login::LoginPartition;
use super::page::{Listing, Page, PageRequest};
use super::tally::Owned;
use super::transaction::Transaction;
use super::upload::FilesOf;
use crate::domain::account::Account;
use crate::domain::customer::{AccountType, Customer};
use crate::domain::deletion::{Deleter, Deletion};
use crate::domain::effect::{Effect, FormerCustomer, Task};
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
        transaction
            .require(keys::company(&customer.company), Error::field("company", "There is no such company."));
        transaction.create(customer, Error::internal("a new identifier is taken"));
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
        let mut transaction = self.replacing(before, after);
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

    /// Deletes a customer, who has neither roles nor shares any more, and lets a mail name who deleted it.
    ///
    /// # Errors
    /// [`Error::Changed`]; [`LAST_OWNER`] when no owner would be left.
    ///
    /// [`LAST_OWNER`]: crate::domain::customer::LAST_OWNER
    async fn delete_customer(
        &self,
        customer: &Versioned<Customer>,
        by: Deleter,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let was = Box::new(FormerCustomer {
            email: customer.email.clone(),
            first_name: customer.first_name.clone(),
            last_name: customer.last_name.clone(),
            language: customer.preferred_language,
        });
        let deletion = Deletion::Customer { customer: customer.id, by: by.clone() };
        let task = Task::CustomerDeleted { was, by };
        let mut transaction = self.transaction();
        transaction.customer_gone(customer, now);
        transaction.end_deletion(&deletion);
        transaction.effect(Some(Effect::new(customer.company.clone(), customer.id, task, now)));
        self.commit(transaction).await
    }

    /// Takes a customer out: it cannot log in any more, leaves its projects, loses its shares, and is deleted.
    ///
    /// Not one transaction, since projects and shares may be many: the outbox finishes one that broke off.
    ///
    /// # Errors
    /// [`Error::Changed`]; [`LAST_OWNER`] when no owner would be left.
    ///
    /// [`LAST_OWNER`]: crate::domain::customer::LAST_OWNER
    pub async fn retire_customer(
        &self,
        customer: &Versioned<Customer>,
        by: Deleter,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let deletion = Deletion::Customer { customer: customer.id, by: by.clone() };
        let customer = self.deactivate_customer(customer, Some(deletion), now).await?;
        self.finish_customer(&customer, by, now).await
    }

    /// Deletes a customer who cannot log in any more.
    ///
    /// # Errors
    /// [`Error::Changed`].
    pub(super) async fn finish_customer(
        &self,
        customer: &Versioned<Customer>,
        by: Deleter,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.detach_customer(customer, now).await?;
        self.delete_customer(customer, by, now).await
    }

    /// Takes a customer out of a table in which its names may lead to somebody else, without telling anybody.
    ///
    /// # Errors
    /// As [`Self::delete_customer`].
    pub(super) async fn erase_customer(
        &self,
        customer: &Versioned<Customer>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let customer = self.deactivate_customer(customer, None, now).await?;
        self.detach_customer(&customer, now).await?;
        let account = Account::Customer { customer: customer.id };
        self.delete_notes(&customer).await?;
        let others = self.logins_of_others([username_of(&customer), email_of(&customer)], account).await?;
        let mut transaction = self.transaction().sparing(others);
        transaction.customer_gone(&customer, now);
        self.commit(transaction).await
    }

    /// Deletes what says of a customer that it has roles and shares, of projects and candidates that know nothing of it.
    async fn delete_notes(&self, customer: &Customer) -> Result<()> {
        for notes in [keys::memberships, keys::shares] {
            let listing = Listing::All(notes(&customer.company, customer.id));
            for row in self.page_of_items(&listing, &PageRequest::everything()).await?.rows {
                self.delete_alone(&item::key_of(&row)?).await?;
            }
        }
        Ok(())
    }

    /// The customer, who cannot log in any more, so that nobody can give it another role, or share.
    async fn deactivate_customer(
        &self,
        customer: &Versioned<Customer>,
        deletion: Option<Deletion>,
        now: DateTime<Utc>,
    ) -> Result<Versioned<Customer>> {
        let after = Customer::clone(customer).with_access(false);
        let mut transaction = self.transaction();
        transaction.replace(customer, &after);
        transaction.count_customers(&after.company, Some(customer), Some(&after));
        if let Some(deletion) = deletion {
            transaction.begin_deletion(&after.company, deletion, now);
        }
        self.commit(transaction).await?;
        customer.followed_by(after)
    }

    /// Takes a customer out of all projects, and withdraws what is shared with it.
    async fn detach_customer(&self, customer: &Customer, now: DateTime<Utc>) -> Result<()> {
        tokio::try_join!(
            self.leave_projects(&customer.company, customer.id),
            self.withdraw_shares(&customer.company, customer.id, now),
        )?;
        Ok(())
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
                    transaction.create(customer, Error::internal("a new identifier is taken"));
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
        let key = keys::customer(company, id);
        self.get([key.clone()]).await?.take(&key)
    }

    /// A page of a company's customers, and how many there are.
    pub async fn list_customers(
        &self,
        company: &CompanyId,
        request: &PageRequest,
    ) -> Result<(Page<Versioned<Customer>>, u64)> {
        let listing = Listing::All(keys::customers(company));
        tokio::try_join!(self.page(&listing, request), self.count_owned(company, Owned::Customers))
    }

    /// Every customer of a company, oldest first.
    pub async fn all_customers(&self, company: &CompanyId) -> Result<Vec<Versioned<Customer>>> {
        Ok(self.page(&Listing::All(keys::customers(company)), &PageRequest::everything()).await?.rows)
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
    fn customer_gone(&mut self, customer: &Versioned<Customer>, now: DateTime<Utc>) {
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

    /// Makes the names that lead to a customer those of `after` where they were those of `before`.
    pub(super) fn customer_logins(&mut self, before: Option<&Customer>, after: Option<&Customer>) {
        let taken_email = || Error::field("email", "A customer with this email already exists.");
        self.move_login(before.map(username_of), after.map(username_of), after, taken_username);
        self.move_login(before.map(email_of), after.map(email_of), after, taken_email);
        let Some(after) = after else { return };
        let names = |one: &Customer| (fold_case(one.username.as_str()), fold_case(one.email.as_str()));
        let (new_name, new_email) = names(after);
        let (old_name, old_email) = before.map(names).unzip();
        if new_name == new_email {
            return;
        }
        // A name is nobody else's address, nor an address somebody else's name.
        let (c, own) = (&after.company, [old_name.as_ref(), old_email.as_ref()]);
        if !own.contains(&Some(&new_name)) {
            self.require_absent(keys::login_email(c, after.username.as_str()), taken_username());
        }
        if !own.contains(&Some(&new_email)) {
            self.require_absent(keys::login_username(c, after.email.as_str()), taken_email());
        }
    }

    fn move_login(
        &mut self,
        old: Option<Key>,
        new: Option<Key>,
        after: Option<&Customer>,
        taken: impl FnOnce() -> Error,
    ) {
        if old == new {
            return;
        }
        if let Some(old) = old {
            self.delete_derived(old);
        }
        match (new, after) {
            (Some(new), Some(after)) => {
                self.create_login(new, &Account::Customer { customer: after.id }, taken())
            }
            _ => (),
        }
    }
}

fn username_of(customer: &Customer) -> Key {
    keys::login_username(&customer.company, customer.username.as_str())
}

fn email_of(customer: &Customer) -> Key {
    keys::login_email(&customer.company, customer.email.as_str())
}

fn taken_username() -> Error {
    Error::field("username", super::login::TAKEN_USERNAME)
}

fn files_of(customer: &Customer) -> FilesOf<'_> {
    let files = customer.photo.into_iter().collect();
    FilesOf { company: &customer.company, owner: customer.owner(), files }
}
