//! Guards of the evaluations of a candidate.

use std::marker::PhantomData;

use super::candidate::CandidateAccess;
use super::interview::interview_of;
use super::request::PathIds;
use super::{AdmittedRequest, AuthenticatedRequest, RequestGuard, UnauthenticatedRequest, extract};
use crate::domain::account::Account;
use crate::domain::candidate::Candidate;
use crate::domain::evaluation::{EVALUATE_FIRST, Evaluation};
use crate::domain::id::{CustomerId, InvalidId, VetoId};
use crate::domain::interview::Interview;
use crate::domain::policy::{Action, ActionGrant, CallerRelation, NOT_ALLOWED};
use crate::domain::project::Project;
use crate::error::{Error, Result};
use crate::store::{ItemKey, VersionedItem};

/// A caller who may do `A` with the evaluations of the candidate of the path.
pub struct EvaluationsAccess<A> {
    /// The candidate's project.
    pub project: VersionedItem<Project>,
    /// What is rated in it.
    pub interview: Interview,
    /// The candidate.
    pub candidate: VersionedItem<Candidate>,
    standing: CallerRelation,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for EvaluationsAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let mut keys = CandidateAccess::<A>::keys(request);
        keys.push(request.path.interview());
        keys
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let stored = request.take_interview()?;
        let (project, candidate) = (request.take::<Project>(PathIds::project)?, request.take_candidate()?);
        let interview = interview_of(&project, stored.as_ref());
        let standing = request.caller().towards(&candidate, &project);
        let context = request.authorise_reader(Action::ReadCandidate, A::ACTION, &standing)?;
        Ok(Self { project, interview, candidate, standing, context, action: PhantomData })
    }
}

impl<A> EvaluationsAccess<A> {
    /// Whether the caller is an evaluator who has yet to evaluate the candidate.
    pub fn is_blind(&self) -> bool {
        self.candidate.is_hidden_from(self.context.caller.customer(), &self.project)
    }

    /// Refuses an evaluator who has yet to evaluate the candidate.
    pub fn require_sight(&self) -> Result<()> {
        if self.is_blind() { Err(Error::Forbidden(EVALUATE_FIRST)) } else { Ok(()) }
    }

    /// Whether the caller may write the evaluation of `evaluator`, and so read it before it is completed.
    fn writes_for(&self, evaluator: CustomerId) -> bool {
        match self.standing {
            // A token writes for evaluators, and a client that sends `If-Match` must have read.
            CallerRelation::NamedToken => true,
            _ => self.context.caller.customer() == Some(evaluator),
        }
    }
}

/// A caller who may do `A` with one evaluation of the candidate of the path: that of the customer of the path or, without
/// one, their own.
pub struct EvaluationAccess<A> {
    /// The candidate's project.
    pub project: VersionedItem<Project>,
    /// What is rated in it.
    pub interview: Interview,
    /// The candidate.
    pub candidate: VersionedItem<Candidate>,
    /// The evaluator.
    pub evaluator: CustomerId,
    /// What the evaluator has written; `None` if they have not.
    pub evaluation: Option<VersionedItem<Evaluation>>,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A> EvaluationAccess<A> {
    /// Whether there is an evaluation: one that was saved, or that an event has completed.
    pub fn exists(&self) -> bool {
        self.evaluation.is_some() || self.candidate.completed_at(self.evaluator).is_some()
    }
}

impl<A: ActionGrant> RequestGuard for EvaluationAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let mut keys = EvaluationsAccess::<A>::keys(request);
        keys.push(evaluator(&request.path, own(request)).and_then(|by| request.path.evaluation(by)));
        keys
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let evaluator = evaluator(&request.path, request.caller().customer());
        let evaluation = evaluator.and_then(|by| request.path.evaluation(by));
        let evaluation =
            evaluation.ok().map(|key| request.batch.take::<Evaluation>(&key)).transpose()?.flatten();
        let access = EvaluationsAccess::<A>::load(request).await?;
        let evaluator = evaluator.map_err(|_| Error::NotFound)?;
        let (writes, is_blind) = (access.writes_for(evaluator), access.is_blind());
        let EvaluationsAccess { project, interview, candidate, context, action, .. } = access;
        let context = context.about_revision(candidate.revision_of(evaluator));
        let access = Self { project, interview, candidate, evaluator, evaluation, context, action };
        match A::ACTION {
            Action::ReadProject if writes && access.exists() => Ok(access),
            Action::ReadProject if is_blind && !writes => Err(Error::Forbidden(EVALUATE_FIRST)),
            Action::ReadProject if access.candidate.completed_at(evaluator).is_some() => Ok(access),
            Action::ReadProject => Err(Error::NotFound),
            _ if writes => Ok(access),
            _ => Err(Error::Forbidden(NOT_ALLOWED)),
        }
    }
}

/// A caller who may do `A` with the veto of the path.
pub struct VetoAccess<A> {
    /// The candidate's project.
    pub project: VersionedItem<Project>,
    /// What is rated in it.
    pub interview: Interview,
    /// The candidate.
    pub candidate: VersionedItem<Candidate>,
    /// Who has vetoed.
    pub evaluator: CustomerId,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for VetoAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        EvaluationsAccess::<A>::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<Self> {
        let id = request.path.id::<VetoId>("vetoId");
        let access = EvaluationsAccess::<A>::load(request).await?;
        let id = id.map_err(|_| Error::NotFound)?;
        let veto = access.candidate.vetos().find(|(_, veto)| *veto == id);
        let (evaluator, _) = veto.ok_or(Error::NotFound)?;
        access.require_sight()?;
        let EvaluationsAccess { project, interview, candidate, context, action, .. } = access;
        let context = context.about_revision(AdmittedRequest::UNCHANGING);
        Ok(Self { project, interview, candidate, evaluator, context, action })
    }
}

/// The customer of the path or, without one, the caller.
fn evaluator(path: &PathIds, own: Option<CustomerId>) -> Result<CustomerId, InvalidId> {
    match path.text("customerId") {
        Some(_) => path.id("customerId"),
        None => own.ok_or(InvalidId),
    }
}

/// The customer whom the credential of a request claims.
fn own(request: &UnauthenticatedRequest<'_>) -> Option<CustomerId> {
    match request.credential().ok()?.claim()?.account {
        Account::Customer { customer } => Some(customer),
        Account::Candidate { .. } => None,
    }
}

extract!(EvaluationsAccess<A: ActionGrant>);
extract!(EvaluationAccess<A: ActionGrant>);
extract!(VetoAccess<A: ActionGrant>);
