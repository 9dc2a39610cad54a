//! Guards of what belongs to a company as a whole.

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{Request, Scope, require};
use crate::app::App;
use crate::auth::policy::Grant;
use crate::domain::company::Company;
use crate::domain::id::CompanyId;
use crate::error::{Error, Result};
use crate::store::{Versioned, keys};

/// A caller who may do `G` in the company of the path, which is their own.
pub struct InCompany<G> {
    /// The company.
    pub company: Versioned<Company>,
    scope: Scope,
    grant: PhantomData<G>,
}

impl<G> Deref for InCompany<G> {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

impl<G: Grant> FromRequestParts<App> for InCompany<G> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let key = request.id::<CompanyId>("companyId").map(|company| keys::company(&company));
        let (scope, mut batch) = request.admit(key.clone().map(|key| vec![key])).await?;
        let company = batch.take(&key.map_err(|_| Error::NotFound)?)?.ok_or(Error::NotFound)?;
        require(G::ACTION.is_allowed(&scope.caller.in_company()))?;
        Ok(Self { company, scope, grant: PhantomData })
    }
}
