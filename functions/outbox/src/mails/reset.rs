//! Password reset mails: one per address, with a link for each of its accounts.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use shared::auth::SystemAccess;
use shared::domain::account::CredentialClaim;
use shared::domain::candidate::Candidate;
use shared::domain::company::Company;
use shared::domain::effect::Effect;
use shared::domain::secret::RESET_HOURS;
use shared::domain::staff::customer::CustomerStatus;
use shared::domain::text::fold_case;
use shared::http::reference::ReferenceUris;
use shared::mail::{
    AccountLink, MailEnvelope, MailOccasion, Mailer, PersonalMail, activation_link, reset_link,
};
use shared::store::FoundAccounts;
use shared::{Error, Result};

use crate::mails::account::{INVITATION_DAYS, give_customer_key};
use crate::mails::holder::AccountHolder;
use crate::outcome::{EffectResult, send_mail};

/// Mails a reset key to every account that matches `name`, in one mail per address. A retry skips addresses that
/// already got their mail.
pub(crate) async fn reset_passwords(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    effect: &Effect,
    name: &str,
) -> Result<(EffectResult, String)> {
    let Some(company) = system.store.company(&effect.company).await? else {
        return Ok((EffectResult::Outdated, "there is no such company".to_owned()));
    };
    let mut outcome = (EffectResult::Outdated, "no account to reset".to_owned());
    for holders in holders_by_address(system, &company, name).await?.into_values() {
        let own = match send(system, mailer, &company, &effect.id, holders).await {
            Err(Error::Changed | Error::NotFound) => {
                (EffectResult::Failed, "an account has changed meanwhile".to_owned())
            }
            own => own?,
        };
        outcome = match (outcome.0, own.0) {
            (_, EffectResult::Outdated) => outcome,
            (EffectResult::Sent | EffectResult::Outdated, _) => own,
            // If one address fails, the effect is retried.
            _ => outcome,
        };
    }
    Ok(outcome)
}

/// The accounts that match a name and accept mails, by address: staff first, then candidates from the newest.
async fn holders_by_address(
    system: &SystemAccess,
    company: &Company,
    name: &str,
) -> Result<BTreeMap<String, Vec<AccountHolder>>> {
    let FoundAccounts { customers, candidates } = system.store.accounts_named(&company.id, name).await?;
    let mut holders = BTreeMap::<String, Vec<AccountHolder>>::new();
    for customer in customers.into_iter().filter(|customer| customer.is_active && customer.takes_mail()) {
        let address = fold_case(customer.email.as_str());
        holders.entry(address).or_default().push(AccountHolder::Customer(customer));
    }
    for candidate in
        candidates.into_iter().filter(|candidate| candidate.may_log_in() && candidate.password_hash.is_some())
    {
        let Some(address) = candidate.mail_address().map(|address| fold_case(address.as_str())) else {
            continue;
        };
        let project = system.store.project(&company.id, candidate.project).await?;
        holders.entry(address).or_default().push(AccountHolder::Candidate(Box::new(candidate), project));
    }
    Ok(holders)
}

/// Sends one mail for all accounts of an address. `holders` is not empty.
async fn send(
    system: &SystemAccess,
    mailer: &Mailer<'_>,
    company: &Company,
    effect: &str,
    mut holders: Vec<AccountHolder>,
) -> Result<(EffectResult, String)> {
    let Some(to) = holders.first().and_then(AccountHolder::address).cloned() else {
        return Ok((EffectResult::Outdated, "no account to reset".to_owned()));
    };
    // One mail per address, even if several of its names were requested.
    let Some(begun) = system.store.begin_reset_mail(&company.id, &to, effect, system.now).await? else {
        return Ok((EffectResult::Outdated, "the address was mailed already".to_owned()));
    };
    // A key from the last five minutes stays valid: otherwise a stranger could revoke every key before it is used.
    holders.retain(|holder| begun.may_replace(holder.key(), system.now));
    let settings = system.store.sign_in_settings(&company.id).await?;
    let has_password = |holder: &AccountHolder| match holder {
        AccountHolder::Customer(customer) => settings.allows_password_of(customer),
        AccountHolder::Candidate(..) => true,
    };
    // Staff who must sign in by the provider get no key. If the address also has other accounts, mail about those only.
    let is_by_provider = !holders.iter().any(has_password);
    if !is_by_provider {
        holders.retain(has_password);
    }
    let Some(first) = holders.first() else {
        return Ok((EffectResult::Outdated, "the keys that are out are too new".to_owned()));
    };
    let link = ReferenceUris::new(system.config()).sign_in_url(&company.id).to_string();
    let mut accounts = Vec::new();
    for holder in holders.iter().filter(|_| !is_by_provider) {
        accounts.push(AccountLink { name: holder.name(), link: give_link(system, holder).await? });
    }
    let occasion = match (&accounts[..], first) {
        ([], AccountHolder::Customer(customer)) => {
            MailOccasion::StaffSignIn { is_invited: customer.status == CustomerStatus::Invited, link: &link }
        }
        ([only], AccountHolder::Customer(customer)) if customer.status == CustomerStatus::Invited => {
            MailOccasion::StaffInvitation {
                username: customer.username.as_str(),
                identifier: company.id.as_str(),
                link: &only.link,
                days: INVITATION_DAYS,
            }
        }
        _ => MailOccasion::PasswordReset { accounts: &accounts, hours: RESET_HOURS },
    };
    let (first_name, last_name) = first.names();
    let language = first.language(company);
    let mail = PersonalMail { first_name, last_name, company: &company.name, language, occasion };
    // With several accounts, use the company's sender and contact: no project speaks for all accounts.
    let alias = if holders.len() == 1 { first.alias() } else { None };
    let contact = first.contact(company, holders.len() == 1);
    let reply_to = contact.as_ref().and_then(|contact| contact.email.as_ref());
    let envelope = MailEnvelope { to: &to, account: Some(first.account()), company, alias, reply_to };
    let outcome = send_mail(mailer, &envelope, &mail).await?;
    if outcome.0 == EffectResult::Sent {
        system.store.end_reset_mail(&begun).await?;
    }
    Ok(outcome)
}

/// Creates a key for the account and returns its link. For a customer who has not activated their account, it replaces
/// the key of the invitation and is valid for as long.
async fn give_link(system: &SystemAccess, holder: &AccountHolder) -> Result<String> {
    let suite = &system.config().suite_url;
    let reset = TimeDelta::hours(RESET_HOURS);
    let invitation = TimeDelta::days(INVITATION_DAYS);
    match holder {
        AccountHolder::Customer(customer) if customer.status == CustomerStatus::Invited => {
            Ok(activation_link(suite, &give_customer_key(system, customer, invitation).await?))
        }
        AccountHolder::Customer(customer) => {
            Ok(reset_link(suite, &give_customer_key(system, customer, reset).await?))
        }
        AccountHolder::Candidate(before, _) => {
            let claim = CredentialClaim::own(before.company.clone(), before.account());
            let (key, stored) = system.new_one_time_key(&claim, reset);
            let after = Candidate { one_time_key: Some(stored), ..Candidate::clone(before) };
            system.commit(system.store.change_candidate(before, &after.into(), system.now)).await?;
            Ok(reset_link(suite, &key))
        }
    }
}
