//! Access patterns of logins: the unique markers of usernames and email addresses, and the accounts that have them.

pub(super) mod failures;
pub(super) mod reset;
pub(super) mod session;

use chrono::{DateTime, Utc};

use super::table::handle::Store;
use super::table::item::{self, Item, StoredEntity as _, VersionedItem, string};
use super::table::keys::{self, ItemKey, TABLE};
use super::table::read::query::Query;
use super::table::write::transaction::Transaction;
use crate::domain::account::Account;
use crate::domain::candidate::Candidate;
use crate::domain::effect::Effect;
use crate::domain::id::CompanyId;
use crate::domain::mail::address_change::AccountEmail;
use crate::domain::secret::{PasswordHash, SecretHash};
use crate::domain::staff::customer::Customer;
use crate::domain::staff::sign_in::SignInSettings;
use crate::domain::text::{fold_case, is_login};
use crate::error::{Error, Result};

use failures::{CountedLogin, FailedLogins};

impl Transaction {
    /// Moves the unique marker of a name that an account logs in with.
    pub(super) fn move_login(
        &mut self,
        old: Option<ItemKey>,
        new: Option<ItemKey>,
        account: Account,
        taken: Error,
    ) {
        if let Some(marker) = self.or_fault(item::bare_of(&account)) {
            self.move_marker(old, new, marker, taken);
        }
    }
}

impl Transaction {
    /// Records the effects of the mails about a change of an account's address from `before` to `after`, its `version`th write.
    pub(super) fn address_mails(
        &mut self,
        before: AccountEmail<'_>,
        after: AccountEmail<'_>,
        version: u64,
        now: DateTime<Utc>,
    ) {
        let Some(by) = self.author() else { return };
        for effect in Effect::of_address_change(before, after, by, version, now) {
            self.effect(Some(effect));
        }
    }

    /// Records the effects of the mails about a restored address of an account, to owners among `staff` and to the address.
    pub(crate) fn restoration_mails(
        mut self,
        before: AccountEmail<'_>,
        after: AccountEmail<'_>,
        staff: &[VersionedItem<Customer>],
        version: u64,
        now: DateTime<Utc>,
    ) -> Self {
        let staff = staff.iter().map(|customer| &**customer);
        for effect in Effect::of_address_restoration(before, after, staff, version, now) {
            self.effect(Some(effect));
        }
        self
    }
}

/// The error for a username that another account has.
pub fn taken_username() -> Error {
    Error::field("username", "This username is already in use.")
}

/// The partition of a name that accounts log in with: it holds the name's markers, and the hash of its key identifies the name's failures.
pub(crate) struct LoginPartition {
    key: String,
    /// The name in folded case.
    name: String,
    /// The company; `None` if no account can have the name.
    company: Option<CompanyId>,
}

impl LoginPartition {
    /// The partition of a name in a company. Neither needs to exist.
    pub(crate) fn of(company: &str, name: &str) -> Self {
        let known: Option<CompanyId> = company.parse().ok().filter(|_| is_login(name));
        let key = match &known {
            Some(company) => keys::login_partition(company, name),
            // Use a partition without items, so that a name that cannot exist costs the same query.
            None => keys::no_login_partition(company, name),
        };
        Self { key, name: fold_case(name), company: known }
    }

    /// A hash of company and name. Both may be any text that a client sends.
    fn hash(&self) -> SecretHash {
        SecretHash::of(&self.key)
    }
}

/// The most markers that a login reads: a username, a customer's email address, and the newest candidates with this
/// address.
const MAX_LOGINS: usize = 16;
/// The most attempts at counting a login while others with the same name are counted.
// Each conflict means that another login was counted, so after this many conflicts this one is throttled.
const TRIES: usize = FailedLogins::OF_ALL + 1;

/// The accounts that a name leads to.
#[derive(Debug, Default)]
pub struct FoundAccounts {
    /// The staff with this name, at most two: the one with this username first, then the one with this address.
    pub customers: Vec<VersionedItem<Customer>>,
    /// The candidates with this name, newest first.
    pub candidates: Vec<VersionedItem<Candidate>>,
}

/// A login that is counted as a failure so far, and the items that decide on it.
pub(crate) struct BegunLogin {
    pub(crate) found: FoundAccounts,
    pub(crate) counted: CountedLogin,
    /// How the staff of the company sign in; `None` if no account can have the name.
    pub(crate) sign_in_settings: Option<VersionedItem<SignInSettings>>,
}

impl FoundAccounts {
    /// Keeps the accounts that log in with the name. The name may lead to further accounts: by a new address that is
    /// not yet confirmed, and by a customer's former address that can be restored.
    fn who_log_in(mut self, partition: &LoginPartition) -> Self {
        self.candidates.retain(|candidate| candidate.logs_in_by(&partition.name));
        self.customers.retain(|customer| customer.logs_in_by(&partition.name));
        self
    }
}

