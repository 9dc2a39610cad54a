//! Guards of a candidate and of the shares of one.

use std::marker::PhantomData;

use super::file::OwnerAccess;
use super::request::PathIds;
use super::{AdmittedRequest, AuthenticatedRequest, RequestGuard, UnauthenticatedRequest, extract};
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::file::Owner;
use crate::domain::id::{CustomerId, InvalidId, ShareId};
use crate::domain::policy::{Action, ActionGrant, CallerRelation};
use crate::domain::project::Project;
use crate::domain::upload::Upload;
use crate::error::{Error, Result};
use crate::store::{ItemKey, VersionedItem};

/// A caller who may do `A` with the candidate of the path.
pub struct CandidateAccess<A> {
    /// The company.
    pub company: VersionedItem<Company>,
    /// The candidate's project.
    pub project: VersionedItem<Project>,
    /// The candidate.
    pub candidate: VersionedItem<Candidate>,
    /// What the caller is to the candidate.
    pub standing: CallerRelation,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for CandidateAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.company(), request.path.project(), request.path.candidate()]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let (company, project) = (request.take(PathIds::company)?, request.take(PathIds::project)?);
        let candidate = request.take_candidate()?;
        let standing = request.caller().towards(&candidate, &project);
        let context = request.authorise_reader(Action::ReadCandidate, A::ACTION, &standing)?;
        let context = context.about(&candidate);
        Ok(Self { company, project, candidate, standing, context, action: PhantomData })
    }
}

impl<A: ActionGrant> OwnerAccess for CandidateAccess<A> {
    fn owner_in(path: &PathIds) -> Result<Owner, InvalidId> {
        Ok(Owner::Candidate { project: path.id("projectId")?, candidate: path.id("candidateId")? })
    }

    fn about(self, upload: &VersionedItem<Upload>) -> Self {
        Self { context: self.context.about(upload), ..self }
    }
}

/// A caller who may do `A` with the candidate of the path, and the share of the path.
pub struct ShareAccess<A> {
    /// The candidate's project.
    pub project: VersionedItem<Project>,
    /// The candidate.
    pub candidate: VersionedItem<Candidate>,
    /// The share.
    pub share: ShareId,
    /// The customer who may read the candidate by it.
    pub customer: CustomerId,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for ShareAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        CandidateAccess::<A>::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<Self> {
        let share = request.path.id::<ShareId>("shareId");
        let CandidateAccess { project, candidate, context, .. } = CandidateAccess::<A>::load(request).await?;
        let share = share.map_err(|_| Error::NotFound)?;
        let customer = *candidate.shares.get(&share).ok_or(Error::NotFound)?;
        let context = context.about_revision(AdmittedRequest::UNCHANGING);
        Ok(Self { project, candidate, share, customer, context, action: PhantomData })
    }
}

extract!(CandidateAccess<A: ActionGrant>);
extract!(ShareAccess<A: ActionGrant>);
