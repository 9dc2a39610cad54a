//! Access patterns of effects: noted with their cause, taken on by one at a time, erased when done.

use chrono::{DateTime, TimeDelta, Utc};

use super::Store;
use super::condition::Change;
use super::item::{EXPIRES_AT, Entity, Versioned, number};
use super::keys::{self, Key, Queue};
use super::transaction::Transaction;
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::effect::Effect;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::project::Project;
use crate::domain::secret::SecretHash;
use crate::error::{Error, Result};

/// How long a name must wait before it can be given again for a forgotten password.
const RESET_PAUSE: TimeDelta = TimeDelta::minutes(5);

impl Entity for Effect {
    fn key(&self) -> Key {
        keys::effect(&self.id)
    }

    fn due(&self) -> Option<(u8, DateTime<Utc>)> {
        match self.next_try_at {
            Some(next) => Some((Queue::Effects.shard_of_effect(&self.id), next)),
            None => Some((Queue::GivenUpEffects.shard_of_effect(&self.id), self.given_up_at?)),
        }
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        self.forgotten_at()
    }
}

impl Transaction {
    /// Notes an effect of what this transaction does.
    pub(super) fn effect(&mut self, effect: Option<Effect>) {
        match effect {
            Some(effect) => self.create_unless(&effect, Error::internal("a change has happened twice")),
            None => (),
        }
    }
}

/// What a mail to a candidate is about; parts that were deleted since are none.
#[derive(Debug)]
pub struct Subject {
    /// The candidate.
    pub candidate: Option<Versioned<Candidate>>,
    /// Its project.
    pub project: Option<Versioned<Project>>,
    /// Its company.
    pub company: Option<Versioned<Company>>,
}

impl Store {
    /// The effect with this identifier, unless it is done.
    pub async fn effect(&self, id: &str) -> Result<Option<Versioned<Effect>>> {
        self.one(keys::effect(id)).await
    }

    /// Notes the effect of a forgotten password, at `now`, by the hash of the name that was given.
    ///
    /// # Errors
    /// [`Error::Changed`] when the same name was given less than five minutes ago, whatever became of it.
    pub(crate) fn create_reset(&self, effect: &Effect, name: &SecretHash, now: DateTime<Utc>) -> Transaction {
        let values = [(":now", now), (":end", now + RESET_PAUSE), (":before", now - RESET_PAUSE)];
        let values = values.map(|(name, at)| (name, number(at.timestamp())));
        let request = Change::set(&format!("SET asked_at = :now, {EXPIRES_AT} = :end"), values)
            .when("attribute_not_exists(asked_at) OR asked_at <= :before");
        let mut transaction = self.transaction();
        transaction.update(keys::reset_request(name), request, Error::Changed);
        transaction.effect(Some(effect.clone()));
        transaction
    }

    /// Puts `after` in place of an effect.
    ///
    /// # Errors
    /// [`Error::Changed`] when somebody else has it.
    pub async fn update_effect(
        &self,
        before: &Versioned<Effect>,
        after: Effect,
    ) -> Result<Versioned<Effect>> {
        self.replace(before, after).await
    }

    /// Erases an effect that is done.
    ///
    /// # Errors
    /// [`Error::Changed`] when somebody else has it.
    pub async fn finish_effect(&self, effect: &Versioned<Effect>) -> Result<()> {
        self.erase(effect).await
    }

    /// What a mail to a candidate is about, as it is now.
    pub async fn candidate_subject(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<Subject> {
        let candidate = keys::candidate(company, project, candidate);
        let project = keys::project(company, project);
        let company = keys::company(company);
        let mut batch = self.get([candidate.clone(), project.clone(), company.clone()]).await?;
        Ok(Subject {
            candidate: batch.take(&candidate)?,
            project: batch.take(&project)?,
            company: batch.take(&company)?,
        })
    }
}
