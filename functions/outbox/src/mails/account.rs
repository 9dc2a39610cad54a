//! Mails about accounts. Keys are generated here; only their hashes are stored.

use chrono::{DateTime, TimeDelta, Utc};
use shared::Result;
use shared::auth::SystemAccess;
use shared::domain::account::CredentialClaim;
use shared::domain::company::Company;
use shared::domain::effect::FormerCustomer;
use shared::domain::effect::deletion::DeletionAuthor;
use shared::domain::history::ChangeAuthor;
use shared::domain::id::{CompanyId, CustomerId};
use shared::domain::staff::customer::{Customer, CustomerStatus};
use shared::http::reference::ReferenceUris;
use shared::mail::{MailEnvelope, MailOccasion, Mailer, PersonalMail, activation_link};
use shared::store::VersionedItem;

use crate::mails::holder::find_author_name;
use crate::outcome::{EffectResult, send_mail};

/// How many days the key in an invitation is valid.
pub(crate) const INVITATION_DAYS: i64 = 14;

/// Mails a customer a key for choosing their first password. The key of an earlier mail is revoked.
pub(crate) async fn invite(
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
    // A newer invitation was sent, whose key this mail would revoke.
    let is_repeated = before.invited_at.is_some_and(|invited_at| invited_at > caused_at);
    if before.status != CustomerStatus::Invited || !before.is_active || is_repeated {
        return Ok((EffectResult::Outdated, "the customer has moved on".to_owned()));
    }
    if !before.takes_mail() {
        return Ok((EffectResult::Outdated, "the customer takes no mails".to_owned()));
    }
    send_invitation(system, mailer, &before, &company).await
}

async fn send_invitation(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    before: &VersionedItem<Customer>,
    company: &Company,
) -> Result<(EffectResult, String)> {
    let settings = system.store.sign_in_settings(&company.id).await?;
    if !settings.allows_password_of(before) {
        let link = ReferenceUris::new(system.config()).sign_in_url(&company.id).to_string();
        let occasion = MailOccasion::StaffSignIn { is_invited: true, link: &link };
        return send_to_customer(mailer, before, company, occasion).await;
    }
    // Create the key only now: the table never holds a usable key, and a new key revokes the previous one.
    let key = give_customer_key(system, before, TimeDelta::days(INVITATION_DAYS)).await?;
    let link = activation_link(&system.config().suite_url, &key);
    let occasion = MailOccasion::StaffInvitation {
        username: before.username.as_str(),
        identifier: company.id.as_str(),
        link: &link,
        days: INVITATION_DAYS,
    };
    send_to_customer(mailer, before, company, occasion).await
}

/// Tells a former customer that their account was deleted.
pub(crate) async fn send_farewell_mail(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    was: &FormerCustomer,
    by: &DeletionAuthor,
) -> Result<(EffectResult, String)> {
    let Some(company) = system.store.company(company).await? else {
        return Ok((EffectResult::Outdated, "the company is gone".to_owned()));
    };
    let mail = PersonalMail {
        first_name: &was.first_name,
        last_name: &was.last_name,
        company: &company.name,
        language: was.language,
        occasion: MailOccasion::AccountDeleted { by: &by.name, contact: by.email.as_ref() },
    };
    let envelope =
        MailEnvelope { to: &was.email, account: None, company: &company, alias: None, reply_to: None };
    send_mail(mailer, &envelope, &mail).await
}

/// Creates a key that lets a customer choose a password. The previous key is revoked.
pub(crate) async fn give_customer_key(
    system: &SystemAccess,
    before: &VersionedItem<Customer>,
    lifetime: TimeDelta,
) -> Result<String> {
    let claim = CredentialClaim::own(before.company.clone(), before.account());
    let (key, stored) = system.new_one_time_key(&claim, lifetime);
    let after = Customer { one_time_key: Some(stored), ..Customer::clone(before) };
    system.commit(system.store.update_customer(before, &after, system.now)).await?;
    Ok(key)
}

pub(crate) async fn send_to_customer(
    mailer: &Mailer<'_>,
    customer: &Customer,
    company: &Company,
    occasion: MailOccasion<'_>,
) -> Result<(EffectResult, String)> {
    if !customer.takes_mail() {
        return Ok((EffectResult::Outdated, "the address takes no mails".to_owned()));
    }
    let mail = PersonalMail {
        first_name: &customer.first_name,
        last_name: &customer.last_name,
        company: &company.name,
        language: customer.preferred_language,
        occasion,
    };
    let account = Some(customer.account());
    let envelope = MailEnvelope { to: &customer.email, account, company, alias: None, reply_to: None };
    send_mail(mailer, &envelope, &mail).await
}

/// Tells an owner that the sign-in settings have changed, or with `is_own` a customer that their own link has changed.
pub(crate) async fn tell_of_sign_in(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    customer: CustomerId,
    by: ChangeAuthor,
    is_own: bool,
) -> Result<(EffectResult, String)> {
    let store = &system.store;
    let (customer, company) = tokio::try_join!(store.customer(company, customer), store.company(company))?;
    let (Some(customer), Some(company)) = (customer, company) else {
        return Ok((EffectResult::Outdated, "the customer is gone".to_owned()));
    };
    if !customer.takes_mail() || !is_own && !customer.is_owner_at_work() {
        return Ok((EffectResult::Outdated, "the customer is no owner, or takes no mails".to_owned()));
    }
    let by = match by {
        // The operator has no account in the company.
        ChangeAuthor::Operator => None,
        by => Some(find_author_name(&system.store, &company, by).await?),
    };
    let occasion = MailOccasion::SignInChanged { by: by.as_deref(), is_own };
    send_to_customer(mailer, &customer, &company, occasion).await
}
