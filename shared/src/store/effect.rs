//! Access patterns of effects: noted with their cause, taken on by one at a time, erased when done.

use chrono::{DateTime, Utc};

use super::Store;
use super::due::{Due, DueCursor};
use super::item::{Entity, Versioned};
use super::keys::{self, Key};
use super::transaction::Transaction;
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::effect::Effect;
use crate::domain::project::Project;
use crate::domain::transition::Step;
use crate::error::{Error, Result};

impl Entity for Effect {
    fn key(&self) -> Key {
        keys::effect(&self.id)
    }

    fn due(&self) -> Option<(u8, DateTime<Utc>)> {
        Some((keys::effect_due_shard(&self.id), self.next_try_at?))
    }
}

impl Transaction {
    /// Notes the mail of a step that is the `version`th write of its candidate.
    pub(super) fn effect(&mut self, step: &Step, version: u64, now: DateTime<Utc>) -> Result<()> {
        let Some(mail) = step.mail else { return Ok(()) };
        let effect = Effect::new(mail, &step.candidate, version, now);
        self.create(&effect, Error::internal("a change has happened twice"))
    }
}

/// What an effect is about; parts that were deleted since are none.
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

    /// Effects of one shard that are to be tried at `now`.
    pub async fn due_effects(
        &self,
        shard: u8,
        now: DateTime<Utc>,
        from: Option<DueCursor>,
    ) -> Result<Due<Effect>> {
        self.due(shard, now, from).await
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

    /// What an effect is about, as it is now.
    pub async fn subject_of(&self, effect: &Effect) -> Result<Subject> {
        let candidate = keys::candidate(&effect.company, effect.project, effect.candidate);
        let project = keys::project(&effect.company, effect.project);
        let company = keys::company(&effect.company);
        let mut batch = self.get([candidate.clone(), project.clone(), company.clone()]).await?;
        Ok(Subject {
            candidate: batch.take(&candidate)?,
            project: batch.take(&project)?,
            company: batch.take(&company)?,
        })
    }
}
