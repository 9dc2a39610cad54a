//! Targets that concern only the caller and need no permission.

use crate::auth::access::{AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest};
use crate::auth::caller::CallerIdentity;
use crate::auth::{AdmissionRule, HasAdmission};
use crate::domain::account::Account;
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::id::InvalidId;
use crate::domain::policy::NOT_ALLOWED;
use crate::domain::project::Project;
use crate::error::{Error, Result};
use crate::store::{ItemKey, VersionedItem, keys};

/// Admits every authenticated caller.
pub enum AnyCaller {}

impl HasAdmission for AnyCaller {
    const ADMISSION: AdmissionRule = AdmissionRule::Authenticated;
}

/// Admits candidates.
pub enum AnyCandidate {}

impl HasAdmission for AnyCandidate {
    const ADMISSION: AdmissionRule = AdmissionRule::Candidate;
}

/// The caller's own account.
pub struct OwnAccount {
    /// The project of a candidate; `None` for staff and named tokens.
    pub project: Option<VersionedItem<Project>>,
}

/// The candidate who is calling, with project and company.
pub struct OwnCandidacy {
    pub candidate: VersionedItem<Candidate>,
    pub project: VersionedItem<Project>,
    pub company: VersionedItem<Company>,
}

impl RequestTarget for OwnAccount {
    type Loaded = Self;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        own_project(request).into_iter().map(Ok).collect()
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, Self)> {
        let (key, revision) = match &request.caller().identity {
            CallerIdentity::Customer(own) => (None, Some(own.revision())),
            CallerIdentity::Candidate(own) => {
                (Some(keys::project(&own.company, own.project)), Some(own.revision()))
            }
            CallerIdentity::NamedToken(_) => (None, None),
        };
        let project = match key {
            Some(key) => request.batch.take(&key)?,
            None => None,
        };
        let request = request.authorise_anyone();
        Ok((revision.into_iter().fold(request, AdmittedRequest::about_revision), Self { project }))
    }
}

impl RequestTarget for OwnCandidacy {
    type Loaded = Self;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let company = request.claim().map(|claim| keys::company(&claim.company));
        own_project(request).into_iter().chain(company).map(Ok).collect()
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, Self)> {
        let CallerIdentity::Candidate(candidate) = &request.caller().identity else {
            return Err(Error::Forbidden(NOT_ALLOWED));
        };
        let candidate = candidate.clone();
        let company = request.take(Ok(keys::company(&candidate.company)))?;
        let project = request.take(Ok(keys::project(&candidate.company, candidate.project)))?;
        let request = request.authorise_anyone().about(&candidate);
        Ok((request, Self { candidate, project, company }))
    }
}

fn own_project(request: &UnauthenticatedRequest<'_>) -> Option<ItemKey> {
    let claim = request.claim()?;
    match claim.account {
        Account::Customer { .. } => None,
        Account::Candidate { project, .. } => Some(keys::project(&claim.company, project)),
    }
}
