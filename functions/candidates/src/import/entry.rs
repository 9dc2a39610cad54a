//! One entry of an import: one candidate, by one transaction.

use std::collections::HashMap;

use shared::domain::Refusal;
use shared::domain::candidate::{Candidate, Profile};
use shared::domain::id::CandidateId;
use shared::domain::transition::{Actor, PROJECT_NOT_RUNNING, Step, Terms};
use shared::http::Turn;
use shared::store::Versioned;
use shared::{Error, Result};

use super::Access;

/// What became of an entry.
pub(super) enum Outcome {
    /// Created and invited.
    Invited(CandidateId),
    /// The candidate is there but not invited, and why; none when nothing stands in the way any more.
    New(CandidateId, Option<Refusal>),
    /// There is no candidate.
    Failed(Error),
    /// There was no time for it.
    Pending,
}

impl Outcome {
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
pub(super) struct Importer<'a> {
    pub(super) access: &'a Access,
    pub(super) turn: &'a Turn,
    pub(super) terms: Terms,
    /// The candidates that were created before, when the request was not finished.
    pub(super) there: HashMap<CandidateId, Versioned<Candidate>>,
}

impl Importer<'_> {
    /// Creates the candidate of an entry, invited if it can be; one that is there already is left as it is.
    pub(super) async fn import(&self, id: CandidateId, profile: Profile) -> Outcome {
        if let Some(candidate) = self.there.get(&id) {
            return self.found(candidate);
        }
        let (company, project) = (self.access.company_id().clone(), self.access.project.id);
        let by = self.access.caller.customer();
        let outcome = self.create(Candidate::new(id, company, project, profile, by)).await;
        if let Err(error) = &outcome
            && error.status().is_server_error()
        {
            tracing::warn!(target: "import", candidate = %id, %error, "an entry was not done");
        }
        outcome.unwrap_or_else(Outcome::Failed)
    }

    async fn create(&self, candidate: Candidate) -> Result<Outcome> {
        let id = candidate.id;
        let refusal = match self.advance(&candidate) {
            Ok(step) => match self.create_as(&step).await {
                Ok(()) => return Ok(Outcome::Invited(id)),
                // Another way than by the terms, which are a moment old.
                Err(Error::Refused(PROJECT_NOT_RUNNING)) => PROJECT_NOT_RUNNING,
                Err(error) => return self.unless_there(id, error).await,
            },
            Err(refusal) => refusal,
        };
        match self.create_as(&Step::from(candidate)).await {
            Ok(()) => Ok(Outcome::New(id, Some(refusal))),
            Err(error) => self.unless_there(id, error).await,
        }
    }

    async fn create_as(&self, step: &Step) -> Result<()> {
        self.turn.commit(self.turn.store.create_candidate(step, self.access.now)).await
    }

    /// What became of an entry that could not be created: somebody else who is at the same request may have done it.
    async fn unless_there(&self, id: CandidateId, error: Error) -> Result<Outcome> {
        let Error::Changed = error else { return Err(error) };
        let found =
            self.turn.store.candidates(self.access.company_id(), self.access.project.id, [id]).await?;
        found.get(&id).map(|candidate| self.found(candidate)).ok_or(error)
    }

    fn found(&self, candidate: &Candidate) -> Outcome {
        match candidate.invited_at {
            Some(_) => Outcome::Invited(candidate.id),
            None => Outcome::New(candidate.id, self.advance(candidate).err()),
        }
    }

    fn advance(&self, candidate: &Candidate) -> Result<Step, Refusal> {
        let key = self.access.new_access_key(candidate.project, candidate.id);
        candidate.clone().advance(Actor::Manager, &self.terms, self.access.now, key)
    }
}
