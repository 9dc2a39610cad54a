//! Access patterns of reminders of evaluators: the next morning on which a company's evaluators are reminded, and the mails.

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
    /// Creates the company's round of reminders if the project's evaluators are to be reminded and were not `before`.
    // The round stays even if no project needs it any more: its deletion could conflict with the next project that does.
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
    /// The rounds of companies whose evaluators must now be reminded, or whose next morning must be planned.
    pub fn due_evaluation_rounds(&self, now: DateTime<Utc>) -> DuePages<'_, EvaluationRound> {
        self.due(DueQueue::EvaluationRounds, now)
    }

    /// Moves the round of a company to its next morning. Fails with [`Error::Changed`](crate::Error::Changed) if
    /// another worker has done so.
    pub async fn plan_evaluation_round(
        &self,
        round: &VersionedItem<EvaluationRound>,
        company: &Company,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let planned = EvaluationRound::clone(round).plan(&company.time_zone(), now);
        self.replace(round, planned).await.map(drop)
    }

    /// Lets the next invocation continue the round of a company at `from`. Fails with
    /// [`Error::Changed`](crate::Error::Changed) if another worker has moved it.
    pub async fn go_on_with_evaluation_round(
        &self,
        round: &VersionedItem<EvaluationRound>,
        from: ReadingPlace,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.replace(round, EvaluationRound::clone(round).go_on(from, now)).await.map(drop)
    }

    /// Deletes the round of a company that no longer exists.
    pub async fn end_evaluation_round(&self, round: &VersionedItem<EvaluationRound>) -> Result<()> {
        self.erase(round).await
    }

    /// Records the effect of the reminder of `day` to a customer about the candidates who wait for them, oldest first.
    /// Returns whether there was a reminder to send.
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
