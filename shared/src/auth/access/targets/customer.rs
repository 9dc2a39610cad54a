//! The target for a customer.

use crate::auth::access::request::PathIds;
use crate::auth::access::targets::file::FileOwner;
use crate::auth::access::{AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest};
use crate::domain::account::Account;
use crate::domain::company::Company;
use crate::domain::id::InvalidId;
use crate::domain::staff::customer::Customer;
use crate::error::{Error, Result};
use crate::store::{ItemKey, VersionedItem};

/// A customer with their company.
pub struct CustomerTarget {
    pub company: VersionedItem<Company>,
    pub customer: VersionedItem<Customer>,
}

impl RequestTarget for Customer {
    type Loaded = CustomerTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.company(), request.path.customer()]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, CustomerTarget)> {
        let company = request.take(request.path.company())?;
        let customer = request.take_customer();
        let relation = request.caller().in_company();
        // Authorise first: only callers with the permission may learn whether the customer exists.
        let request = request.authorise(&relation)?;
        let customer = customer?;
        let visible = request.visible_customers().await?;
        if visible.is_some_and(|visible| !visible.contains(&customer.id)) {
            return Err(Error::NotFound);
        }
        Ok((request.about(&customer), CustomerTarget { company, customer }))
    }
}

impl FileOwner for Customer {
    fn file_owner_in(path: &PathIds) -> Result<Account, InvalidId> {
        Ok(Account::Customer { customer: path.id("customerId")? })
    }
}
