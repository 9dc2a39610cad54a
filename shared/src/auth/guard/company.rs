//! Guards of what belongs to a company as a whole.

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{Request, Scope};
use crate::app::App;
use crate::auth::policy::Grant;
use crate::domain::company::Company;
use crate::domain::id::{CompanyId, InvalidId};
use crate::domain::label::Label;
use crate::domain::named_token::NamedToken;
use crate::error::{Error, Result};
use crate::store::{Entity, Key, Versioned, keys};

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

impl<G: Grant> InCompany<G> {
    /// Admits the caller to the company of the path.
    pub(super) async fn admit(request: &Request<'_>) -> Result<Self> {
        let key = request.id::<CompanyId>("companyId").map(|company| keys::company(&company));
        let (scope, mut batch) = request.admit(key.clone().map(|key| vec![key])).await?;
        let company = batch.take(&key.map_err(|_| Error::NotFound)?)?.ok_or(Error::NotFound)?;
        scope.admit(G::ACTION.is_allowed(&scope.caller.in_company()))?;
        scope.about(Versioned::revision(&company))?;
        Ok(Self { company, scope, grant: PhantomData })
    }
}

impl<G: Grant> FromRequestParts<App> for InCompany<G> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        Self::admit(&request).await
    }
}

/// A caller who may do `G` in the company of the path, which is their own, and what the path names of it.
pub struct OfCompany<T, G> {
    /// What the path names.
    pub thing: Versioned<T>,
    scope: Scope,
    grant: PhantomData<G>,
}

impl<T, G> Deref for OfCompany<T, G> {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

/// What a path can name of a company.
trait Named: Entity {
    fn key_in(request: &Request<'_>, company: &CompanyId) -> Result<Key, InvalidId>;
}

impl Named for Label {
    fn key_in(request: &Request<'_>, company: &CompanyId) -> Result<Key, InvalidId> {
        Ok(keys::label(company, request.id("labelId")?))
    }
}

impl Named for NamedToken {
    fn key_in(request: &Request<'_>, company: &CompanyId) -> Result<Key, InvalidId> {
        Ok(keys::token(company, request.id("tokenId")?))
    }
}

impl<T: Named, G: Grant> FromRequestParts<App> for OfCompany<T, G> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let company = request.id::<CompanyId>("companyId");
        let key = company.and_then(|company| T::key_in(&request, &company));
        // Whether there is such a thing at all is for those to know who may do this.
        let wanted = key.clone().map_or_else(|_| Vec::new(), |key| vec![key]);
        let (scope, mut batch) = request.admit(Ok(wanted)).await?;
        scope.admit(G::ACTION.is_allowed(&scope.caller.in_company()))?;
        let thing: Versioned<T> = batch.take(&key.map_err(|_| Error::NotFound)?)?.ok_or(Error::NotFound)?;
        scope.about(thing.revision())?;
        Ok(Self { thing, scope, grant: PhantomData })
    }
}
