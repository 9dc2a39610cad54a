//! Targets for the evaluations of a candidate: all, one, and a veto.

use crate::auth::access::request::PathIds;
use crate::auth::access::targets::candidate::CandidateTarget;
use crate::auth::access::{
    Admitted, AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest,
};
use crate::domain::account::Account;
use crate::domain::candidate::Candidate;
use crate::domain::evaluation::{EVALUATE_FIRST, Evaluation, Veto};
use crate::domain::id::{CustomerId, InvalidId, VetoId};
use crate::domain::policy::{Action, CallerRelation};
use crate::domain::project::Project;
use crate::domain::questionnaire::Questionnaire;
use crate::error::{Error, Result};
use crate::http::exchange::UNCHANGING;
use crate::store::{ItemKey, VersionedItem};

/// A candidate with their project and what evaluators rate.
pub struct RatedCandidate {
    pub project: VersionedItem<Project>,
    /// The questions and criteria that evaluators rate.
    pub questionnaire: VersionedItem<Questionnaire>,
    pub candidate: VersionedItem<Candidate>,
}

impl RatedCandidate {
    /// Whether `customer` is an evaluator who has yet to evaluate the candidate.
    fn is_hidden_from(&self, customer: Option<CustomerId>) -> bool {
        self.candidate.is_hidden_from(customer, &self.project)
    }
}

/// The target for all evaluations of a candidate.
pub enum CandidateEvaluations {}

impl RequestTarget for CandidateEvaluations {
    type Loaded = RatedCandidate;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let mut keys = Candidate::keys(request);
        keys.push(request.path.questionnaire());
        keys
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, RatedCandidate)> {
        let (request, rated, _) = load_rated(request).await?;
        Ok((request, rated))
    }
}

async fn load_rated(
    mut request: AuthenticatedRequest,
) -> Result<(AdmittedRequest, RatedCandidate, CallerRelation)> {
    let questionnaire = request.take_questionnaire()?;
    let (mut request, CandidateTarget { project, candidate, relation, .. }) =
        Candidate::load(request).await?;
    // Reset the revision, which is the candidate's: evaluations have their own.
    request.exchange.revision = None;
    Ok((request, RatedCandidate { project, questionnaire, candidate }, relation))
}

impl<A> Admitted<CandidateEvaluations, A> {
    /// Whether the caller is an evaluator who has yet to evaluate the candidate.
    pub fn is_blind(&self) -> bool {
        self.target.is_hidden_from(self.caller.customer())
    }

    /// Refuses an evaluator who has yet to evaluate the candidate.
    pub fn require_sight(&self) -> Result<()> {
        if self.is_blind() { Err(Error::Forbidden(EVALUATE_FIRST)) } else { Ok(()) }
    }
}

/// One evaluation of a candidate: by the customer in the path or, if the path names none, by the caller.
pub struct EvaluationTarget {
    /// The candidate and their project.
    pub rated: RatedCandidate,
    pub evaluator: CustomerId,
    /// The stored evaluation, even if withdrawn; `None` if the evaluator has never saved one.
    pub evaluation: Option<VersionedItem<Evaluation>>,
}

impl EvaluationTarget {
    /// Whether the evaluator has saved an evaluation, or an event of the platform has completed it.
    pub fn exists(&self) -> bool {
        self.evaluation.as_ref().is_some_and(|stored| !stored.is_withdrawn) || self.is_completed()
    }

    fn is_completed(&self) -> bool {
        self.rated.candidate.completed_at(self.evaluator).is_some()
    }
}

impl RequestTarget for Evaluation {
    type Loaded = EvaluationTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let mut keys = CandidateEvaluations::keys(request);
        keys.push(evaluator(&request.path, own_id(request)).and_then(|by| request.path.evaluation(by)));
        keys
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, EvaluationTarget)> {
        let evaluator = evaluator(&request.path, request.caller().customer());
        let evaluation = match evaluator.and_then(|by| request.path.evaluation(by)) {
            Ok(key) => request.batch.take::<Self>(&key)?,
            Err(_) => None,
        };
        let is_read = request.is_for(Action::ReadProject);
        let (request, rated, relation) = load_rated(request).await?;
        let evaluator = evaluator.map_err(|_| Error::NotFound)?;
        let caller = request.caller.customer();
        // A token that writes for evaluators must be able to read what it writes, because it needs the `ETag` for `If-Match`.
        let writes_for_others = matches!(relation, CallerRelation::NamedToken { .. })
            && Action::Evaluate.is_allowed_in_full(&relation);
        let may_write = writes_for_others || caller == Some(evaluator);
        let is_blind = rated.is_hidden_from(caller);
        let request = request.about_revision(rated.candidate.revision_of(evaluator));
        let target = EvaluationTarget { rated, evaluator, evaluation };
        match (is_read, may_write) {
            (true, true) if target.exists() => Ok((request, target)),
            (true, false) if is_blind => Err(Error::Forbidden(EVALUATE_FIRST)),
            (true, _) if target.is_completed() => Ok((request, target)),
            (true, _) => Err(Error::NotFound),
            (false, true) => Ok((request, target)),
            (false, false) => Err(request.lacks(Action::Evaluate)),
        }
    }
}

/// A veto against a candidate.
pub struct VetoTarget {
    /// The candidate and their project.
    pub rated: RatedCandidate,
    /// The customer who has vetoed.
    pub evaluator: CustomerId,
}

impl RequestTarget for Veto {
    type Loaded = VetoTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        CandidateEvaluations::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, VetoTarget)> {
        let id = request.path.id::<VetoId>("vetoId");
        let (request, rated, _) = load_rated(request).await?;
        let id = id.map_err(|_| Error::NotFound)?;
        let veto = rated.candidate.vetos().find(|(_, veto)| *veto == id);
        let (evaluator, _) = veto.ok_or(Error::NotFound)?;
        if rated.is_hidden_from(request.caller.customer()) {
            return Err(Error::Forbidden(EVALUATE_FIRST));
        }
        Ok((request.about_revision(UNCHANGING), VetoTarget { rated, evaluator }))
    }
}

/// The customer in the path or, if the path names none, the caller.
fn evaluator(path: &PathIds, own: Option<CustomerId>) -> Result<CustomerId, InvalidId> {
    match path.text("customerId") {
        Some(_) => path.id("customerId"),
        None => own.ok_or(InvalidId),
    }
}

/// The customer that the request's credential claims; `None` for other callers.
fn own_id(request: &UnauthenticatedRequest<'_>) -> Option<CustomerId> {
    match request.claim()?.account {
        Account::Customer { customer } => Some(customer),
        Account::Candidate { .. } => None,
    }
}
