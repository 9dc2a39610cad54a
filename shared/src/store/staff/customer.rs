//! Access patterns of customers.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::effect::Effect;
use crate::domain::history::ResourceChange;
use crate::domain::history::erasure::{ErasedItem, ErasureCause};
use crate::domain::id::{CompanyId, CustomerId};
use crate::domain::staff::customer::Customer;
use crate::domain::text::fold_case;
use crate::error::{Error, Result};
use crate::store::company::counts::CompanyCount;
use crate::store::login::{LoginPartition, taken_username};
use crate::store::media::upload::OwnedFiles;
use crate::store::table::handle::Store;
use crate::store::table::item::{self, EXPIRES_AT, StoredEntity, VersionedItem, number};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::read::page::{ListSource, Page, PageRequest};
use crate::store::table::write::condition::WriteCondition;
use crate::store::table::write::transaction::Transaction;

impl StoredEntity for Customer {
    const INTERNAL_FIELDS: &'static [&'static str] =
        &["email_keys", "mail_rate", "one_time_key", "password_hash", "session_epoch"];

    fn history_change(before: Option<&Self>, after: Option<&Self>) -> Option<ResourceChange> {
        ResourceChange::of(before, after)
    }

    fn key(&self) -> ItemKey {
        keys::customer(&self.company, self.id)
    }
}

impl Store {
    /// Creates a customer, and records the effect of an invitation if they have no password. Fails with a message on
    /// `company` if it does not exist, and on `username` or `email` if it is taken.
    pub fn create_customer(&self, customer: &Customer, now: DateTime<Utc>) -> Transaction {
        let mut transaction = self.transaction();
        let no_company = Error::field("company", "There is no such company.");
        transaction.require(keys::company(&customer.company), WriteCondition::Present, no_company);
        transaction.create(customer);
        transaction.follow_customer(None, customer, now);
        transaction.change_company_counts(&customer.company, &counts(None, Some(customer)));
        transaction
    }

    /// Replaces `before` by `after`, and records the effect of an invitation if the change calls for one. Fails also
    /// with a message on `email` if a new address is taken, and with `LAST_OWNER` if no owner would be left.
    pub fn update_customer(
        &self,
        before: &VersionedItem<Customer>,
        after: &Customer,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.replacing(before, after);
        transaction.follow_customer(Some(before), after, now);
        transaction.change_company_counts(&after.company, &counts(Some(before), Some(after)));
        transaction
    }

    /// Replaces `before` by `after` like [`update_customer`](Self::update_customer), and records the effect of an
    /// invitation; for a pending new address, of the mail to confirm it.
    pub fn invite_customer(
        &self,
        before: &VersionedItem<Customer>,
        after: &Customer,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.update_customer(before, after, now);
        let version = before.version() + 1;
        transaction.effect(Some(match after.pending_email {
            Some(_) => Effect::of_confirmation(after.account_email(), version, now),
            None => Effect::of_invitation(after, version, now),
        }));
        transaction
    }

    /// Changes up to [`MAX_CUSTOMERS`](Self::MAX_CUSTOMERS) customers of one company in one transaction. Fails like
    /// [`create_customer`](Self::create_customer) and [`update_customer`](Self::update_customer).
    pub fn change_customers<'a>(
        &self,
        company: &CompanyId,
        changes: impl IntoIterator<Item = &'a CustomerChange>,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        let mut counted = Vec::new();
        for change in changes {
            let (before, after) = match change {
                CustomerChange::Create(customer) => (None, customer),
                CustomerChange::Replace(before, after) => (Some(&**before), after),
            };
            match before {
                None => transaction.create(after),
                Some(before) => transaction.replace(before, after),
            }
            transaction.follow_customer(before, after, now);
            // Sum up the counts: a transaction may write each item, such as that of the counts, only once.
            counted.extend(counts(before.map(|before| &**before), Some(after)));
        }
        transaction.change_company_counts(company, &counted);
        transaction
    }

    /// The most customers in one [`change_customers`](Self::change_customers).
    // Each customer takes up to seven writes, the counts one for all customers, and a transaction takes 100. Addresses do not change.
    pub const MAX_CUSTOMERS: usize = 14;

    /// Returns those of the case-folded `names` that are usernames of staff or candidates.
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

    pub async fn customer(
        &self,
        company: &CompanyId,
        id: CustomerId,
    ) -> Result<Option<VersionedItem<Customer>>> {
        self.one(keys::customer(company, id)).await
    }

    /// Reads customers in the order of `ids`. Those that do not exist or cannot be read are missing.
    pub async fn customers(
        &self,
        company: &CompanyId,
        ids: impl IntoIterator<Item = CustomerId>,
    ) -> Result<Vec<VersionedItem<Customer>>> {
        self.listed(ids.into_iter().map(|id| keys::customer(company, id)).collect()).await
    }

    /// A page of a company's customers, and their number.
    pub async fn list_customers(
        &self,
        company: &CompanyId,
        request: &PageRequest,
    ) -> Result<(Page<VersionedItem<Customer>>, u64)> {
        self.list_owned(
            company,
            &ListSource::All(keys::customers(company)),
            &[CompanyCount::Customers],
            request,
        )
        .await
    }

    /// All customers of a company, oldest first.
    pub async fn all_customers(&self, company: &CompanyId) -> Result<Vec<VersionedItem<Customer>>> {
        self.all(&keys::customers(company)).await
    }

    /// The customer with this username, in any case.
    pub async fn customer_by_username(
        &self,
        company: &CompanyId,
        username: &str,
    ) -> Result<Option<VersionedItem<Customer>>> {
        let found = self.customers_of(&LoginPartition::of(company.as_str(), username)).await?;
        let wanted = fold_case(username);
        Ok(found.into_iter().find(|customer| fold_case(customer.username.as_str()) == wanted))
    }
}

