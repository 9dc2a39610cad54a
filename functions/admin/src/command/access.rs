//! Commands about permissions and sessions.

use serde_json::{Value, json};
use shared::auth::OperatorAccess;
use shared::domain::candidate::Candidate;
use shared::domain::history::ChangeAuthor;
use shared::domain::staff::customer::{AccountType, Customer};
use shared::store::{FoundAccounts, VersionedItem};
use shared::{Error, Result};

use super::{no_company, only_company_id, staff_output};

pub(super) async fn make_owner(
    operator: &OperatorAccess,
    company: Option<&str>,
    username: &str,
) -> Result<Value> {
    let before = staff_user(operator, company, username).await?;
    if !before.is_active {
        // No other user of the company could activate such an owner again.
        return Err(Error::field("username", "This user is not active."));
    }
    change(operator, &before, Customer { account_type: AccountType::Owner, ..Customer::clone(&before) }).await
}

/// Makes an owner an admin; leaves other account types unchanged.
pub(super) async fn revoke_owner(
    operator: &OperatorAccess,
    company: Option<&str>,
    username: &str,
) -> Result<Value> {
    let before = staff_user(operator, company, username).await?;
    let account_type = before.account_type.min(AccountType::Admin);
    change(operator, &before, Customer { account_type, ..Customer::clone(&before) }).await
}

/// Grants or revokes login on behalf of others.
pub(super) async fn set_on_behalf(
    operator: &OperatorAccess,
    company: Option<&str>,
    username: &str,
    may: bool,
) -> Result<Value> {
    let before = staff_user(operator, company, username).await?;
    change(operator, &before, Customer { authenticate_on_behalf: may, ..Customer::clone(&before) }).await
}

/// Allows password login again for a company that requires sign-in by its provider. Otherwise changes nothing.
pub(super) async fn allow_passwords(operator: &OperatorAccess, company: Option<&str>) -> Result<Value> {
    let company = only_company_id(company)?;
    let before = operator.store.sign_in_settings(&company).await?;
    let was_required = before.required_provider().is_some();
    if !was_required {
        operator.store.company(&company).await?.ok_or_else(no_company)?;
    }
    let customers = operator.store.all_customers(&company).await?;
    let after = before.with_passwords_allowed();
    let set = operator.store.set_sign_in_settings(
        &before,
        &after,
        ChangeAuthor::Operator,
        &customers,
        operator.now,
    );
    operator.commit(set).await?;
    Ok(json!({ "company": company, "was_required": was_required }))
}

/// Revokes all sessions of every account that matches a name.
pub(super) async fn end_sessions(
    operator: &OperatorAccess,
    company: Option<&str>,
    name: &str,
) -> Result<Value> {
    let company = only_company_id(company)?;
    let FoundAccounts { customers, candidates } = operator.store.all_accounts_named(&company, name).await?;
    if customers.is_empty() && candidates.is_empty() {
        operator.store.company(&company).await?.ok_or_else(no_company)?;
        return Err(no_user());
    }
    let references = operator.references();
    let mut ended = Vec::new();
    for before in customers {
        // Revoke the sessions of every match, since the operator may know only a name. A needless revocation costs the
        // user only a login.
        let after = Customer::clone(&before).with_sessions_ended();
        operator.commit(operator.store.update_customer(&before, &after, operator.now)).await?;
        ended.push(references.uri(&company, after.id));
    }
    for before in candidates {
        let after = Candidate::clone(&before).with_sessions_ended();
        ended.push(references.uri_in_project(&company, after.project, after.id));
        operator.commit(operator.store.change_candidate(&before, &after.into(), operator.now)).await?;
    }
    Ok(json!({ "company": company, "ended": ended }))
}

async fn staff_user(
    operator: &OperatorAccess,
    company: Option<&str>,
    username: &str,
) -> Result<VersionedItem<Customer>> {
    let company = only_company_id(company)?;
    match operator.store.customer_by_username(&company, username).await? {
        Some(customer) => Ok(customer),
        None => {
            operator.store.company(&company).await?.ok_or_else(no_company)?;
            Err(no_user())
        }
    }
}

async fn change(
    operator: &OperatorAccess,
    before: &VersionedItem<Customer>,
    after: Customer,
) -> Result<Value> {
    if after != **before {
        operator.commit(operator.store.update_customer(before, &after, operator.now)).await?;
    }
    Ok(staff_output(operator, &after))
}

fn no_user() -> Error {
    Error::field("username", "There is no such user.")
}
