//! Guards of what callers may know of themselves.

use super::{AdmittedRequest, AuthenticatedRequest, RequestGuard, UnauthenticatedRequest, extract};
use crate::auth::caller::CallerIdentity;
use crate::domain::account::{Account, CredentialOwner};
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::id::InvalidId;
use crate::domain::policy::NOT_ALLOWED;
use crate::domain::project::Project;
use crate::error::{Error, Result};
use crate::store::{ItemKey, VersionedItem, keys};

/// Any authenticated caller.
pub struct CallerAccess {
    /// The project of a caller who is a candidate.
    pub project: Option<VersionedItem<Project>>,
    context: AdmittedRequest,
}

/// A caller who is a candidate.
pub struct CandidateSelf {
    /// The candidate.
    pub candidate: VersionedItem<Candidate>,
    /// Their project.
    pub project: VersionedItem<Project>,
    /// Their company.
    pub company: VersionedItem<Company>,
    context: AdmittedRequest,
}

impl RequestGuard for CallerAccess {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        own_project(request).into_iter().map(Ok).collect()
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let project = match &request.caller().identity {
            CallerIdentity::Customer(_) | CallerIdentity::NamedToken(_) => None,
            CallerIdentity::Candidate(own) => {
                let key = keys::project(&own.company, own.project);
                request.batch.take(&key)?
            }
        };
        let revision = match &request.caller().identity {
            CallerIdentity::Customer(own) => Some(own.revision()),
            CallerIdentity::Candidate(own) => Some(own.revision()),
            CallerIdentity::NamedToken(_) => None,
        };
        let context = request.authorise_anyone();
        let context = match revision {
            Some(revision) => context.about_revision(revision),
            None => context,
        };
        Ok(Self { project, context })
    }
}

impl RequestGuard for CandidateSelf {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let company = claim(request).map(|claim| keys::company(&claim.company));
        own_project(request).into_iter().chain(company).map(Ok).collect()
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let CallerIdentity::Candidate(candidate) = &request.caller().identity else {
            return Err(Error::Forbidden(NOT_ALLOWED));
        };
        let candidate = candidate.clone();
        let (company, project) =
            (keys::company(&candidate.company), keys::project(&candidate.company, candidate.project));
        let company = request.batch.take(&company)?.ok_or(Error::NotFound)?;
        let project = request.batch.take(&project)?.ok_or(Error::NotFound)?;
        let context = request.authorise_anyone().about(&candidate);
        Ok(Self { candidate, project, company, context })
    }
}

fn own_project(request: &UnauthenticatedRequest<'_>) -> Option<ItemKey> {
    let claim = claim(request)?;
    match claim.account {
        Account::Customer { .. } => None,
        Account::Candidate { project, .. } => Some(keys::project(&claim.company, project)),
    }
}

fn claim(request: &UnauthenticatedRequest<'_>) -> Option<CredentialOwner> {
    request.credential().ok()?.claim().cloned()
}

extract!(CallerAccess, Authenticated);
extract!(CandidateSelf, Candidate);
