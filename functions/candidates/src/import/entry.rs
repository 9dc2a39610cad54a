//! One entry of an import: one candidate, by one transaction.

use std::collections::HashMap;

use shared::domain::Refusal;
use shared::domain::candidate::{Candidate, CandidateProfile};
use shared::domain::id::CandidateId;
use shared::domain::transition::{Actor, AdvanceTerms, PROJECT_NOT_RUNNING, TransitionResult};
use shared::http::IdempotentRun;
use shared::store::VersionedItem;
use shared::{Error, Result};

use super::ImportAccess;

/// What became of an entry.
pub(super) enum ImportEntryResult {
    /// Created and invited.
    Invited(CandidateId),
    /// The candidate exists but is not invited, with the reason; `None` once there is no reason left.
    New(CandidateId, Option<Refusal>),
    /// There is no candidate.
    Failed(Error),
    /// There was no time for it.
    Pending,
}

impl ImportEntryResult {
    /// Whether it may come out better another time, with the same entry.
    pub(super) fn is_worth_a_repeat(&self) -> bool {
        match self {
            Self::Invited(_) | Self::New(..) => false,
            Self::Pending => true,
            Self::Failed(error) => error.status().is_server_error(),
        }
    }
}

/// What all entries have in common.
pub(super) struct ImportContext<'a> {
    pub(super) access: &'a ImportAccess,
    pub(super) turn: &'a IdempotentRun,
    pub(super) terms: AdvanceTerms,
    /// The candidates that were created before, when the request was not finished.
    pub(super) there: HashMap<CandidateId, VersionedItem<Candidate>>,
}

impl ImportContext<'_> {
    /// Creates the candidate of an entry, invited if it can be; one that is there already is left as it is.
    pub(super) async fn import(&self, id: CandidateId, profile: CandidateProfile) -> ImportEntryResult {
        if let Some(candidate) = self.there.get(&id) {
            return self.found(candidate);
        }
        let (company, project) = (self.access.company_id().clone(), self.access.target.project.id);
        let by = self.access.caller.customer();
        let outcome = self.create(Candidate::new(id, company, project, profile, by)).await;
        if let Err(error) = &outcome
            && error.status().is_server_error()
        {
            tracing::warn!(target: "import", candidate = %id, %error, "an entry was not done");
        }
        outcome.unwrap_or_else(ImportEntryResult::Failed)
    }

    async fn create(&self, candidate: Candidate) -> Result<ImportEntryResult> {
        let id = candidate.id;
        let refusal = match self.advance(&candidate) {
            Ok(step) => match self.create_as(&step).await {
                Ok(()) => return Ok(ImportEntryResult::Invited(id)),
                // Another way than by the terms, which are a moment old.
                Err(Error::Refused(PROJECT_NOT_RUNNING)) => PROJECT_NOT_RUNNING,
                Err(error) => return self.unless_there(id, error).await,
            },
            Err(refusal) => refusal,
        };
        match self.create_as(&TransitionResult::from(candidate)).await {
            Ok(()) => Ok(ImportEntryResult::New(id, Some(refusal))),
            Err(error) => self.unless_there(id, error).await,
        }
    }

    async fn create_as(&self, step: &TransitionResult) -> Result<()> {
        self.turn.commit(self.turn.store.create_candidate(step, self.access.now)).await
    }

    /// The result of an entry that could not be created: a concurrent repeat of the request may have created it.
    async fn unless_there(&self, id: CandidateId, error: Error) -> Result<ImportEntryResult> {
        let Error::Changed = error else { return Err(error) };
        let found =
            self.turn.store.candidates(self.access.company_id(), self.access.target.project.id, [id]).await?;
        found.get(&id).map(|candidate| self.found(candidate)).ok_or(error)
    }

    fn found(&self, candidate: &Candidate) -> ImportEntryResult {
        match candidate.invited_at {
            Some(_) => ImportEntryResult::Invited(candidate.id),
            None => ImportEntryResult::New(candidate.id, self.advance(candidate).err()),
        }
    }

    fn advance(&self, candidate: &Candidate) -> Result<TransitionResult, Refusal> {
        let key = self.access.new_access_key(candidate.project, candidate.id);
        candidate.clone().advance(Actor::Manager, &self.terms, self.access.now, key)
    }
}
