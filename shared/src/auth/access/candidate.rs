//! Guards of a candidate and of the shares of one.

use std::marker::PhantomData;

use super::file::OwnerAccess;
use super::request::Path;
use super::{Authenticated, Context, Guard, Request, extract};
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::file::Owner;
use crate::domain::id::{CustomerId, InvalidId, ShareId};
use crate::domain::policy::{Action, Grant, Standing};
use crate::domain::project::Project;
use crate::domain::upload::Upload;
use crate::error::{Error, Result};
use crate::store::{Key, Versioned};

/// A caller who may do `A` with the candidate of the path.
pub struct CandidateAccess<A> {
    /// The company.
    pub company: Versioned<Company>,
    /// The candidate's project.
    pub project: Versioned<Project>,
    /// The candidate.
    pub candidate: Versioned<Candidate>,
    /// What the caller is to the candidate.
    pub standing: Standing,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for CandidateAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        vec![request.path.company(), request.path.project(), request.path.candidate()]
    }

    async fn load(mut request: Authenticated) -> Result<Self> {
        let (company, project) = (request.take(Path::company)?, request.take(Path::project)?);
        let candidate = request.take_candidate()?;
        let standing = request.caller().towards(&candidate, &project);
        let context = request.authorise_reader(Action::ReadCandidate, A::ACTION, &standing)?;
        let context = context.about(&candidate);
        Ok(Self { company, project, candidate, standing, context, action: PhantomData })
    }
}

impl<A: Grant> OwnerAccess for CandidateAccess<A> {
    fn owner_in(path: &Path) -> Result<Owner, InvalidId> {
        Ok(Owner::Candidate { project: path.id("projectId")?, candidate: path.id("candidateId")? })
    }

    fn about(self, upload: &Versioned<Upload>) -> Self {
        Self { context: self.context.about(upload), ..self }
    }
}

/// A caller who may do `A` with the candidate of the path, and the share of the path.
pub struct ShareAccess<A> {
    /// The candidate's project.
    pub project: Versioned<Project>,
    /// The candidate.
    pub candidate: Versioned<Candidate>,
    /// The share.
    pub share: ShareId,
    /// The customer who may read the candidate by it.
    pub customer: CustomerId,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for ShareAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        CandidateAccess::<A>::keys(request)
    }

    async fn load(request: Authenticated) -> Result<Self> {
        let share = request.path.id::<ShareId>("shareId");
        let CandidateAccess { project, candidate, context, .. } = CandidateAccess::<A>::load(request).await?;
        let share = share.map_err(|_| Error::NotFound)?;
        let customer = *candidate.shares.get(&share).ok_or(Error::NotFound)?;
        let context = context.about_revision(Context::UNCHANGING);
        Ok(Self { project, candidate, share, customer, context, action: PhantomData })
    }
}

extract!(CandidateAccess<A: Grant>);
extract!(ShareAccess<A: Grant>);
