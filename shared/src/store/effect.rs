//! Access patterns of effects: each is created with its cause, leased by one worker at a time, and deleted when done.

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::try_join_all;
use futures_util::stream::TryStreamExt as _;

use super::due::DueQueue;
use super::table::handle::Store;
use super::table::item::{self, DueEntry, EXPIRES_AT, StoredEntity, VersionedItem, number};
use super::table::keys::{self, DUE, ItemKey};
use super::table::read::query::Query;
use super::table::write::condition::AttributeUpdate;
use super::table::write::transaction::Transaction;
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::effect::Effect;
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::project::Project;
use crate::domain::questionnaire::Questionnaire;
use crate::domain::secret::SecretHash;
use crate::error::{Error, Result};

/// How many entries of the index are in memory at once.
const READ_TOGETHER: usize = 1000;

/// The minimum time between two password reset requests for one name.
const RESET_PAUSE: TimeDelta = TimeDelta::minutes(5);

impl StoredEntity for Effect {
    fn key(&self) -> ItemKey {
        keys::effect(&self.id)
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let (queue, at) = match self.work.indexed_at() {
            Some(next) => (DueQueue::Effects, next),
            None => (DueQueue::GivenUpEffects, self.given_up_at?),
        };
        Some(DueEntry { shard: queue.shard_of_text(&self.id), at, company: &self.company })
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        self.forgotten_at()
    }
}

impl Transaction {
    pub(super) fn effect(&mut self, effect: Option<Effect>) {
        if let Some(effect) = effect {
            self.create_unless(&effect, || Error::internal("a change has happened twice"));
        }
    }
}

/// What a mail to a candidate needs. Deleted parts are `None`.
#[derive(Debug)]
pub struct MailSubject {
    pub candidate: Option<VersionedItem<Candidate>>,
    pub project: Option<VersionedItem<Project>>,
    /// The questions and criteria of the project.
    pub questionnaire: Option<VersionedItem<Questionnaire>>,
    /// The company that the mail is from.
    pub company: Option<VersionedItem<Company>>,
}

impl Store {
    /// Reads an effect; `None` once it is done.
    pub async fn effect(&self, id: &str) -> Result<Option<VersionedItem<Effect>>> {
        self.one(keys::effect(id)).await
    }

    /// The time of the oldest deletion whose remaining data is not erased yet; `None` if there is none.
    pub async fn oldest_pending_erasure(&self) -> Result<Option<DateTime<Utc>>> {
        // Include effects that wait for a retry or were given up. No effect is read: the index holds their keys, which contain the time.
        let shards = DueQueue::Effects.shards().chain(DueQueue::GivenUpEffects.shards());
        let shards = shards.map(|shard| self.oldest_deletion(Query::new(DUE, number(shard))));
        Ok(try_join_all(shards).await?.into_iter().flatten().min())
    }

    /// The time of the oldest deletion among the effects that a query of the index finds.
    async fn oldest_deletion(&self, mut query: Query) -> Result<Option<DateTime<Utc>>> {
        // Read page by page: hundreds of thousands of mails may wait.
        query.limit = Some(READ_TOGETHER);
        let pages = self.query_pages(query);
        let oldest = pages.try_fold(None, async |oldest: Option<DateTime<Utc>>, page| {
            let keys = item::keys_of(&page.rows)?;
            let deletions = keys.iter().filter_map(|key| Effect::deletion_in(keys::effect_in(&key.pk)?));
            Ok(oldest.into_iter().chain(deletions).min())
        });
        oldest.await
    }

    /// Records the effect of a password reset. `name` is the hash of the name. Fails with [`Error::Changed`] if another
    /// reset was requested for this name in the last five minutes.
    pub(crate) fn create_reset(&self, effect: &Effect, name: &SecretHash, now: DateTime<Utc>) -> Transaction {
        let values = [(":now", now), (":end", now + RESET_PAUSE), (":before", now - RESET_PAUSE)];
        let values = values.map(|(name, at)| (name, number(at.timestamp())));
        let request = AttributeUpdate::set(&format!("SET asked_at = :now, {EXPIRES_AT} = :end"), values)
            // A condition instead of a read: the request must take the same time whether or not the name exists.
            .when("attribute_not_exists(asked_at) OR asked_at <= :before");
        let mut transaction = self.transaction();
        transaction.update(keys::reset_request(name), request, Error::Changed);
        transaction.effect(Some(effect.clone()));
        transaction
    }

    /// Replaces `before` by `after`. Fails with [`Error::Changed`] if another worker has taken the lease.
    pub async fn update_effect(
        &self,
        before: &VersionedItem<Effect>,
        after: Effect,
    ) -> Result<VersionedItem<Effect>> {
        self.replace(before, after).await
    }

    /// Deletes an effect that is done. Fails with [`Error::Changed`] if another worker has taken the lease.
    pub async fn finish_effect(&self, effect: &VersionedItem<Effect>) -> Result<()> {
        self.erase(effect).await
    }

    /// Reads what a mail to a candidate needs, in one round trip.
    pub async fn candidate_subject(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<MailSubject> {
        let candidate = keys::candidate(company, project, candidate);
        let questionnaire = keys::questionnaire(company, project);
        let project = keys::project(company, project);
        let company = keys::company(company);
        let keys = [candidate.clone(), questionnaire.clone(), project.clone(), company.clone()];
        let mut batch = self.get(keys).await?;
        Ok(MailSubject {
            candidate: batch.take(&candidate)?,
            project: batch.take(&project)?,
            questionnaire: batch.take(&questionnaire)?,
            company: batch.take(&company)?,
        })
    }
}
