//! Plans the change of each candidate of a bulk request, by the rules of the single requests.

use shared::Error;
use shared::domain::candidate::{Candidate, CandidateStatus};
use shared::domain::transition::{AdvanceTerms, CandidateAction, CandidateChange};

use super::BulkAccess;
use super::request::{BulkAction, BulkRequest};
use super::view::STATUS_CHANGED;

pub(super) struct EntryPlan {
    /// The change to write; `None` if there is nothing to change.
    pub(super) change: Option<CandidateChange>,
    /// Why the action is refused. A new deadline in `change` is still written.
    pub(super) refusal: Option<Error>,
}

impl EntryPlan {
    /// The candidate, who is now as `before`, once the plan is carried out.
    pub(super) fn after<'a>(&'a self, before: &'a Candidate) -> &'a Candidate {
        self.change.as_ref().map_or(before, |change| &change.candidate)
    }
}

/// Plans what all entries of a request have in common.
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

    /// Plans the change of a candidate as they are now, without writing it.
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

    /// Sets the deadline first, as the candidate's own request would; the advance after it makes one write of both.
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

    /// The change that sets the deadline before an advance; `None` if there is none to set.
    pub(super) async fn deadline_change(
        &self,
        candidate: &Candidate,
    ) -> Result<Option<CandidateChange>, Error> {
        match self.action.deadline_before() {
            Some(deadline) => self.change(CandidateAction::SetDeadline(deadline), candidate).await,
            None => Ok(None),
        }
    }

    /// Whether the candidate has the deadline that is set before another action.
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