impl Store {
    /// Counts a login from `source` as a failure until [`Self::end_login`]. Reads the accounts of the name, and how the
    /// staff of its company sign in.
    ///
    /// Makes the same calls whether or not the name or its company exists, so that the response time does not reveal
    /// it. Fails with [`Error::Throttled`] after too many failures.
    pub(crate) async fn begin_login(
        &self,
        partition: &LoginPartition,
        source: &str,
        now: DateTime<Utc>,
    ) -> Result<BegunLogin> {
        let key = keys::login_failures(&partition.hash());
        let settings = partition.company.as_ref().map(keys::sign_in_settings);
        for _ in 0..TRIES {
            let read = self.get([Some(key.clone()), settings.clone()].into_iter().flatten());
            let (accounts, mut batch) = tokio::try_join!(self.login_entries(partition), read)?;
            let before = batch.take::<FailedLogins>(&key)?;
            let company = partition.company.as_ref();
            let sign_in_settings = company.map(|company| batch.take_sign_in_settings(company)).transpose()?;
            // Count before the password is checked, so that a hundred concurrent attempts count like a hundred in sequence.
            let before =
                before.unwrap_or_else(|| VersionedItem::not_stored(FailedLogins::none(partition.hash())));
            let count = async {
                let after = FailedLogins::clone(&before).with_one_more(source, now)?;
                self.save(&before, after).await
            };
            // This takes one more round trip than password hashes in login items would, but those copies could become stale.
            match tokio::try_join!(count, self.accounts(partition, accounts)) {
                Ok((counted, found)) => {
                    let (found, counted) = (found.who_log_in(partition), CountedLogin(counted));
                    return Ok(BegunLogin { found, counted, sign_in_settings });
                }
                Err(Error::Changed) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Busy("too many logins of one name at once".into()))
    }

    /// Removes the failure that a successful login was counted as. If the name belongs to this account `alone`, removes
    /// all earlier failures too; otherwise the holder of one account could guess the passwords of the others without
    /// limit.
    pub(crate) async fn end_login(&self, CountedLogin(counted): &CountedLogin, alone: bool) -> Result<()> {
        // For example, a project manager may create a candidate with an owner's address, and log in as that candidate
        // after every nine guesses of the owner's password.
        if alone {
            // Remove all failures: they can only have been guesses at this account.
            return self.delete_alone(&counted.key()).await;
        }
        match self.replace(counted, FailedLogins::clone(counted).without_last()).await {
            // Another login with the name was counted in the meantime, so this failure stays.
            Err(Error::Changed) => Ok(()),
            replaced => replaced.map(drop),
        }
    }

    /// Deletes the failed logins with these names.
    pub(crate) async fn unlock(&self, names: &[LoginPartition]) -> Result<()> {
        for name in names {
            self.delete_alone(&keys::login_failures(&name.hash())).await?;
        }
        Ok(())
    }

    /// The accounts that log in with a name: all customers, and the newest candidates.
    pub async fn accounts_named(&self, company: &CompanyId, name: &str) -> Result<FoundAccounts> {
        let partition = LoginPartition::of(company.as_str(), name);
        let accounts = self.login_entries(&partition).await?;
        Ok(self.accounts(&partition, accounts).await?.who_log_in(&partition))
    }

    /// The password of the newest other candidate with the same email address who may log in.
    pub(crate) async fn password_to_share_salt_with(
        &self,
        candidate: &Candidate,
    ) -> Result<Option<PasswordHash>> {
        // Passwords with the same salt are verified together, in one of the two hashes that a login computes.
        let Some(email) = &candidate.profile.email else { return Ok(None) };
        let named = self.accounts_named(&candidate.company, email.as_str()).await?;
        let others = named.candidates.into_iter();
        let others = others.filter(|other| other.id != candidate.id && other.may_log_in());
        Ok(others.filter_map(|other| other.password_hash.clone()).next())
    }

    /// All accounts that a name leads to, including those that do not log in with it.
    pub async fn all_accounts_named(&self, company: &CompanyId, name: &str) -> Result<FoundAccounts> {
        let partition = LoginPartition::of(company.as_str(), name);
        if partition.company.is_none() {
            return Ok(FoundAccounts::default());
        }
        let unique = [keys::login_username(company, name), keys::login_email(company, name)];
        let candidates = keys::login_candidates(company, name);
        let (mut batch, candidates) =
            tokio::try_join!(self.get(unique.clone()), self.all_items(&candidates))?;
        let accounts = accounts_in(unique.iter().filter_map(|key| batch.take_item(key)).chain(candidates))?;
        self.accounts(&partition, accounts).await
    }

    /// The customers who log in with a name: the one with this username first.
    pub(crate) async fn customers_of(
        &self,
        partition: &LoginPartition,
    ) -> Result<Vec<VersionedItem<Customer>>> {
        let accounts = self.login_entries(partition).await?;
        Ok(self.accounts(partition, accounts).await?.who_log_in(partition).customers)
    }

    async fn accounts(&self, partition: &LoginPartition, accounts: Vec<Account>) -> Result<FoundAccounts> {
        let key = |account: &Account| Some(keys::account(partition.company.as_ref()?, *account));
        // Make this call even for a name without accounts.
        let company = partition.company.as_ref().map_or_else(keys::absent_key, keys::company);
        let keys = accounts.iter().filter_map(key).chain([company.clone()]);
        let mut batch = self.get(keys).await?;
        let mut found = FoundAccounts::default();
        // Logins to a company that is being erased fail.
        if !batch.contains(&company) {
            return Ok(found);
        }
        for account in accounts {
            let Some(key) = key(&account) else { continue };
            match account {
                Account::Customer { .. } => found.customers.extend(batch.take_listed(&key)?),
                Account::Candidate { .. } => found.candidates.extend(batch.take_listed(&key)?),
            }
        }
        Ok(found)
    }

    async fn login_entries(&self, partition: &LoginPartition) -> Result<Vec<Account>> {
        // Backwards: first the username, then the customer's email address, then the candidates, newest first.
        let mut query = Query::new(TABLE, string(&partition.key));
        query.backwards = true;
        query.limit = Some(MAX_LOGINS);
        accounts_in(self.query(&query).await?.rows)
    }
}

/// The accounts that these markers name, without duplicates.
fn accounts_in(items: impl IntoIterator<Item = Item>) -> Result<Vec<Account>> {
    let mut accounts = Vec::new();
    for item in items {
        let account = item::or_skipped(item::value_in(&item))?;
        accounts.extend(account.filter(|account| !accounts.contains(account)));
    }
    Ok(accounts)
}
