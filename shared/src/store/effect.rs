//! Access patterns of effects: noted with their cause, taken on by one at a time, erased when done.

use chrono::{DateTime, TimeDelta, Utc};

use super::Store;
use super::due::{Due, DueCursor};
use super::item::{EXPIRES_AT, Entity, VERSION, Versioned, number};
use super::keys::{self, Key};
use super::transaction::{Change, Transaction};
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
            Some(next) => Some((keys::effect_due_shard(&self.id), next)),
            None => Some((keys::given_up_shard(&self.id), self.given_up_at?)),
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
            Some(effect) => self.create(&effect, Error::internal("a change has happened twice")),
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

/// The identifier of the effect whose item has this partition key, if it is one of an effect.
pub fn effect_in(partition: &str) -> Option<&str> {
    keys::effect_in(partition)
}

impl Store {
    /// The effect with this identifier, unless it is done.
    pub async fn effect(&self, id: &str) -> Result<Option<Versioned<Effect>>> {
        let key = keys::effect(id);
        self.get([key.clone()]).await?.take(&key)
    }

    /// Notes the effect of a forgotten password, at `now`, by the hash of the name that was given.
    ///
    /// # Errors
    /// [`Error::Changed`] when the same name was given less than five minutes ago, whatever became of it.
    pub(crate) fn create_reset(&self, effect: &Effect, name: &SecretHash, now: DateTime<Utc>) -> Transaction {
        let values = [(":now", now), (":end", now + RESET_PAUSE), (":before", now - RESET_PAUSE)];
        let values = values.map(|(name, at)| (name.to_owned(), number(at.timestamp())));
        let request = Change {
            expression: format!("SET asked_at = :now, {EXPIRES_AT} = :end ADD {VERSION} :one"),
            condition: Some("attribute_not_exists(asked_at) OR asked_at <= :before".to_owned()),
            names: Vec::new(),
            values: values.into_iter().chain([(":one".to_owned(), number(1))]).collect(),
        };
        let mut transaction = self.transaction();
        transaction.update(keys::reset_request(name), request, Error::Changed);
        transaction.effect(Some(effect.clone()));
        transaction
    }

    /// Effects of one shard that are to be tried at `now`.
    pub async fn due_effects(
        &self,
        shard: u8,
        now: DateTime<Utc>,
        from: Option<DueCursor>,
    ) -> Result<Due<Effect>> {
        self.due(shard, now, from).await
    }

    /// Effects of one of [`given_up_shards`](Self::given_up_shards) that were given up by `now`, the longest ago first.
    pub async fn given_up_effects(
        &self,
        shard: u8,
        now: DateTime<Utc>,
        from: Option<DueCursor>,
    ) -> Result<Due<Effect>> {
        let mut found = self.due(shard, now, from).await?;
        found.rows.retain(|effect: &Versioned<Effect>| effect.is_given_up());
        Ok(found)
    }

    /// The partitions of the index in which effects stand that were given up.
    pub fn given_up_shards() -> impl Iterator<Item = u8> {
        keys::given_up_shards()
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
