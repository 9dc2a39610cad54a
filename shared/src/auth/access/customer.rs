//! The guard of one customer.

use std::marker::PhantomData;

use super::file::OwnerAccess;
use super::request::PathIds;
use super::{AdmittedRequest, AuthenticatedRequest, RequestGuard, UnauthenticatedRequest, extract};
use crate::domain::company::Company;
use crate::domain::customer::Customer;
use crate::domain::file::Owner;
use crate::domain::id::InvalidId;
use crate::domain::policy::ActionGrant;
use crate::domain::upload::Upload;
use crate::error::Result;
use crate::store::{ItemKey, VersionedItem};

/// A caller who may do `A` in the company of the path, and the customer of the path.
pub struct CustomerAccess<A> {
    /// The company.
    pub company: VersionedItem<Company>,
    /// The customer.
    pub customer: VersionedItem<Customer>,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for CustomerAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.company(), request.path.customer()]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let company = request.take(PathIds::company)?;
        let (customer, standing) = (request.take_customer(), request.caller().in_company());
        // Only callers who may do this learn whether the customer exists.
        let context = request.authorise(A::ACTION, &standing)?;
        let customer = customer?;
        Ok(Self { company, context: context.about(&customer), customer, action: PhantomData })
    }
}

impl<A> CustomerAccess<A> {
    /// Whether the caller is the customer.
    pub fn is_own(&self) -> bool {
        self.caller.customer() == Some(self.customer.id)
    }

    /// Refuses a caller who neither is the customer nor manages them.
    pub fn require_own_or_managed(&self) -> Result<()> {
        if self.is_own() { Ok(()) } else { self.require_managed() }
    }

    /// Refuses a caller who does not manage the customer.
    pub fn require_managed(&self) -> Result<()> {
        self.require_manages(self.customer.account_type)
    }
}

impl<A: ActionGrant> OwnerAccess for CustomerAccess<A> {
    fn owner_in(path: &PathIds) -> Result<Owner, InvalidId> {
        Ok(Owner::Customer { customer: path.id("customerId")? })
    }

    fn about(self, upload: &VersionedItem<Upload>) -> Self {
        Self { context: self.context.about(upload), ..self }
    }
}

extract!(CustomerAccess<A: ActionGrant>);
