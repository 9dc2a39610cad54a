//! Mails about accounts. Keys are made here, so that none is ever stored but by its hash.

use chrono::{DateTime, TimeDelta, Utc};
use shared::auth::guard::System;
use shared::domain::account::{Account, Claim};
use shared::domain::candidate::Candidate;
use shared::domain::company::Company;
use shared::domain::customer::{Customer, CustomerStatus};
use shared::domain::deletion::Deleter;
use shared::domain::effect::FormerCustomer;
use shared::domain::id::{CompanyId, CustomerId};
use shared::domain::secret::RESET_HOURS;
use shared::mail::{
    AccountLetter, AccountMail, Envelope, Mailer, activation_link, render_account, reset_link,
};
use shared::store::Versioned;
use shared::{Error, Result};

use crate::fate::{Fate, fate_of};

/// How long an invitation can be taken up.
const INVITATION_DAYS: i64 = 14;

/// Sends a customer the key to choose its first password with. The key of an earlier mail ends.
pub(crate) async fn invite(
    system: &System,
    mailer: &Mailer<'_>,
    (company, customer): (&CompanyId, CustomerId),
    caused_at: DateTime<Utc>,
) -> Result<(Fate, String)> {
    let (customer, company) =
        tokio::try_join!(system.store.customer(company, customer), system.store.company(company))?;
    let (Some(before), Some(company)) = (customer, company) else {
        return Ok((Fate::Outdated, "the customer is gone".to_owned()));
    };
    let is_repeated = before.invited_at.is_some_and(|invited_at| invited_at > caused_at);
    if before.status != CustomerStatus::Invited || !before.is_active || is_repeated {
        return Ok((Fate::Outdated, "the customer has moved on".to_owned()));
    }
    if !before.takes_mail() {
        return Ok((Fate::Outdated, "the customer takes no mails".to_owned()));
    }
    send_invitation(system, mailer, &before, &company).await
}

async fn send_invitation(
    system: &System,
    mailer: &Mailer<'_>,
    before: &Versioned<Customer>,
    company: &Company,
) -> Result<(Fate, String)> {
    let key = give_customer_key(system, before, TimeDelta::days(INVITATION_DAYS)).await?;
    let link = activation_link(&system.config().suite_url, &key);
    let mail = AccountMail::Invitation { link: &link, days: INVITATION_DAYS };
    send_to_customer(mailer, before, company, mail).await
}

/// Tells somebody that it is no customer any more.
pub(crate) async fn say_goodbye(
    system: &System,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    was: &FormerCustomer,
    by: &Deleter,
) -> Result<(Fate, String)> {
    let Some(company) = system.store.company(company).await? else {
        return Ok((Fate::Outdated, "the company is gone".to_owned()));
    };
    let letter = AccountLetter {
        first_name: &was.first_name,
        last_name: &was.last_name,
        company: &company.name,
        language: was.language,
        mail: AccountMail::Deleted { by: &by.name, contact: by.email.as_ref() },
    };
    let rendered = render_account(&letter).map_err(Error::internal)?;
    let envelope = Envelope { to: &was.email, account: None, company: &company, alias: None };
    Ok(fate_of(mailer.send(&envelope, &rendered).await))
}

/// Sends everybody whom a name leads to a key to choose another password with.
pub(crate) async fn reset_passwords(
    system: &System,
    mailer: &Mailer<'_>,
    company: &CompanyId,
    name: &str,
) -> Result<(Fate, String)> {
    let Some(company) = system.store.company(company).await? else {
        return Ok((Fate::Outdated, "there is no such company".to_owned()));
    };
    let (customers, candidates) = system.store.whom_name_leads_to(&company.id, name).await?;
    let mut outcome = (Fate::Outdated, "the name leads to nobody".to_owned());
    for customer in customers.iter().filter(|customer| customer.is_active && customer.takes_mail()) {
        outcome = reset_customer(system, mailer, &company, customer).await?;
        if outcome.0 != Fate::Sent {
            return Ok(outcome);
        }
    }
    let can_log_in =
        |candidate: &&Versioned<Candidate>| candidate.may_log_in() && candidate.password_hash.is_some();
    for candidate in candidates.iter().filter(can_log_in) {
        outcome = reset_candidate(system, mailer, &company, candidate).await?;
        if outcome.0 != Fate::Sent {
            return Ok(outcome);
        }
    }
    Ok(outcome)
}

async fn reset_customer(
    system: &System,
    mailer: &Mailer<'_>,
    company: &Company,
    customer: &Versioned<Customer>,
) -> Result<(Fate, String)> {
    if customer.status == CustomerStatus::Invited {
        // Who has chosen no password yet has forgotten none.
        return send_invitation(system, mailer, customer, company).await;
    }
    let key = give_customer_key(system, customer, TimeDelta::hours(RESET_HOURS)).await?;
    let link = reset_link(&system.config().suite_url, &key);
    send_to_customer(
        mailer,
        customer,
        company,
        AccountMail::PasswordReset { link: &link, hours: RESET_HOURS },
    )
    .await
}

async fn reset_candidate(
    system: &System,
    mailer: &Mailer<'_>,
    company: &Company,
    before: &Versioned<Candidate>,
) -> Result<(Fate, String)> {
    let Some(to) = before.mail_address() else {
        return Ok((Fate::Sent, "the candidate takes no mails".to_owned()));
    };
    let account = Account::Candidate { project: before.project, candidate: before.id };
    let claim = Claim::own(before.company.clone(), account);
    let (key, stored) = system.new_one_time_key(&claim, TimeDelta::hours(RESET_HOURS));
    let after = Candidate { one_time_key: Some(stored), ..Candidate::clone(before) };
    system.store.change_candidate(before, &after.into(), system.now).await?;
    let project = system.store.project(&before.company, before.project).await?;
    let settings = project.as_ref().map(|project| &project.settings);
    let link = reset_link(&system.config().suite_url, &key);
    let letter = AccountLetter {
        first_name: &before.profile.first_name,
        last_name: &before.profile.last_name,
        company: &company.name,
        language: settings.and_then(|own| own.support_lang).unwrap_or(company.default_project_lang),
        mail: AccountMail::PasswordReset { link: &link, hours: RESET_HOURS },
    };
    let rendered = render_account(&letter).map_err(Error::internal)?;
    let alias = settings.and_then(|own| own.email_alias.as_ref());
    let envelope = Envelope { to, account: Some(account), company, alias };
    Ok(fate_of(mailer.send(&envelope, &rendered).await))
}

async fn give_customer_key(
    system: &System,
    before: &Versioned<Customer>,
    lifetime: TimeDelta,
) -> Result<String> {
    let claim = Claim::own(before.company.clone(), Account::Customer { customer: before.id });
    let (key, stored) = system.new_one_time_key(&claim, lifetime);
    let after = Customer { one_time_key: Some(stored), ..Customer::clone(before) };
    system.store.update_customer(before, &after, system.now).await?;
    Ok(key)
}

async fn send_to_customer(
    mailer: &Mailer<'_>,
    customer: &Customer,
    company: &Company,
    mail: AccountMail<'_>,
) -> Result<(Fate, String)> {
    let letter = AccountLetter {
        first_name: &customer.first_name,
        last_name: &customer.last_name,
        company: &company.name,
        language: customer.preferred_language,
        mail,
    };
    let rendered = render_account(&letter).map_err(Error::internal)?;
    let account = Some(Account::Customer { customer: customer.id });
    let envelope = Envelope { to: &customer.email, account, company, alias: None };
    Ok(fate_of(mailer.send(&envelope, &rendered).await))
}
