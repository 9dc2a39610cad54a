//! Access patterns of reminders of evaluators: the next morning of each company, and the mails.

use chrono::{DateTime, NaiveDate, Utc};

use crate::domain::company::Company;
use crate::domain::effect::Effect;
use crate::domain::id::{CompanyId, CustomerId};
use crate::domain::project::Project;
use crate::domain::staff::ended_interviews::EndedInterview;
use crate::domain::staff::notice::InterviewNotice;
use crate::domain::staff::reminder::{EvaluationRound, ReadingPlace};
use crate::error::Result;
use crate::store::due::{DuePages, DueQueue};
use crate::store::table::handle::Store;
use crate::store::table::item::{DueEntry, StoredEntity, VersionedItem};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::retry::RetryPolicy;
use crate::store::table::write::condition::AttributeUpdate;
use crate::store::table::write::transaction::Transaction;

impl StoredEntity for EvaluationRound {
    fn key(&self) -> ItemKey {
        keys::evaluation_round(&self.company)
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let company = &self.company;
        let shard = DueQueue::EvaluationRounds.shard_of_text(company.as_str());
        Some(DueEntry { shard, at: self.due_at(), company })
    }
}

impl Transaction {
    /// Lets the schedule know that evaluators of a project are reminded, if they are and were not `before`.
    // The round of a company stays once it is there, without a project that needs it too: a deletion could meet the next project.
    pub(in crate::store) fn begin_reminders(&mut self, before: Option<&Project>, after: &Project) {
        let has_days = |project: &Project| project.settings.evaluation_days.is_some();
        if !has_days(after) || before.is_some_and(has_days) {
            return;
        }
        let round = EvaluationRound::unplanned(after.company.clone());
        if let Some(update) = self.or_fault(AttributeUpdate::unless_there(&round)) {
            self.update(round.key(), update, crate::error::Error::Changed);
        }
    }
}

impl Store {
    /// The companies whose evaluators are to be reminded, and those whose next morning is to be planned.
    pub fn due_evaluation_rounds(&self, now: DateTime<Utc>) -> DuePages<'_, EvaluationRound> {
        self.due(DueQueue::EvaluationRounds, now)
    }

    /// Moves the round of a company to its next morning. Fails with [`Error::Changed`](crate::Error::Changed) if another worker has.
    pub async fn plan_evaluation_round(
        &self,
        round: &VersionedItem<EvaluationRound>,
        company: &Company,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let planned = EvaluationRound::clone(round).plan(&company.time_zone(), now);
        self.replace(round, planned).await.map(drop)
    }

    /// Has the next invocation go on with the round of a company. Fails with [`Error::Changed`](crate::Error::Changed) if another
    /// worker has moved it.
    pub async fn go_on_with_evaluation_round(
        &self,
        round: &VersionedItem<EvaluationRound>,
        from: ReadingPlace,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.replace(round, EvaluationRound::clone(round).go_on(from, now)).await.map(drop)
    }

    /// Deletes the round of a company that does not exist any more.
    pub async fn end_evaluation_round(&self, round: &VersionedItem<EvaluationRound>) -> Result<()> {
        self.erase(round).await
    }

    /// Hands the reminder of `day` about candidates who wait for a customer, oldest first, to the outbox. Returns whether there was one
    /// to hand over.
    pub async fn remind_evaluator(
        &self,
        company: &CompanyId,
        customer: CustomerId,
        day: NaiveDate,
        waiting: &[EndedInterview],
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let remind = async || {
            let before = self.notice_of(company, customer).await?;
            let Some((after, told)) = InterviewNotice::clone(&before).remind(day, waiting) else {
                return Ok(false);
            };
            let mut transaction = self.transaction();
            transaction.effect(Some(Effect::of_reminder(&after, told, before.version() + 1, now)));
            transaction.save(&before, &after);
            self.commit(transaction).await.map(|()| true)
        };
        self.retry_on_conflict(RetryPolicy::CHANGE, remind).await
    }
}
