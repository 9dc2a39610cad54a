//! Guards of a project and of what stands in it.

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{Beside, Request, Scope};
use crate::app::App;
use crate::auth::policy::{Action, Grant, Standing};
use crate::domain::company::Company;
use crate::domain::id::{CompanyId, InvalidId, ProjectId};
use crate::domain::project::Project;
use crate::domain::tally::Tally;
use crate::error::{Error, Result};
use crate::store::{Batch, Key, Shards, Versioned, keys, shards};

/// A caller who may do `G` in the project of the path.
pub struct InProject<G> {
    /// The project.
    pub project: Versioned<Project>,
    scope: Scope,
    grant: PhantomData<G>,
}

impl<G> Deref for InProject<G> {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

/// A caller who may do `G` with the project of the path, and all that its view shows.
pub struct OnProject<G> {
    /// The company, whose defaults the project falls back on.
    pub company: Versioned<Company>,
    /// What is counted of the project's candidates.
    pub tally: Tally,
    /// The shards that it is counted in.
    pub shards: Shards,
    inner: InProject<G>,
}

impl<G> Deref for OnProject<G> {
    type Target = InProject<G>;

    fn deref(&self) -> &InProject<G> {
        &self.inner
    }
}

impl<G: Grant> InProject<G> {
    /// Admits the caller to the project of the path and reads what stands under `more` keys as well.
    pub(super) async fn admit(
        request: &Request<'_>,
        more: impl FnOnce(&CompanyId, ProjectId) -> Result<Vec<Key>, InvalidId>,
    ) -> Result<(Self, Batch)> {
        let (entered, batch) = Self::enter(request, more).await?;
        entered.allow(Action::ReadProject, &entered.standing())?;
        Ok((entered, batch))
    }

    /// The same, for a guard that itself decides whether the caller may be here.
    pub(super) async fn enter(
        request: &Request<'_>,
        more: impl FnOnce(&CompanyId, ProjectId) -> Result<Vec<Key>, InvalidId>,
    ) -> Result<(Self, Batch)> {
        let company = request.id::<CompanyId>("companyId");
        let path = company.and_then(|company| Ok((company, request.id::<ProjectId>("projectId")?)));
        let keys = path.clone().and_then(|(company, project)| {
            let mut keys = more(&company, project)?;
            keys.push(keys::project(&company, project));
            Ok(keys)
        });
        let (scope, mut batch) = request.admit(keys).await?;
        let (company, project) = path.map_err(|_| Error::NotFound)?;
        let project = batch.take::<Project>(&keys::project(&company, project))?.ok_or(Error::NotFound)?;
        Ok((Self { project, scope, grant: PhantomData }, batch))
    }

    /// Lets a caller do `G` who may; whoever may not even `read` what it is about is told that it does not exist.
    pub(super) fn allow(&self, read: Action, standing: &Standing) -> Result<()> {
        if !read.is_allowed(standing) {
            return Err(Error::NotFound);
        }
        self.scope.admit(G::ACTION.is_allowed(standing))
    }

    /// What the caller is in the project.
    pub fn standing(&self) -> Standing {
        self.scope.caller.in_project(&self.project)
    }
}

impl<G: Grant> FromRequestParts<App> for InProject<G> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let (guard, _) = Self::admit(&request, |_, _| Ok(Vec::new())).await?;
        guard.about(guard.project.revision())?;
        Ok(guard)
    }
}

impl<G: Grant> FromRequestParts<App> for Beside<InProject<G>, Company> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let more = |company: &CompanyId, _| Ok(vec![keys::company(company)]);
        let (guard, mut batch) = InProject::admit(&request, more).await?;
        let company: Versioned<Company> =
            batch.take(&keys::company(guard.company()))?.ok_or(Error::NotFound)?;
        let company = Company::clone(&company);
        Ok(Self(guard, company))
    }
}

impl<G: Grant> FromRequestParts<App> for OnProject<G> {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let more = |company: &CompanyId, project| {
            Ok(shards(company, project).chain([keys::company(company)]).collect())
        };
        let (inner, mut batch) = InProject::admit(&request, more).await?;
        inner.about(inner.project.revision())?;
        let shards = batch.take_shards(inner.company(), inner.project.id);
        let company = batch.take(&keys::company(inner.company()))?.ok_or(Error::NotFound)?;
        Ok(Self { company, tally: shards.tally(), shards, inner })
    }
}
