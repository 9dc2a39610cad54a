//! Inviting a customer again.

use axum::Json;
use shared::Result;
use shared::auth::access::Admitted;
use shared::domain::policy::ReinviteCustomers;
use shared::domain::staff::customer::Customer;
use shared::http::exchange::respond::CommittedResponse;
use shared::http::view::CustomerView;

/// PATCH …/customers/{customerId}/reinvite/
pub(crate) async fn update(
    access: Admitted<Customer, ReinviteCustomers>,
) -> Result<CommittedResponse<Json<CustomerView>>> {
    let before = &access.target.customer;
    let after = Customer::clone(before).invited_again(access.now)?;
    let view = CustomerView::new(&after, access.references());
    access.commit(access.store.invite_customer(before, &after, access.now), Json(view)).await
}
