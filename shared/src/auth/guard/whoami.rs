//! Guards of what a caller may know of itself.

use std::ops::Deref;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{Request, Scope, require};
use crate::app::App;
use crate::auth::caller::Identity;
use crate::auth::credential::Credential;
use crate::domain::account::{Account, Claim};
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::project::Project;
use crate::error::{Error, Result};
use crate::store::{Batch, Key, Versioned, keys};

/// Any authenticated caller, whatever they may do.
pub struct WhoAmI {
    /// The project of a caller who is a candidate.
    pub project: Option<Versioned<Project>>,
    scope: Scope,
}

impl Deref for WhoAmI {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

impl FromRequestParts<App> for WhoAmI {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let (scope, mut batch) = request.admit(Ok(own_project(&request).into_iter().collect())).await?;
        let project = take_project(&scope, &mut batch)?;
        match &scope.caller.identity {
            Identity::Customer(own) => scope.about(own.revision())?,
            Identity::Candidate(own) => scope.about(own.revision())?,
            Identity::NamedToken(_) => {}
        }
        Ok(Self { project, scope })
    }
}

/// A candidate who is calling, and what it takes part in.
pub struct AsCandidate {
    /// The candidate.
    pub candidate: Versioned<Candidate>,
    /// Its project.
    pub project: Versioned<Project>,
    /// Its company.
    pub company: Versioned<Company>,
    scope: Scope,
}

impl Deref for AsCandidate {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

impl FromRequestParts<App> for AsCandidate {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let request = Request::new(parts, app).await?;
        let claim = claim(&request);
        let company = claim.map(|claim| keys::company(&claim.company));
        let keys = own_project(&request).into_iter().chain(company.clone()).collect();
        let (scope, mut batch) = request.admit(Ok(keys)).await?;
        let Identity::Candidate(candidate) = &scope.caller.identity else {
            return require(false).and(Err(Error::NotFound));
        };
        let candidate = candidate.clone();
        scope.about(candidate.revision())?;
        let project = take_project(&scope, &mut batch)?.ok_or(Error::NotFound)?;
        let company = batch.take(&company.ok_or(Error::NotFound)?)?.ok_or(Error::NotFound)?;
        Ok(Self { candidate, project, company, scope })
    }
}

/// The key of the project that a candidate's credential claims.
fn own_project(request: &Request<'_>) -> Option<Key> {
    let claim = claim(request)?;
    match claim.account {
        Account::Customer { .. } => None,
        Account::Candidate { project, .. } => Some(keys::project(&claim.company, project)),
    }
}

fn claim(request: &Request<'_>) -> Option<Claim> {
    Credential::from_headers(&request.parts.headers).ok()?.claim().cloned()
}

fn take_project(scope: &Scope, batch: &mut Batch) -> Result<Option<Versioned<Project>>> {
    match &scope.caller.identity {
        Identity::Customer(_) | Identity::NamedToken(_) => Ok(None),
        Identity::Candidate(candidate) => batch.take(&keys::project(&candidate.company, candidate.project)),
    }
}
