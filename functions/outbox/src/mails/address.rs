//! Mails about another address of a customer. Keys are generated here; only their hashes are stored.

use chrono::{DateTime, TimeDelta, Utc};
use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::account::CredentialClaim;
use shared::domain::company::Company;
use shared::domain::history::ChangeAuthor;
use shared::domain::id::{CompanyId, CustomerId};
use shared::domain::mail::address_change::{CONFIRMATION_DAYS, RESTORATION_HOURS};
use shared::domain::staff::customer::Customer;
use shared::mail::{MailOccasion, Mailer, confirmation_link, moment_in_words, restoration_link};

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
    let (customer, company) =
        tokio::try_join!(system.store.customer(company, customer), system.store.company(company))?;
    let (Some(before), Some(company)) = (customer, company) else {
        return Ok((EffectResult::Outdated, "the customer is gone".to_owned()));
    };
    let Some(pending) = before.pending_email.as_ref().filter(|_| before.is_active) else {
        return Ok((EffectResult::Outdated, "the customer has moved on".to_owned()));
    };
    // A newer mail follows, whose key this one would revoke.
    if pending.asked_at > caused_at {
        return Ok((EffectResult::Outdated, "the customer was asked again".to_owned()));
    }
    let claim = CredentialClaim::own(before.company.clone(), before.account());
    let (key, stored) = system.new_one_time_key(&claim, TimeDelta::days(CONFIRMATION_DAYS));
    let mut after = Customer::clone(&before);
    after.address_keys.confirmation = Some(stored);
    system.commit(system.store.update_customer(&before, &after, system.now)).await?;
    let link = confirmation_link(&system.config().suite_url, &key);
    let username = before.username.as_str();
    let occasion = MailOccasion::AddressConfirmation { username, link: &link, days: CONFIRMATION_DAYS };
    send_to_address(mailer, &before, &pending.email, &company, occasion).await
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
    let (customer, company) =
        tokio::try_join!(system.store.customer(company, customer), system.store.company(company))?;
    let (Some(before), Some(company)) = (customer, company) else {
        return Ok((EffectResult::Outdated, "the customer is gone".to_owned()));
    };
    let mut after = Customer::clone(&before);
    let told = after.address_keys.former.iter_mut().rev().find(|former| former.changed_at == changed_at);
    let Some(former) = told.filter(|former| system.now < former.ends_at()) else {
        return Ok((EffectResult::Outdated, "the change was undone, or is too old".to_owned()));
    };
    let claim = CredentialClaim::own(before.company.clone(), before.account());
    // The time counts from the change, however late the mail is.
    let (key, stored) = system.new_one_time_key(&claim, former.ends_at() - system.now);
    former.key = Some(stored);
    let to = former.email.clone();
    let is_pending = to == before.email;
    system.commit(system.store.update_customer(&before, &after, system.now)).await?;
    let by = name_of(system, &company, by).await?;
    let at = moment_in_words(changed_at, company.timezone.as_str(), before.preferred_language);
    let link = restoration_link(&system.config().suite_url, &key);
    let occasion = MailOccasion::AddressChanged {
        username: before.username.as_str(),
        by: &by,
        at: &at,
        is_pending,
        link: &link,
        hours: RESTORATION_HOURS,
    };
    send_to_address(mailer, &before, &to, &company, occasion).await
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
