//! Mails about another address of a customer. Keys are generated here; only their hashes are stored.

use chrono::{DateTime, TimeDelta, Utc};
use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::account::CredentialClaim;
use shared::domain::company::Company;
use shared::domain::history::ChangeAuthor;
use shared::domain::id::{CompanyId, CustomerId};
use shared::domain::mail::address_change::{CONFIRMATION_DAYS, RESTORATION_HOURS};
use shared::domain::secret::OneTimeKey;
use shared::domain::staff::customer::Customer;
use shared::domain::text::Email;
use shared::mail::{MailOccasion, Mailer, confirmation_link, moment_in_words, restoration_link};
use shared::store::RetryPolicy;

use crate::mails::account::{send_to_address, send_to_customer};
use crate::outcome::EffectResult;

/// Sends a customer the key to confirm a new address. It revokes the key of an earlier mail.
pub(crate) async fn ask_to_confirm(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    customer: CustomerId,
    caused_at: DateTime<Utc>,
) -> Result<(EffectResult, String)> {
    let Some(company) = system.store.company(company).await? else {
        return Ok((EffectResult::Outdated, "the company is gone".to_owned()));
    };
    let given = give_key(system, &company, customer, TimeDelta::days(CONFIRMATION_DAYS), |after, key| {
        let pending = after.pending_email.as_ref().filter(|_| after.is_active);
        // A newer mail would follow, whose key this one would revoke.
        let to = pending.filter(|pending| pending.asked_at <= caused_at)?.email.clone();
        after.address_keys.confirmation = Some(key);
        Some(to)
    });
    let Some((customer, to, key)) = given.await? else {
        return Ok((EffectResult::Outdated, "the customer has moved on, or was asked again".to_owned()));
    };
    let link = confirmation_link(&system.config().suite_url, &key);
    let username = customer.username.as_str();
    let occasion = MailOccasion::AddressConfirmation { username, link: &link, days: CONFIRMATION_DAYS };
    send_to_address(mailer, &customer, &to, &company, occasion).await
}

/// Gives a customer a key where `place` says, which returns the address to mail it to; `None` if the customer is gone, or `place`
/// returns `None`.
// Tried again after a conflict: the mails to both addresses give the customer keys at the same time.
async fn give_key(
    system: &SystemAccess,
    company: &Company,
    customer: CustomerId,
    lifetime: TimeDelta,
    place: impl Fn(&mut Customer, OneTimeKey) -> Option<Email>,
) -> Result<Option<(Customer, Email, String)>> {
    let give = async || {
        let Some(before) = system.store.customer(&company.id, customer).await? else { return Ok(None) };
        let claim = CredentialClaim::own(before.company.clone(), before.account());
        let (key, stored) = system.new_one_time_key(&claim, lifetime);
        let mut after = Customer::clone(&before);
        let Some(to) = place(&mut after, stored) else { return Ok(None) };
        system.commit(system.store.update_customer(&before, &after, system.now)).await?;
        Ok(Some((after, to, key)))
    };
    system.store.retry_on_conflict(RetryPolicy::CHANGE, give).await
}

/// Tells a customer, at their former address, of the change made at `changed_at`, with a key to put the address back.
pub(crate) async fn tell_of_change(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    customer: CustomerId,
    changed_at: DateTime<Utc>,
    by: ChangeAuthor,
) -> Result<(EffectResult, String)> {
    let Some(company) = system.store.company(company).await? else {
        return Ok((EffectResult::Outdated, "the company is gone".to_owned()));
    };
    // The time counts from the change, however late the mail is.
    let lifetime = changed_at + TimeDelta::hours(RESTORATION_HOURS) - system.now;
    let given = give_key(system, &company, customer, lifetime, |after, key| {
        let former = after.address_keys.former.iter_mut().rev();
        let former =
            former.filter(|_| lifetime > TimeDelta::zero()).find(|former| former.changed_at == changed_at)?;
        former.key = Some(key);
        Some(former.email.clone())
    });
    let Some((customer, to, key)) = given.await? else {
        return Ok((EffectResult::Outdated, "the change was undone, or is too old".to_owned()));
    };
    let by = name_of(system, &company, by).await?;
    let at = moment_in_words(changed_at, company.timezone.as_str(), customer.preferred_language);
    let link = restoration_link(&system.config().suite_url, &key);
    let occasion = MailOccasion::AddressChanged {
        username: customer.username.as_str(),
        by: &by,
        at: &at,
        is_pending: to == customer.email,
        link: &link,
        hours: RESTORATION_HOURS,
    };
    send_to_address(mailer, &customer, &to, &company, occasion).await
}

/// The name of the author of a change; that of the company if they are gone.
async fn name_of(system: &SystemAccess, company: &Company, by: ChangeAuthor) -> Result<String> {
    let name = match by {
        ChangeAuthor::Customer { customer } => {
            let customer = system.store.customer(&company.id, customer).await?;
            customer.map(|by| format!("{} {}", by.first_name, by.last_name))
        }
        ChangeAuthor::NamedToken { token } => {
            let tokens = system.store.tokens(&company.id).await?;
            tokens.into_iter().find(|one| one.id == token).map(|one| one.name.to_string())
        }
        ChangeAuthor::Candidate { .. } | ChangeAuthor::System | ChangeAuthor::Operator => None,
    };
    Ok(name.unwrap_or_else(|| company.name.to_string()))
}

/// Tells an owner that a customer has put their former address back.
pub(crate) async fn tell_owner(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    owner: CustomerId,
    customer: CustomerId,
) -> Result<(EffectResult, String)> {
    let store = &system.store;
    let (owner, customer, company) = tokio::try_join!(
        store.customer(company, owner),
        store.customer(company, customer),
        store.company(company)
    )?;
    let (Some(owner), Some(customer), Some(company)) = (owner, customer, company) else {
        return Ok((EffectResult::Outdated, "the owner or the customer is gone".to_owned()));
    };
    if !owner.is_owner_at_work() || !owner.takes_mail() {
        return Ok((EffectResult::Outdated, "the customer is no owner, or takes no mails".to_owned()));
    }
    let of = format!("{} {}", customer.first_name, customer.last_name);
    let occasion = MailOccasion::AddressRestored { of: &of, username: customer.username.as_str() };
    send_to_customer(mailer, &owner, &company, occasion).await
}
