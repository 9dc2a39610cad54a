//! Listing, creating, reading, changing and deleting customers.

use axum::Json;
use shared::auth::access::Admitted;
use shared::domain::company::Company;
use shared::domain::effect::deletion::DeletionAuthor;
use shared::domain::media::file::FileKind;
use shared::domain::parse_enum;
use shared::domain::policy::{ManageCustomers, ReadCompany};
use shared::domain::staff::customer::{Customer, OWN_ACCOUNT, OWNER_CONFIRMS, UNSEEN_PROJECTS};
use shared::domain::text::fold_case;
use shared::http::exchange::respond::{CommittedResponse, Created, NoContent};
use shared::http::page::PageView;
use shared::http::view::CustomerView;
use shared::http::{QueryParameters, WithFiles};
use shared::{Error, Result};

use crate::changes::{CreateCustomer, UpdateCustomer};

/// GET …/customers/
pub(crate) async fn list(
    access: Admitted<Company, ReadCompany>,
    mut query: QueryParameters,
) -> Result<PageView<CustomerView>> {
    let username = query.filter("username", |name| Ok(name.to_owned()));
    let status = query.filter("status", parse_enum);
    let account_type = query.filter("account_type", parse_enum);
    let query = query.finish_list()?;
    // Filter in memory: a company has few staff, and every change would have to update an index for each filter.
    let fits = |customer: &Customer| {
        status.is_none_or(|wanted| customer.status == wanted)
            && account_type.is_none_or(|wanted| customer.account_type == wanted)
    };
    let store = &access.store;
    let company = access.company_id();
    let visible = access.visible_customers().await?;
    let (page, total) = match username {
        None if let Some(visible) = &visible => {
            let mut all = store.customers(company, visible.iter().copied()).await?;
            all.retain(|customer| fits(customer));
            query.slice(all, |customer| customer.id.to_string())
        }
        None if status.is_none() && account_type.is_none() => {
            store.list_customers(company, query.page()).await?
        }
        // A company has so few staff that all of them can be read.
        None => {
            let mut all = store.all_customers(company).await?;
            all.retain(|customer| fits(customer));
            query.slice(all, |customer| customer.id.to_string())
        }
        Some(username) => {
            let found = store.customer_by_username(company, &username).await?;
            let is_seen = |customer: &Customer| visible.as_ref().is_none_or(|all| all.contains(&customer.id));
            let found = found.into_iter().filter(|customer| fits(customer) && is_seen(customer)).collect();
            query.slice(found, |customer| customer.id.to_string())
        }
    };
    let page = page.map(|customer| CustomerView::new(&customer, access.references()));
    query.answer(page, total)
}

/// POST …/customers/
pub(crate) async fn create(
    access: Admitted<Company, ManageCustomers>,
    WithFiles(mut body): WithFiles,
) -> Result<CommittedResponse<Created<CustomerView>>> {
    let photo = body.file(FileKind::Photo, || None);
    let CreateCustomer { new, optional } = CreateCustomer::read(body)?;
    access.require_manages(new.account_type)?;
    let id = access.store.next_id(access.now);
    let company = access.company_id().clone();
    let by = access.caller.customer();
    let mut customer = Customer::invited(id, company, new, by, access.now);
    optional.apply_to(&mut customer);
    customer.photo = access.files()?.change(customer.account(), FileKind::Photo, None, photo).await?;
    let view = CustomerView::new(&customer, access.references());
    let created = Created(view);
    access.commit(access.store.create_customer(&customer, access.now), created).await
}

/// GET …/customers/{customerId}/
pub(crate) async fn read(
    access: Admitted<Customer, ReadCompany>,
) -> Result<CommittedResponse<Json<CustomerView>>> {
    access.show(CustomerView::new(&access.target.customer, access.references()))
}

/// PATCH …/customers/{customerId}/
pub(crate) async fn update(
    access: Admitted<Customer, ReadCompany>,
    WithFiles(mut body): WithFiles,
) -> Result<CommittedResponse<Json<CustomerView>>> {
    access.require_own_or_managed(&access.target.customer)?;
    let is_own = access.is_own(&access.target.customer);
    let before = &access.target.customer;
    let references = access.references();
    let own = || Some(references.files(access.company_id(), before.account(), FileKind::Photo));
    let photo = body.file(FileKind::Photo, own);
    let UpdateCustomer { profile, email, confirms_email, role, account_type, password } =
        UpdateCustomer::read(
            body,
            |sent| {
                // Compare case-folded, because users may log in with another spelling.
                fold_case(sent.as_str()) == fold_case(before.username.as_str())
            },
            before.is_active,
        )?;
    let mut after = Customer::clone(before);
    profile.apply_to(&mut after);
    // Clients may send back what they have read, so only a different address requires the right to change it.
    let email = email.unwrap_or_else(|| before.shown_email().clone());
    if email != *before.shown_email() || confirms_email && email != before.email {
        access.require_manages(before.account_type)?;
        if confirms_email && !access.is_owner_in_person() {
            return Err(Error::Forbidden(OWNER_CONFIRMS));
        }
        if !access.sees_all_projects_of(before).await? {
            return Err(Error::Forbidden(UNSEEN_PROJECTS));
        }
        after = after.with_email(email, confirms_email, access.now)?;
    }
    if let Some(role) = role.filter(|role| *role != before.role) {
        access.require_manages(access.target.customer.account_type)?;
        after.role = role;
    }
    if let Some(account_type) = account_type.filter(|new| *new != before.account_type) {
        access.require_manages(access.target.customer.account_type)?;
        access.require_manages(account_type)?;
        after.account_type = account_type;
    }
    if let Some((password, current)) = password {
        if !is_own {
            return Err(Error::field("password", "Only the customer may change this password."));
        }
        if !access.is_password_of(before, current).await? {
            return Err(Error::field("current_password", "This is not your current password."));
        }
        after = after.with_password(access.hash(password).await?, access.now);
    }
    after.photo = access.files()?.change(after.account(), FileKind::Photo, after.photo, photo).await?;
    let view = CustomerView::new(&after, access.references());
    access.commit(access.store.update_customer(before, &after, access.now), Json(view)).await
}

/// DELETE …/customers/{customerId}/
pub(crate) async fn delete(access: Admitted<Customer, ManageCustomers>) -> Result<NoContent> {
    if access.is_own(&access.target.customer) {
        return Err(OWN_ACCOUNT.into());
    }
    access.require_manages(access.target.customer.account_type)?;
    let by = DeletionAuthor { name: access.caller.name(), email: access.caller.email().cloned() };
    access.store.stepwise(access.now).delete_customer(&access.target.customer, by).await?;
    Ok(NoContent)
}