/// A change of one of several customers. A replacement keeps username and email.
#[derive(Debug)]
pub enum CustomerChange {
    /// A new customer.
    Create(Customer),
    /// A customer before and after the change.
    Replace(Box<VersionedItem<Customer>>, Customer),
}

impl Transaction {
    /// Writes the items that follow from the change of a customer from `before` to `after`, except counts: logins,
    /// files, and effects such as an invitation.
    fn follow_customer(
        &mut self,
        before: Option<&VersionedItem<Customer>>,
        after: &Customer,
        now: DateTime<Utc>,
    ) {
        let old = before.map(|before| &**before);
        self.customer_logins(old, Some(after), now);
        self.files(old.map(files_of), files_of(after), now);
        let version = before.map_or(0, VersionedItem::version) + 1;
        self.effect(after.is_invited_since(old).then(|| Effect::of_invitation(after, version, now)));
        if let Some(before) = old {
            self.address_mails(before.account_email(), after.account_email(), version, now);
        }
    }

    pub(in crate::store) fn customer_gone(
        &mut self,
        customer: &VersionedItem<Customer>,
        cause: ErasureCause,
        now: DateTime<Utc>,
    ) {
        self.delete(customer);
        self.customer_logins(Some(customer), None, now);
        self.change_company_counts(&customer.company, &counts(Some(customer), None));
        let erased = ErasedItem::Customer { customer: customer.id };
        self.erased(&customer.company, erased, cause, now);
    }

    /// Moves the unique markers of a customer's username and addresses. Both share one namespace.
    pub(in crate::store) fn customer_logins(
        &mut self,
        before: Option<&Customer>,
        after: Option<&Customer>,
        now: DateTime<Utc>,
    ) {
        let Some(Customer { company, .. }) = after.or(before) else { return };
        let Some(account) = after.or(before).map(Customer::account) else { return };
        self.move_login(before.map(username_of), after.map(username_of), account, taken_username());
        let [old, new] = [before, after]
            .map(|customer| customer.map(|customer| addresses_of(customer, now)).unwrap_or_default());
        for email in old.keys().filter(|email| !new.contains_key(*email)) {
            self.delete_derived(keys::login_email(company, email));
        }
        let free = WriteCondition::AbsentOrExpired(now);
        for (email, end) in new.iter().filter(|(email, end)| old.get(*email) != Some(end)) {
            let Some(mut marker) = self.or_fault(item::bare_of(&account)) else { return };
            marker.extend(end.map(|end| (EXPIRES_AT.to_owned(), number(end.timestamp()))));
            let condition = if old.contains_key(email) { WriteCondition::None } else { free };
            self.put(keys::login_email(company, email), marker, condition, taken_email());
        }
        let names =
            [before, after].map(|customer| customer.map(|customer| fold_case(customer.username.as_str())));
        // A username must not be another account's email address, nor vice versa: staff log in with either, and by
        // default the username is the address.
        if let [None, Some(name)] = &names
            && !new.contains_key(name)
        {
            self.require(keys::login_email(company, name), free, taken_username());
        }
        let is_new =
            |email: &&String| !old.contains_key(*email) && !names.iter().flatten().any(|name| name == *email);
        for email in new.keys().filter(is_new) {
            self.require(keys::login_username(company, email), WriteCondition::Absent, taken_email());
        }
    }
}

/// How long a former address stays reserved for its customer after it can no longer be restored.
// Two functions' clocks differ by less. While one of them can still restore the address, no other may give it to another customer.
const MARGIN: TimeDelta = TimeDelta::hours(1);

/// The addresses, in folded case, that are reserved for this customer at `now`. A former address that can be restored has an end.
fn addresses_of(customer: &Customer, now: DateTime<Utc>) -> BTreeMap<String, Option<DateTime<Utc>>> {
    let address = customer.account_email();
    let former = address.keys.former.iter().filter(|former| now < former.ends_at());
    // The former addresses are in the order of their changes. If an address occurs twice, `collect` keeps the last end.
    let former = former.map(|former| (&former.email, Some(former.ends_at() + MARGIN)));
    former
        .chain(address.held().map(|email| (email, None)))
        .map(|(email, end)| (fold_case(email.as_str()), end))
        .collect()
}

/// The changes of a company's counts when a customer changes from `before` to `after`.
pub(in crate::store) fn counts(
    before: Option<&Customer>,
    after: Option<&Customer>,
) -> [(CompanyCount, i64); 2] {
    let [(old, old_owner), (new, new_owner)] = [before, after].map(|customer| {
        (i64::from(customer.is_some()), i64::from(customer.is_some_and(Customer::is_owner_at_work)))
    });
    [(CompanyCount::Customers, new - old), (CompanyCount::Owners, new_owner - old_owner)]
}

fn taken_email() -> Error {
    Error::field("email", "A customer with this email already exists.")
}

fn username_of(customer: &Customer) -> ItemKey {
    keys::login_username(&customer.company, customer.username.as_str())
}

/// The keys of the unique markers of a customer's username and addresses.
pub(in crate::store) fn markers_of(customer: &Customer, now: DateTime<Utc>) -> Vec<ItemKey> {
    let email = |email: &String| keys::login_email(&customer.company, email);
    [username_of(customer)].into_iter().chain(addresses_of(customer, now).keys().map(email)).collect()
}

fn files_of(customer: &Customer) -> OwnedFiles<'_> {
    let files = customer.photo.into_iter().collect();
    OwnedFiles { company: &customer.company, owner: customer.account(), files }
}
