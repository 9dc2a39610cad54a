//! Inviting a customer again.

use axum::Json;
use shared::Result;
use shared::auth::guard::OnCustomer;
use shared::auth::policy::ReinviteCustomers;
use shared::domain::customer::Customer;
use shared::http::view::CustomerView;

/// PATCH …/customers/{customerId}/reinvite/
pub(crate) async fn update(guard: OnCustomer<ReinviteCustomers>) -> Result<Json<CustomerView>> {
    let before = &guard.customer;
    let after = Customer::clone(before).invited_again(guard.now)?;
    guard.store.commit(guard.store.invite_customer(before, &after, guard.now)).await?;
    Ok(Json(CustomerView::new(&after, guard.references())))
}
