//! The guard of one customer.

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{Beside, Request, Scope, require};
use crate::app::App;
use crate::auth::caller::Identity;
use crate::auth::policy::{Grant, NOT_ALLOWED};
use crate::domain::company::Company;
use crate::domain::customer::{AccountType, Customer};
use crate::domain::id::{CompanyId, CustomerId};
use crate::error::{Error, Result};
use crate::store::{Batch, Key, Versioned, keys};

/// A caller who may do `G` in the company of the path, and the customer of the path.
pub struct OnCustomer<G> {
    /// The customer.
    pub customer: Versioned<Customer>,
    scope: Scope,
    grant: PhantomData<G>,
}

impl<G> Deref for OnCustomer<G> {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

impl<G> OnCustomer<G> {
    /// Whether the caller is the customer.
    pub fn is_own(&self) -> bool {
        self.caller.customer() == Some(self.customer.id)
    }

    /// Refuses a caller who neither is the customer nor manages it.
    ///
    /// # Errors
    /// [`Error::Forbidden`].
    pub fn require_own_or_managed(&self) -> Result<()> {
        if self.is_own() { Ok(()) } else { self.require_managed() }
    }

    /// Refuses a caller who does not manage the customer.
    ///
    /// # Errors
    /// [`Error::Forbidden`].
    pub fn require_managed(&self) -> Result<()> {
        self.require_manages(self.customer.account_type)
    }
}

impl Scope {
    /// Refuses a caller who does not manage customers of this account type.
    ///
    /// # Errors
    /// [`Error::Forbidden`].
    pub fn require_manages(&self, other: AccountType) -> Result<()> {
        let own = match &self.caller.identity {
            Identity::Customer(customer) => customer.account_type,
            // A named token does what an owner does.
            Identity::NamedToken(_) => AccountType::Owner,
            Identity::Candidate(_) => return Err(Error::Forbidden(NOT_ALLOWED)),
        };
        require(own.manages(other))
    }
}

impl<G: Grant> OnCustomer<G> {
    /// Admits the caller to the customer of the path and reads what stands under `more` keys as well.
    pub(super) async fn admit(
        request: &Request<'_>,
        more: impl FnOnce(&CompanyId) -> Vec<Key>,
    ) -> Result<(Self, Batch)> {
        let path = request.id::<CompanyId>("companyId");
        let path = path.and_then(|company| Ok((company, request.id::<CustomerId>("customerId")?)));
        let key = path.clone().map(|(company, customer)| keys::customer(&company, customer));
        let wanted = path.clone().map(|(company, _)| more(&company).into_iter().chain(key.clone()).collect());
        let (scope, mut batch) = request.admit(wanted).await?;
        scope.admit(G::ACTION.is_allowed(&scope.caller.in_company()))?;
        let (_, id) = path.map_err(|_| Error::NotFound)?;
        let customer = match &scope.caller.identity {
            // Read as the caller already.
            Identity::Customer(own) if own.id == id => Some(own.clone()),
            _ => batch.take(&key.map_err(|_| Error::NotFound)?)?,
        };
        let customer = customer.ok_or(Error::NotFound)?;
        scope.about(customer.revision())?;
        Ok((Self { customer, scope, grant: PhantomData }, batch))
    }
}

impl<G: Grant> FromRequestParts<App> for OnCustomer<G> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        Ok(Self::admit(&request, |_| Vec::new()).await?.0)
    }
}

impl<G: Grant> FromRequestParts<App> for Beside<OnCustomer<G>, Company> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let (guard, mut batch) = OnCustomer::admit(&request, |company| vec![keys::company(company)]).await?;
        let company: Versioned<Company> =
            batch.take(&keys::company(guard.company()))?.ok_or(Error::NotFound)?;
        let company = Company::clone(&company);
        Ok(Self(guard, company))
    }
}
