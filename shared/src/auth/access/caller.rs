//! Guards of what callers may know of themselves.

use super::{Authenticated, Context, Guard, Request, extract};
use crate::auth::caller::Identity;
use crate::domain::account::{Account, Claim};
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::id::InvalidId;
use crate::domain::policy::NOT_ALLOWED;
use crate::domain::project::Project;
use crate::error::{Error, Result};
use crate::store::{Key, Versioned, keys};

/// Any authenticated caller.
pub struct CallerAccess {
    /// The project of a caller who is a candidate.
    pub project: Option<Versioned<Project>>,
    context: Context,
}

/// A caller who is a candidate.
pub struct CandidateSelf {
    /// The candidate.
    pub candidate: Versioned<Candidate>,
    /// Their project.
    pub project: Versioned<Project>,
    /// Their company.
    pub company: Versioned<Company>,
    context: Context,
}

impl Guard for CallerAccess {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        own_project(request).into_iter().map(Ok).collect()
    }

    async fn load(mut request: Authenticated) -> Result<Self> {
        let project = match &request.caller().identity {
            Identity::Customer(_) | Identity::NamedToken(_) => None,
            Identity::Candidate(own) => {
                let key = keys::project(&own.company, own.project);
                request.batch.take(&key)?
            }
        };
        let revision = match &request.caller().identity {
            Identity::Customer(own) => Some(own.revision()),
            Identity::Candidate(own) => Some(own.revision()),
            Identity::NamedToken(_) => None,
        };
        let context = request.authorise_anyone();
        let context = match revision {
            Some(revision) => context.about_revision(revision),
            None => context,
        };
        Ok(Self { project, context })
    }
}

impl Guard for CandidateSelf {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        let company = claim(request).map(|claim| keys::company(&claim.company));
        own_project(request).into_iter().chain(company).map(Ok).collect()
    }

    async fn load(mut request: Authenticated) -> Result<Self> {
        let Identity::Candidate(candidate) = &request.caller().identity else {
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

fn own_project(request: &Request<'_>) -> Option<Key> {
    let claim = claim(request)?;
    match claim.account {
        Account::Customer { .. } => None,
        Account::Candidate { project, .. } => Some(keys::project(&claim.company, project)),
    }
}

fn claim(request: &Request<'_>) -> Option<Claim> {
    request.credential().ok()?.claim().cloned()
}

extract!(CallerAccess, Authenticated);
extract!(CandidateSelf, Candidate);
