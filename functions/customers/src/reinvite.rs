//! Inviting a customer again.

use axum::Json;
use shared::Result;
use shared::auth::guard::OnCustomer;
use shared::auth::policy::ReinviteCustomers;
use shared::domain::customer::{Customer, CustomerStatus, NOT_INVITED};
use shared::http::view::CustomerView;

/// PATCH …/customers/{customerId}/reinvite/
pub(crate) async fn update(guard: OnCustomer<ReinviteCustomers>) -> Result<Json<CustomerView>> {
    let before = &guard.customer;
    if before.status != CustomerStatus::Invited || !before.is_active {
        return Err(NOT_INVITED.into());
    }
    // The key of the last mail ends now, whenever the next one arrives.
    let after = Customer { one_time_key: None, invited_at: Some(guard.now), ..Customer::clone(before) };
    guard.store.invite_customer(before, &after, guard.now).await?;
    Ok(Json(CustomerView::new(&after, guard.references())))
}
