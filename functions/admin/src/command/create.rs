//! Commands that create companies and staff.

use chrono::TimeDelta;
use serde::Deserialize;
use serde_json::Value;
use shared::auth::OperatorAccess;
use shared::auth::password::Password;
use shared::domain::account::CredentialClaim;
use shared::domain::company::Company;
use shared::domain::id::CompanyId;
use shared::domain::language::Language;
use shared::domain::staff::customer::{AccountType, Customer, CustomerStatus, NewCustomer};
use shared::domain::text::{Email, ShortName, Username, fold_case};
use shared::error::FieldErrors;
use shared::mail::activation_link;
use shared::{Error, Result};

use super::{company_id, staff_output};

/// How long an activation link is valid.
const ACTIVATION_DAYS: i64 = 14;

/// A staff user to create.
#[derive(Deserialize)]
pub struct NewStaff {
    pub first_name: String,
    pub last_name: String,
    /// The address for login and mails.
    pub email: String,
    /// The user name for login; by default `email`.
    pub username: Option<String>,
    /// 8–128 characters. By default, the user chooses it through an activation link.
    pub password: Option<String>,
}

/// Creates a company with its first owner.
pub(super) async fn company(
    operator: &OperatorAccess,
    company: Option<&str>,
    name: &str,
    owner: NewStaff,
) -> Result<Value> {
    let mut errors = FieldErrors::default();
    let company = company_id(company, &mut errors);
    let name = errors.read("name", ShortName::parse(name));
    let owner = StaffDetails::read(owner, AccountType::Owner, &mut errors);
    let (Some(id), Some(name), Some(owner)) = (company, name, owner) else {
        return Err(Error::Fields(errors));
    };
    let company = Company::new(id, name);
    let (owner, link) = owner.into_customer(&company.id, operator).await?;
    let created = operator.commit(operator.store.create_company(&company, &owner, operator.now)).await;
    finish(operator, owner, link, created).await
}

/// Creates a staff user of an existing company.
pub(super) async fn customer(
    operator: &OperatorAccess,
    company: Option<&str>,
    account_type: AccountType,
    customer: NewStaff,
) -> Result<Value> {
    let mut errors = FieldErrors::default();
    let company = company_id(company, &mut errors);
    let customer = StaffDetails::read(customer, account_type, &mut errors);
    let (Some(company), Some(customer)) = (company, customer) else { return Err(Error::Fields(errors)) };
    let (customer, link) = customer.into_customer(&company, operator).await?;
    let created = operator.commit(operator.store.create_customer(&customer, operator.now)).await;
    finish(operator, customer, link, created).await
}

/// The result of a creation. If the same user exists, the command was repeated: the user stays unchanged, but gets a
/// new activation link if they have not chosen a password.
async fn finish(
    operator: &OperatorAccess,
    wanted: Customer,
    link: Option<String>,
    created: Result<()>,
) -> Result<Value> {
    let refusal = match created {
        Ok(()) => {
            return Ok(with_link(staff_output(operator, &wanted), link));
        }
        Err(Error::Fields(errors)) => Error::Fields(errors),
        Err(error) => return Err(error),
    };
    let found = operator.store.customer_by_username(&wanted.company, wanted.username.as_str()).await?;
    let same = found.filter(|found| {
        found.account_type == wanted.account_type
            && fold_case(found.email.as_str()) == fold_case(wanted.email.as_str())
    });
    let Some(found) = same else { return Err(refusal) };
    // Issue a new link, because the first output may have been lost.
    if found.status == CustomerStatus::Invited && found.is_active {
        let (after, link) = with_key(Customer::clone(&found), operator);
        operator.commit(operator.store.update_customer(&found, &after, operator.now)).await?;
        return Ok(with_link(staff_output(operator, &found), Some(link)));
    }
    Ok(staff_output(operator, &found))
}

fn with_link(mut output: Value, link: Option<String>) -> Value {
    if let Some(link) = link {
        output["activation_link"] = link.into();
    }
    output
}

/// The customer with a new key, and the activation link that contains the key.
fn with_key(customer: Customer, operator: &OperatorAccess) -> (Customer, String) {
    let claim = CredentialClaim::own(customer.company.clone(), customer.account());
    let (key, stored) = operator.new_one_time_key(&claim, TimeDelta::days(ACTIVATION_DAYS));
    let link = activation_link(&operator.config().suite_url, &key);
    (Customer { one_time_key: Some(stored), ..customer }, link)
}

/// A validated [`NewStaff`].
struct StaffDetails {
    new: NewCustomer,
    password: Option<Password>,
}

impl StaffDetails {
    fn read(person: NewStaff, account_type: AccountType, errors: &mut FieldErrors) -> Option<Self> {
        let username = person.username.as_deref().unwrap_or(&person.email);
        let first_name = errors.read("first_name", ShortName::parse(&person.first_name));
        let last_name = errors.read("last_name", ShortName::parse(&person.last_name));
        let email = errors.read("email", Email::parse(&person.email));
        let username = errors.read("username", Username::parse(username));
        let password = person.password.map(|password| Password::choose(&password)).transpose();
        let password = errors.read("password", password);
        let new = NewCustomer {
            account_type,
            username: username?,
            email: email?,
            first_name: first_name?,
            last_name: last_name?,
            preferred_language: Language::En,
        };
        Some(Self { new, password: password? })
    }

    /// The customer; without a password, also the activation link.
    async fn into_customer(
        self,
        company: &CompanyId,
        operator: &OperatorAccess,
    ) -> Result<(Customer, Option<String>)> {
        let id = operator.store.next_id(operator.now);
        let invited = Customer::invited(id, company.clone(), self.new, None, operator.now);
        let Some(password) = self.password else {
            let (invited, link) = with_key(invited, operator);
            return Ok((invited, Some(link)));
        };
        let confirmed = Customer {
            status: CustomerStatus::Confirmed,
            invited_at: None,
            confirmed_at: Some(operator.now),
            password_hash: Some(operator.hash(password).await?),
            ..invited
        };
        Ok((confirmed, None))
    }
}
