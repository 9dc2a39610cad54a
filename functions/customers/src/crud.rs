//! Listing, creating, reading, changing and deleting customers.

use axum::Json;
use axum::extract::RawQuery;
use shared::auth::guard::{InCompany, OnCustomer};
use shared::auth::policy::{ManageCustomers, ReadCompany};
use shared::domain::customer::{AccountType, Customer, CustomerStatus, OWN_ACCOUNT};
use shared::domain::deletion::Deleter;
use shared::domain::file::FileKind;
use shared::domain::text::fold_case;
use shared::http::WithFiles;
use shared::http::page::{Envelope, ListQuery};
use shared::http::respond::{Created, Done};
use shared::http::view::CustomerView;
use shared::{Error, Result};

use crate::changes::{Changes, Creation};

/// GET …/customers/
pub(crate) async fn list(
    guard: InCompany<ReadCompany>,
    RawQuery(query): RawQuery,
) -> Result<Envelope<CustomerView>> {
    let query = ListQuery::parse(query.as_deref())?;
    let username = query.filter("username", |name| Ok(name.to_owned()))?;
    let status = query.filter("status", CustomerStatus::parse)?;
    let account_type = query.filter("account_type", AccountType::parse)?;
    let fits = |customer: &Customer| {
        status.is_none_or(|wanted| customer.status == wanted)
            && account_type.is_none_or(|wanted| customer.account_type == wanted)
    };
    let (store, company) = (&guard.store, guard.company());
    let (page, total) = match username {
        None if status.is_none() && account_type.is_none() => {
            store.list_customers(company, query.page()).await?
        }
        // A company's staff are few enough to be read whole.
        None => {
            let mut all = store.all_customers(company).await?;
            all.retain(|customer| fits(customer));
            query.slice(all, |customer| customer.id.to_string())
        }
        Some(username) => {
            let found = store.customer_by_username(company, &username).await?;
            let found = found.into_iter().filter(|customer| fits(customer)).collect();
            query.slice(found, |customer| customer.id.to_string())
        }
    };
    query.check_range(total)?;
    let page = page.map(|customer| CustomerView::new(&customer, guard.references()));
    Ok(query.envelope(&guard.references().customers(company), page, total))
}

/// POST …/customers/
pub(crate) async fn create(
    guard: InCompany<ManageCustomers>,
    WithFiles(mut body): WithFiles,
) -> Result<Created<CustomerView>> {
    let photo = body.file(FileKind::Photo, None);
    let new = Creation::read(body)?;
    guard.require_manages(new.account_type())?;
    let id = guard.store.next_id(guard.now);
    let mut customer = new.into_customer(id, guard.company().clone(), guard.caller.customer(), guard.now);
    customer.photo = guard.change_file(customer.owner(), FileKind::Photo, None, photo).await?;
    guard.store.commit(guard.store.create_customer(&customer, guard.now)).await?;
    let view = CustomerView::new(&customer, guard.references());
    Ok(Created(guard.references().customer(guard.company(), id), view))
}

/// GET …/customers/{customerId}/
pub(crate) async fn read(guard: OnCustomer<ReadCompany>) -> Json<CustomerView> {
    Json(CustomerView::new(&guard.customer, guard.references()))
}

/// PATCH …/customers/{customerId}/
pub(crate) async fn update(
    guard: OnCustomer<ReadCompany>,
    WithFiles(mut body): WithFiles,
) -> Result<Json<CustomerView>> {
    guard.require_own_or_managed()?;
    let is_own = guard.is_own();
    let before = &guard.customer;
    let own = guard.references().files(guard.company(), before.owner(), FileKind::Photo);
    let photo = body.file(FileKind::Photo, Some(&own));
    let Changes { profile, email, role, account_type, password } = Changes::read(body, |sent| {
        // As whoever logs in may spell it.
        fold_case(sent.as_str()) == fold_case(before.username.as_str())
    })?;
    let mut after = Customer::clone(before);
    profile.apply_to(&mut after);
    if let Some(email) = email.filter(|email| *email != before.email) {
        guard.require_managed()?;
        after = after.with_email(email, guard.now)?;
    }
    if let Some(role) = role.filter(|role| *role != before.role) {
        guard.require_managed()?;
        after.role = role;
    }
    if let Some(account_type) = account_type.filter(|new| *new != before.account_type) {
        guard.require_managed()?;
        guard.require_manages(account_type)?;
        after.account_type = account_type;
    }
    if let Some((password, current)) = password {
        if !is_own {
            return Err(Error::field("password", "Only the customer may change this password."));
        }
        if !guard.is_password_of(before, current).await? {
            return Err(Error::field("current_password", "This is not your current password."));
        }
        after = after.with_password(guard.hash(password).await?, guard.now);
    }
    after.photo = guard.change_file(after.owner(), FileKind::Photo, after.photo, photo).await?;
    if after != **before {
        guard.store.commit(guard.store.update_customer(before, &after, guard.now)).await?;
    }
    Ok(Json(CustomerView::new(&after, guard.references())))
}

/// DELETE …/customers/{customerId}/
pub(crate) async fn delete(guard: OnCustomer<ManageCustomers>) -> Result<Done> {
    if guard.is_own() {
        return Err(OWN_ACCOUNT.into());
    }
    guard.require_managed()?;
    let by = Deleter { name: guard.caller.name(), email: guard.caller.email().cloned() };
    guard.store.retire_customer(&guard.customer, by, guard.now).await?;
    Ok(Done)
}
