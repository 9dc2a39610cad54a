//! Keys in mails, with which people choose a password, confirm an address, or restore a former address.

use super::{PublicAccess, is_password};
use crate::auth::authentication::{keys_of_identity, take_identity};
use crate::auth::caller::{AuthMethod, CallerIdentity};
use crate::auth::credential::SecretKind;
use crate::auth::password::Password;
use crate::domain::account::{Account, Principal};
use crate::domain::candidate::{Candidate, CandidateProfile};
use crate::domain::id::CompanyId;
use crate::domain::mail::address_change::FormerEmail;
use crate::domain::secret::OneTimeKey;
use crate::domain::staff::customer::{Customer, CustomerStatus};
use crate::domain::text::{Email, Username};
use crate::domain::transition::CandidateChange;
use crate::error::{Error, Result};
use crate::store::{LoginPartition, VersionedItem};

/// The account to which a key was mailed.
pub struct KeyHolder {
    pub identity: CallerIdentity,
    pub purpose: KeyPurpose,
}

/// The purpose of a key in a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPurpose {
    /// To choose a password.
    Password,
    /// To confirm a new address.
    Confirmation,
    /// To restore this former address.
    Restoration(FormerEmail),
}

impl PublicAccess {
    /// Sets the first password of the invited staff user to whom `key` was mailed, and revokes the key. Returns the user; `None`
    /// if the key is invalid or its holder is not invited. Fails with [`Error::SignInRequired`] if they must sign in by their
    /// company's provider.
    pub async fn activate(&self, key: &str, password: Password) -> Result<Option<Customer>> {
        match self.holder_of_password(key).await? {
            Some(CallerIdentity::Customer(before)) if before.status == CustomerStatus::Invited => {
                self.check_password_allowed(&before).await?;
                self.set_customer_password(&before, password).await.map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Sets the password of the account to which `key` was mailed, revokes the key and all sessions, and unlocks its login names.
    /// Returns false if the key is invalid. Fails with [`Error::SignInRequired`] for staff who must sign in by their company's
    /// provider.
    pub async fn reset_password(&self, key: &str, password: Password) -> Result<bool> {
        match self.holder_of_password(key).await? {
            Some(CallerIdentity::Customer(before)) => {
                self.check_password_allowed(&before).await?;
                self.set_customer_password(&before, password).await?;
            }
            Some(CallerIdentity::Candidate(before)) => {
                let CandidateProfile { username, email, .. } = &before.profile;
                let names = [username.as_ref().map(Username::as_str), email.as_ref().map(Email::as_str)];
                self.unlock(&before.company, names).await?;
                let shared = self.store.password_to_share_salt_with(&before).await?;
                let hash = password.hash(shared.as_ref(), &self.app).await?;
                let after = Candidate::clone(&before).with_password(hash);
                let store = self.store_as(Principal::Account(before.account()));
                store.commit(store.change_candidate(&before, &after.into(), self.now)).await?;
            }
            Some(CallerIdentity::NamedToken(_)) | None => return Ok(false),
        }
        Ok(true)
    }

    async fn holder_of_password(&self, key: &str) -> Result<Option<CallerIdentity>> {
        let holder = self.holder(key).await?;
        Ok(holder.filter(|holder| holder.purpose == KeyPurpose::Password).map(|holder| holder.identity))
    }

    /// Confirms the new address to which `key` was mailed. Returns `None` if the key is invalid, and false unless the sender
    /// proves that the account is theirs, by the account's password or by a session that they have begun themselves. A wrong
    /// password counts as a failed login: too many fail with [`Error::Throttled`]. Fails with [`Error::SignInRequired`] for a
    /// password of staff who must sign in by their company's provider.
    pub async fn confirm_email(&self, key: &str, password: Option<Password>) -> Result<Option<bool>> {
        let holder = self.holder(key).await?.filter(|holder| holder.purpose == KeyPurpose::Confirmation);
        let Some(KeyHolder { identity, .. }) = holder else { return Ok(None) };
        let Some((account, user)) = identity.user() else { return Ok(None) };
        let is_proved = match password {
            Some(password) => {
                if let CallerIdentity::Customer(customer) = &identity {
                    self.check_password_allowed(customer).await?;
                }
                let name = LoginPartition::of(identity.company().as_str(), identity.login_name());
                let hash = user.password_hash.cloned();
                is_password(&self.store, &self.state, &self.app, &name, hash, password, self.now).await?
            }
            None if self.has_credential() => {
                let caller = self.caller().await?;
                let is_session =
                    matches!(caller.auth_method, AuthMethod::Session(_)) && caller.is_in_person();
                is_session
                    && caller.company() == identity.company()
                    && caller.principal() == Principal::Account(account)
            }
            None => false,
        };
        if is_proved {
            let store = self.store_as(Principal::Account(account));
            let transaction = match &identity {
                CallerIdentity::Customer(before) => {
                    let after = Customer::clone(before).with_email_confirmed(self.now);
                    store.update_customer(before, &after, self.now)
                }
                CallerIdentity::Candidate(before) => {
                    let after = Candidate::clone(before).with_email_confirmed(self.now);
                    store.change_candidate(before, &after.into(), self.now)
                }
                CallerIdentity::NamedToken(_) => return Ok(None),
            };
            store.commit(transaction).await?;
        }
        Ok(Some(is_proved))
    }

    /// Restores the address to which `key` was mailed, and revokes everything to which a later address gave access. Returns
    /// false if the key is invalid.
    pub async fn restore_email(&self, key: &str) -> Result<bool> {
        let Some(KeyHolder { identity, purpose: KeyPurpose::Restoration(former) }) = self.holder(key).await?
        else {
            return Ok(false);
        };
        let Some((account, _)) = identity.user() else { return Ok(false) };
        let staff = self.store.all_customers(identity.company()).await?;
        let password = Password::hash_of_unknown(&self.app).await?;
        let store = self.store_as(Principal::Account(account));
        let transaction = match &identity {
            CallerIdentity::Customer(before) => {
                let after = Customer::clone(before).with_email_restored(&former, password);
                let [was, is] = [before, &after].map(Customer::account_email);
                let transaction = store.update_customer(before, &after, self.now);
                transaction.restoration_mails(was, is, &staff, before.version() + 1, self.now)
            }
            CallerIdentity::Candidate(before) => {
                let change =
                    CandidateChange::from(Candidate::clone(before).with_email_restored(&former, password));
                let [was, is] = [before, &change.candidate].map(Candidate::account_email);
                let transaction = store.change_candidate(before, &change, self.now);
                transaction.restoration_mails(was, is, &staff, before.version() + 1, self.now)
            }
            CallerIdentity::NamedToken(_) => return Ok(false),
        };
        store.commit(transaction).await?;
        Ok(true)
    }

    async fn set_customer_password(
        &self,
        before: &VersionedItem<Customer>,
        password: Password,
    ) -> Result<Customer> {
        let names = [before.username.as_str(), before.email.as_str()].map(Some);
        self.unlock(&before.company, names).await?;
        let hash = password.hash(None, &self.app).await?;
        let after = Customer::clone(before).with_password(hash, self.now);
        let store = self.store_as(Principal::Account(before.account()));
        store.commit(store.update_customer(before, &after, self.now)).await?;
        Ok(after)
    }

    /// Unlocks login names. Call it before the change that revokes the key: if it fails, the key still works for another try.
    async fn unlock(&self, company: &CompanyId, names: [Option<&str>; 2]) -> Result<()> {
        let names = names.into_iter().flatten();
        let partitions: Vec<_> = names.map(|name| LoginPartition::of(company.as_str(), name)).collect();
        self.store.unlock(&partitions).await
    }

    /// The account to which `key` was mailed, and the key's purpose; `None` if the key is invalid. Does not revoke the key.
    pub async fn holder(&self, key: &str) -> Result<Option<KeyHolder>> {
        let Some(claim) = SecretKind::OneTimeKey.claim_in(key) else { return Ok(None) };
        let mut batch = self.store.get(keys_of_identity(&claim)).await?;
        let Some(identity) = take_identity(&claim, &mut batch)? else { return Ok(None) };
        let purpose = self.purpose_of(key, &identity);
        Ok(purpose.map(|purpose| KeyHolder { identity, purpose }))
    }

    /// The error for a `key` that no longer works; `None` if it is malformed or its company does not exist.
    // Any well-formed key will do: each company's login page tells everyone as much.
    pub async fn end_of(&self, key: &str) -> Result<Option<Error>> {
        let Some(claim) = SecretKind::OneTimeKey.claim_in(key) else { return Ok(None) };
        let company = self.store.company_that_may_lag(&claim.company).await?;
        Ok(company.map(|company| Error::EndedMailedKey {
            company: self.references().company(&company.id).to_string(),
            is_of_staff: matches!(claim.account, Account::Customer { .. }),
        }))
    }

    fn purpose_of(&self, key: &str, identity: &CallerIdentity) -> Option<KeyPurpose> {
        let (keys, one_time_key, may_log_in) = match identity {
            CallerIdentity::Customer(own) => (&own.email_keys, &own.one_time_key, own.is_active),
            CallerIdentity::Candidate(own) => (&own.email_keys, &own.one_time_key, own.may_log_in()),
            CallerIdentity::NamedToken(_) => return None,
        };
        // Works even if the account may not log in, because an attacker who has changed the address may have caused that too.
        if let Some(former) = keys.restored_by(key, self.now) {
            return Some(KeyPurpose::Restoration(former.clone()));
        }
        if !may_log_in {
            return None;
        }
        if self.is_key_of(key, keys.confirmation.as_ref()) {
            return Some(KeyPurpose::Confirmation);
        }
        self.is_key_of(key, one_time_key.as_ref()).then_some(KeyPurpose::Password)
    }

    fn is_key_of(&self, key: &str, stored: Option<&OneTimeKey>) -> bool {
        stored.is_some_and(|stored| stored.is(key, self.now))
    }
}
