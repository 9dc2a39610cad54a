//! Mails about a changed email address. Keys are generated here; only their hashes are stored.

use chrono::{DateTime, TimeDelta, Utc};
use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::account::{Account, CredentialClaim};
use shared::domain::company::Company;
use shared::domain::history::ChangeAuthor;
use shared::domain::id::{CompanyId, CustomerId};
use shared::domain::mail::address_change::{CONFIRMATION_DAYS, EmailKeys, RESTORATION_HOURS};
use shared::domain::secret::OneTimeKey;
use shared::domain::text::Email;
use shared::mail::{
    MailEnvelope, MailOccasion, Mailer, PersonalMail, confirmation_link, moment_in_words, restoration_link,
};
use shared::store::RetryPolicy;

use crate::mails::account::send_to_customer;
use crate::mails::holder::{AccountHolder, find_author_name};
use crate::outcome::{EffectResult, send_mail};

/// Mails an account holder the key that confirms a new address. The key of an earlier mail is revoked.
pub(crate) async fn request_confirmation(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    account: Account,
    caused_at: DateTime<Utc>,
) -> Result<(EffectResult, String)> {
    let Some(company) = system.store.company(company).await? else {
        return Ok((EffectResult::Outdated, "the company is gone".to_owned()));
    };
    let given =
        give_key(system, &company, account, TimeDelta::days(CONFIRMATION_DAYS), |holder, keys, key| {
            let pending = holder.account_email().pending.filter(|_| holder.may_confirm());
            // Skip this mail if a newer one follows, whose key it would revoke.
            let to = pending.filter(|pending| pending.asked_at <= caused_at)?.email.clone();
            keys.confirmation = Some(key);
            Some(to)
        });
    let Some(KeyMail { holder, to, key }) = given.await? else {
        return Ok((EffectResult::Outdated, "the account has changed, or another mail follows".to_owned()));
    };
    let link = confirmation_link(&system.config().suite_url, &key);
    let username = &holder.username();
    let occasion = MailOccasion::AddressConfirmation { username, link: &link, days: CONFIRMATION_DAYS };
    send_to_address(mailer, &holder, &to, &company, occasion).await
}

/// A mail with a key for the holder of an account.
struct KeyMail {
    holder: AccountHolder,
    to: Email,
    key: String,
}

/// Creates a key for an account. `place` stores the key and returns the recipient's address. Returns `None` if the
/// account is gone or `place` returns `None`.
// Retried on conflict: mails to the old and the new address create keys at the same time.
async fn give_key(
    system: &SystemAccess,
    company: &Company,
    account: Account,
    lifetime: TimeDelta,
    place: impl Fn(&AccountHolder, &mut EmailKeys, OneTimeKey) -> Option<Email>,
) -> Result<Option<KeyMail>> {
    let give = async || {
        let Some(holder) = AccountHolder::read(&system.store, &company.id, account).await? else {
            return Ok(None);
        };
        let claim = CredentialClaim::own(company.id.clone(), account);
        let (key, stored) = system.new_one_time_key(&claim, lifetime);
        let mut keys = holder.account_email().keys.clone();
        let Some(to) = place(&holder, &mut keys, stored) else { return Ok(None) };
        system.commit(holder.replace_email_keys(&system.store, keys, system.now)).await?;
        Ok(Some(KeyMail { holder, to, key }))
    };
    system.store.retry_on_conflict(RetryPolicy::CHANGE, give).await
}

/// Mails the former address about the change made at `changed_at`, with a key that restores the address.
// Even candidates who have requested erasure, or whom the client mails itself, get this mail: otherwise an account
// could be taken over unnoticed.
pub(crate) async fn tell_of_change(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    account: Account,
    changed_at: DateTime<Utc>,
    by: ChangeAuthor,
) -> Result<(EffectResult, String)> {
    let Some(company) = system.store.company(company).await? else {
        return Ok((EffectResult::Outdated, "the company is gone".to_owned()));
    };
    // The key's lifetime starts with the change, even if the mail is late.
    let lifetime = changed_at + TimeDelta::hours(RESTORATION_HOURS) - system.now;
    let given = give_key(system, &company, account, lifetime, |_, keys, key| {
        let former = keys.former.iter_mut().rev();
        let former =
            former.filter(|_| lifetime > TimeDelta::zero()).find(|former| former.changed_at == changed_at)?;
        former.key = Some(key);
        Some(former.email.clone())
    });
    let Some(KeyMail { holder, to, key }) = given.await? else {
        return Ok((EffectResult::Outdated, "the change was undone, or is too old".to_owned()));
    };
    let by = find_author_name(&system.store, &company, by).await?;
    let at = moment_in_words(changed_at, company.timezone.as_str(), holder.language(&company));
    let link = restoration_link(&system.config().suite_url, &key);
    let occasion = MailOccasion::AddressChanged {
        username: &holder.username(),
        by: &by,
        at: &at,
        is_pending: Some(&to) == holder.account_email().email,
        link: &link,
        hours: RESTORATION_HOURS,
    };
    send_to_address(mailer, &holder, &to, &company, occasion).await
}

/// Sends a mail to an address of an account, which need not be its confirmed address.
async fn send_to_address(
    mailer: &Mailer<'_>,
    holder: &AccountHolder,
    to: &Email,
    company: &Company,
    occasion: MailOccasion<'_>,
) -> Result<(EffectResult, String)> {
    if holder.is_suppressed(to) {
        return Ok((EffectResult::Outdated, "the address takes no mails".to_owned()));
    }
    let (first_name, last_name) = holder.names();
    let language = holder.language(company);
    let mail = PersonalMail { first_name, last_name, company: &company.name, language, occasion };
    let contact = holder.contact(company, true);
    let reply_to = contact.as_ref().and_then(|contact| contact.email.as_ref());
    let envelope =
        MailEnvelope { to, account: Some(holder.account()), company, alias: holder.alias(), reply_to };
    send_mail(mailer, &envelope, &mail).await
}

/// Tells an owner that an account holder has restored their former address.
pub(crate) async fn tell_owner(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    owner: CustomerId,
    account: Account,
) -> Result<(EffectResult, String)> {
    let store = &system.store;
    let (owner, holder, company) = tokio::try_join!(
        store.customer(company, owner),
        AccountHolder::read(store, company, account),
        store.company(company)
    )?;
    let (Some(owner), Some(holder), Some(company)) = (owner, holder, company) else {
        return Ok((EffectResult::Outdated, "the owner or the account is gone".to_owned()));
    };
    if !owner.is_owner_at_work() || !owner.takes_mail() {
        return Ok((EffectResult::Outdated, "the customer is no owner, or takes no mails".to_owned()));
    }
    let (first_name, last_name) = holder.names();
    let by = format!("{first_name} {last_name}");
    let occasion = MailOccasion::AddressRestored { by: &by, username: &holder.username() };
    send_to_customer(mailer, &owner, &company, occasion).await
}
