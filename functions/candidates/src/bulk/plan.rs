//! Plans the changes of candidates in a bulk request, with the rules of single requests.

use shared::Error;
use shared::domain::candidate::{Candidate, CandidateStatus};
use shared::domain::transition::{AdvanceTerms, CandidateAction, CandidateChange};

use super::BulkAccess;
use super::request::{BulkAction, BulkRequest};
use super::view::STATUS_CHANGED;

pub(super) struct EntryPlan {
    /// The change to write; `None` if nothing changes.
    pub(super) change: Option<CandidateChange>,
    /// The reason if the action is refused. Even then, `change` may hold a new deadline, which is written.
    pub(super) refusal: Option<Error>,
}

impl EntryPlan {
    /// The candidate after the plan; `before` is their state now.
    pub(super) fn after<'a>(&'a self, before: &'a Candidate) -> &'a Candidate {
        self.change.as_ref().map_or(before, |change| &change.candidate)
    }
}

/// Plans entries; holds what all entries of a request share.
pub(super) struct Planner<'a> {
    access: &'a BulkAccess,
    action: &'a BulkAction,
    status: Option<CandidateStatus>,
    terms: AdvanceTerms,
}

impl<'a> Planner<'a> {
    pub(super) fn new(access: &'a BulkAccess, request: &'a BulkRequest) -> Self {
        let terms = AdvanceTerms::of(&access.target.project, &access.target.company);
        Self { access, action: &request.action, status: request.wanted.status(), terms }
    }

    /// Plans a candidate's change, without writing it.
    pub(super) async fn plan(&self, candidate: &Candidate) -> EntryPlan {
        if self.status.is_some_and(|status| candidate.status != status) {
            return EntryPlan { change: None, refusal: Some(STATUS_CHANGED.into()) };
        }
        let action = match self.action {
            BulkAction::Advance { .. } => return self.plan_advance(candidate).await,
            BulkAction::SetDeadline(deadline) => CandidateAction::SetDeadline(*deadline),
            BulkAction::Remind => CandidateAction::Remind,
            BulkAction::Skip => CandidateAction::Skip,
            BulkAction::Cancel(request) => request.action(self.access),
        };
        match self.change(action, candidate).await {
            Ok(change) => EntryPlan { change, refusal: None },
            Err(error) => EntryPlan { change: None, refusal: Some(error) },
        }
    }

    /// Plans setting the deadline and then advancing, as two single requests would. Both are one write.
    async fn plan_advance(&self, candidate: &Candidate) -> EntryPlan {
        let deadline = match self.deadline_change(candidate).await {
            Ok(deadline) => deadline,
            Err(error) => return EntryPlan { change: None, refusal: Some(error) },
        };
        let with_deadline = deadline.as_ref().map_or(candidate, |change| &change.candidate);
        match self.change(CandidateAction::Advance, with_deadline).await {
            Ok(change) => EntryPlan { change, refusal: None },
            Err(error) => EntryPlan { change: deadline, refusal: Some(error) },
        }
    }

    /// The change that sets the deadline before an advance; `None` if the request sets none or the candidate has it.
    pub(super) async fn deadline_change(
        &self,
        candidate: &Candidate,
    ) -> Result<Option<CandidateChange>, Error> {
        match self.action.deadline_before() {
            Some(deadline) => self.change(CandidateAction::SetDeadline(deadline), candidate).await,
            None => Ok(None),
        }
    }

    /// Whether the candidate has the deadline that an advance was to set before.
    pub(super) fn has_deadline(&self, candidate: &Candidate) -> bool {
        let deadline = self.action.deadline_before();
        deadline.is_some() && candidate.profile.deadline == deadline
    }

    async fn change(
        &self,
        action: CandidateAction,
        candidate: &Candidate,
    ) -> Result<Option<CandidateChange>, Error> {
        let key = self.access.new_access_key(candidate.project, candidate.id).await?;
        Ok(action.change(candidate, &self.terms, self.access.now, key)?)
    }
}
