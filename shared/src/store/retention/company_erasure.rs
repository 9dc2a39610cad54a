//! Erases a company whose contract has ended: the erasure replaces the company's item, and then everything else is deleted.
//!
//! Candidates, customers, videos and labels are deleted by their ordinary deletions. Other items are deleted by ranges
//! of keys; another worker or attempt may delete the same items.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use serde::Serialize;

use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::company::import::CompanyImport;
use crate::domain::company::label::Label;
use crate::domain::effect::Effect;
use crate::domain::history::erasure::{ErasedItem, ErasureReason};
use crate::domain::history::{HistoryEntry, ResourceRef};
use crate::domain::id::{CandidateId, CompanyId, ProjectId};
use crate::domain::media::upload::Upload;
use crate::domain::media::video::Video;
use crate::domain::project::{Project, ProjectStatus};
use crate::domain::retention::company_erasure::{CompanyErasure, StepResult};
use crate::domain::staff::customer::Customer;
use crate::domain::webhook::Webhook;
use crate::error::{Error, Result};
use crate::store::company::counts::CompanyCount;
use crate::store::due::{DuePages, DueQueue};
use crate::store::project::counts::shards;
use crate::store::staff::customer::counts;
use crate::store::table::handle::Store;
use crate::store::table::item::{self, DueEntry, StoredEntity, VersionedItem, number_in, string};
use crate::store::table::keys::{self, BY_STATUS, ItemCollection, ItemKey};
use crate::store::table::read::query::Query;
use crate::store::table::write::transaction::Transaction;

/// How many writes run concurrently.
const AT_ONCE: usize = 16;
/// How many resources a step deletes before its caller checks the time.
const TOGETHER: usize = 50;
/// How far ahead of `now` to look for work of the outbox: longer than any work waits for its next attempt.
const AHEAD: TimeDelta = TimeDelta::days(1);

impl StoredEntity for CompanyErasure {
    fn key(&self) -> ItemKey {
        keys::company_erasure(&self.company)
    }

    fn expires_at(&self) -> Option<DateTime<Utc>> {
        self.forgotten_at()
    }

    fn due(&self) -> Option<DueEntry<'_>> {
        let company = &self.company;
        let shard = DueQueue::CompanyErasures.shard_of_text(company.as_str());
        Some(DueEntry { shard, at: self.work.indexed_at()?, company })
    }
}

/// The numbers of a company's remaining items, according to its counts.
#[derive(Debug, Default, Serialize)]
pub struct CompanyRemains {
    /// Candidates of all projects.
    pub candidates: u64,
    pub projects: u64,
    /// Welcome videos.
    pub videos: u64,
    pub labels: u64,
    pub customers: u64,
    pub webhooks: u64,
}

impl Transaction {
    /// Creates the erasure of a company, and the effect that records it. Call it after the transaction has deleted the company's item.
    fn note_company_erasure(&mut self, company: &CompanyId, now: DateTime<Utc>) {
        self.erased(company, ErasedItem::Company, ErasureReason::CompanyClosed.into(), now);
        let erasure = CompanyErasure::begun(company.clone(), now);
        if let Some(item) = self.or_fault(item::write(&erasure, 1)) {
            // No condition: a restore may have brought back a company that was erased before, and its former erasure still exists.
            self.put_derived(erasure.key(), item);
        }
    }
}

impl Store {
    /// Begins the erasure of a company. From then on, its candidates cannot log in; [`end_access`](Self::end_access)
    /// ends the access of all others.
    pub fn begin_company_erasure(&self, company: &VersionedItem<Company>, now: DateTime<Utc>) -> Transaction {
        let mut transaction = self.transaction();
        transaction.delete(company);
        // Delete the retention run, which would otherwise have no company.
        transaction.delete_derived(keys::retention_run(&company.id));
        // Delete the logo now, because anyone may read it.
        if let Some(logo) = &company.logo {
            transaction.delete_derived(keys::logo(&company.id, logo.id));
        }
        transaction.note_company_erasure(&company.id, now);
        transaction
    }

    /// Begins the erasure of a company that its import has not opened. Later runs of the import fail.
    pub fn begin_import_erasure(
        &self,
        import: &VersionedItem<CompanyImport>,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        transaction.delete_unrecorded(import);
        transaction.note_company_erasure(&import.company, now);
        transaction
    }

    /// Reads the erasure of a company; `None` if it has not begun or has expired.
    pub async fn company_erasure(
        &self,
        company: &CompanyId,
    ) -> Result<Option<VersionedItem<CompanyErasure>>> {
        self.one(keys::company_erasure(company)).await
    }

    /// Whether everything of a company is erased, including its histories.
    pub async fn is_company_erased(&self, company: &CompanyId) -> Result<bool> {
        let erasure = self.company_erasure(company).await?;
        Ok(erasure.is_some_and(|erasure| erasure.ended_at.is_some()))
    }

    /// Erasures of companies that are due to be continued.
    pub fn due_company_erasures(&self, now: DateTime<Utc>) -> DuePages<'_, CompanyErasure> {
        self.due(DueQueue::CompanyErasures, now)
    }

    /// Replaces `before` by `after`. Fails with [`Error::Changed`] if another worker continues the erasure.
    pub async fn update_company_erasure(
        &self,
        before: &VersionedItem<CompanyErasure>,
        after: CompanyErasure,
    ) -> Result<VersionedItem<CompanyErasure>> {
        self.replace(before, after).await
    }

    /// Reads how many items of a company remain.
    pub async fn company_remains(&self, company: &CompanyId) -> Result<CompanyRemains> {
        let projects: Vec<ProjectId> =
            self.all_projects(company).await?.iter().map(|project| project.id).collect();
        let key = keys::company_counts(company);
        let shards = projects.iter().flat_map(|id| shards(company, *id));
        let mut batch = self.get(shards.chain([key.clone()])).await?;
        let candidates =
            projects.iter().map(|id| batch.take_shards(company, *id).sum().candidates()).sum::<i64>();
        let counts = batch.take_item(&key).unwrap_or_default();
        let of = |count: CompanyCount| number_in::<u64>(&counts, &count.attribute()).unwrap_or_default();
        Ok(CompanyRemains {
            candidates: u64::try_from(candidates).unwrap_or_default(),
            projects: ProjectStatus::ALL.into_iter().map(|status| of(CompanyCount::Projects(status))).sum(),
            videos: of(CompanyCount::Videos),
            labels: of(CompanyCount::Labels),
            customers: of(CompanyCount::Customers),
            webhooks: of(CompanyCount::Webhooks),
        })
    }

    /// Deletes all named tokens of a company, and ends the access and the sessions of its staff. Returns whether there was
    /// anything to end.
    pub async fn end_access(&self, company: &CompanyId) -> Result<bool> {
        let tokens = self.tokens(company).await?;
        let staff =
            self.all_wanted(keys::customers(company), |customer: &Customer| customer.is_active).await?;
        let tokens = tokens.iter().map(|token| self.delete_token(token, None));
        let staff = staff.iter().map(|customer| {
            let after = Customer::clone(customer).with_access(false);
            let mut transaction = self.replacing(customer, &after);
            transaction.change_counts_of_erased_company(company, &counts(Some(customer), Some(&after)));
            transaction
        });
        let transactions: Vec<Transaction> = tokens.chain(staff).collect();
        let found = !transactions.is_empty();
        let commits = transactions.into_iter().map(|transaction| async {
            match self.commit(transaction).await {
                // A concurrent write was faster. The next call finds what is left.
                Err(Error::Changed | Error::NotFound) => Ok(()),
                committed => committed,
            }
        });
        stream::iter(commits).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        Ok(found)
    }

    /// All projects of a company, oldest first. Fails with [`Error::Unreadable`] if one cannot be read.
    pub async fn all_projects(&self, company: &CompanyId) -> Result<Vec<VersionedItem<Project>>> {
        self.all_wanted(keys::projects(company), |_| true).await
    }

    /// Up to `most` candidates of a project after `after`, oldest first. Fails with [`Error::Unreadable`] if one cannot be
    /// read.
    pub async fn candidates_after(
        &self,
        project: &Project,
        after: Option<CandidateId>,
        most: usize,
    ) -> Result<Vec<VersionedItem<Candidate>>> {
        let all = keys::candidates(&project.company, project.id);
        let mut query = Query::of(&all);
        query.start = after.map(|after| all.key(after).into_attributes());
        self.query_rows(query, most).await?.into_iter().map(item::read).collect()
    }

    /// Erases a project. Fails with [`Error::Changed`] if it has candidates.
    pub async fn erase_project(&self, project: &VersionedItem<Project>) -> Result<()> {
        let c = &project.company;
        let p = project.id;
        // Candidates are deleted only by their own deletion, which refuses candidates on hold.
        if !self.candidates_after(project, None, 1).await?.is_empty() {
            return Err(Error::Changed);
        }
        let words = keys::search::partitions(c, p).map(|pk| ItemCollection { pk, prefix: "" });
        let history = keys::history(c, &ResourceRef::Project { project: p }.history_id(c));
        let collections =
            words.chain([keys::evaluations(c, p), partition_of(keys::questionnaire(c, p)), history]);
        let deletions =
            collections.map(|collection| async move { self.delete_collection(&collection).await.map(drop) });
        stream::iter(deletions).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        let mut last = self.transaction();
        // Delete the project last, because it leads to all other items. Record nothing, because its history is already deleted.
        last.delete_unrecorded(project);
        last.project_external_id(Some(project), None);
        last.change_counts_of_erased_company(c, &[(CompanyCount::Projects(project.status), -1)]);
        self.commit(last).await
    }

    /// Deletes welcome videos of a company. Returns whether there were any.
    pub async fn erase_videos(&self, company: &CompanyId, now: DateTime<Utc>) -> Result<bool> {
        let videos: Vec<VersionedItem<Video>> = self.all_wanted(keys::videos(company), |_| true).await?;
        for video in videos.iter().take(TOGETHER) {
            self.stepwise(now).delete_video(video).await?;
        }
        Ok(!videos.is_empty())
    }

    /// Deletes labels of a company. Returns whether there were any.
    pub async fn erase_labels(&self, company: &CompanyId, now: DateTime<Utc>) -> Result<bool> {
        let labels: Vec<VersionedItem<Label>> = self.all_wanted(keys::labels(company), |_| true).await?;
        for label in labels.iter().take(TOGETHER) {
            self.stepwise(now).delete_label(label).await?;
        }
        Ok(!labels.is_empty())
    }

    /// Deletes customers of a company without sending mails. Returns whether there were any.
    pub async fn erase_customers(&self, company: &CompanyId, now: DateTime<Utc>) -> Result<bool> {
        let customers: Vec<VersionedItem<Customer>> =
            self.all_wanted(keys::customers(company), |_| true).await?;
        for customer in customers.iter().take(TOGETHER) {
            self.erase_customer(customer, ErasureReason::CompanyClosed.into(), now).await?;
        }
        Ok(!customers.is_empty())
    }

    /// Whether the outbox has no work left for a company. Deletes notices, mails and conversions that are still to be done.
    pub async fn is_outbox_done(&self, company: &CompanyId, now: DateTime<Utc>) -> Result<bool> {
        let ahead = now + AHEAD;
        let mut is_done = self.delete_collection(&keys::notices(company)).await? == 0;
        for (queue, until) in [(DueQueue::Effects, ahead), (DueQueue::GivenUpEffects, now)] {
            for effect in self.due_of::<Effect>(company, queue, until).await? {
                is_done &= self.discard(&effect).await?;
            }
        }
        is_done &= self.due_of::<Upload>(company, DueQueue::Uploads, ahead).await?.is_empty();
        is_done &= self.due_of::<HistoryEntry>(company, DueQueue::Events, ahead).await?.is_empty();
        Ok(is_done)
    }

    /// Deletes an effect that is not a deletion, such as a mail or a conversion. Returns false if it is a deletion, or
    /// if the outbox is working on it.
    async fn discard(&self, effect: &VersionedItem<Effect>) -> Result<bool> {
        if effect.task.is_deletion() {
            return Ok(false);
        }
        match self.finish_effect(effect).await {
            Err(Error::Changed) => Ok(false),
            finished => finished.map(|()| true),
        }
    }

    /// Whether all events have been delivered to each enabled webhook.
    pub async fn has_delivered_all(&self, company: &CompanyId) -> Result<bool> {
        let webhooks = self.webhooks(company).await?;
        let mut cursors = self.cursors(webhooks.iter().map(|webhook| webhook.id)).await?;
        let last = self.sequence(company).await?.map_or(0, |sequence| sequence.last);
        Ok(webhooks.iter().all(|webhook| {
            let cursor = cursors.remove(&webhook.id);
            !webhook.is_enabled()
                || cursor.is_none_or(|cursor| cursor.behind(last) == 0 && cursor.stalled_count == 0)
        }))
    }

    /// Deletes the webhooks of a company with their cursors, attempts and stalled resources. Returns
    /// [`StepResult::Waiting`] while the sender has leased one of them.
    pub async fn erase_webhooks(&self, company: &CompanyId, now: DateTime<Utc>) -> Result<StepResult> {
        let webhooks: Vec<VersionedItem<Webhook>> =
            self.all_wanted(keys::webhooks(company), |_| true).await?;
        let cursors = self.cursors(webhooks.iter().map(|webhook| webhook.id)).await?;
        if cursors.values().any(|cursor| cursor.work.is_leased(now)) {
            return Ok(StepResult::Waiting);
        }
        for webhook in &webhooks {
            self.delete_collection(&partition_of(keys::cursor(webhook.id))).await?;
            self.commit(self.delete_webhook(webhook)).await?;
        }
        Ok(if webhooks.is_empty() { StepResult::Clear } else { StepResult::Worked })
    }

    /// Erases histories of a company. All its events must have numbers.
    pub async fn erase_histories(&self, company: &CompanyId) -> Result<StepResult> {
        let mut query = Query::new(BY_STATUS, string(keys::events(company)));
        query.limit = Some(TOGETHER);
        // A deleted resource is in this index, with at least the event of its deletion. The other histories may have no event.
        let found = item::keys_of(&self.query(&query).await?.rows)?;
        let others = [ResourceRef::Company, ResourceRef::Retention, ResourceRef::SignIn]
            .map(|resource| resource.history_id(company));
        let others = others.map(|id| keys::history(company, &id).pk);
        let histories: BTreeSet<String> = found.iter().map(|key| key.pk.clone()).chain(others).collect();
        let mut deleted = 0;
        for pk in histories {
            // Delete the history of a candidate's interview before the candidate's own: it may have no event, and then
            // only the candidate's history leads to it.
            for pk in [keys::interview_history(&pk), pk] {
                deleted += self.delete_collection(&ItemCollection { pk, prefix: "" }).await?;
            }
        }
        Ok(match (deleted, found.is_empty()) {
            (0, true) => StepResult::Clear,
            // The index still shows events that are deleted.
            (0, false) => StepResult::Waiting,
            _ => StepResult::Worked,
        })
    }

    /// Erases legal texts of a company, recordings that wait for conversion, captions and logos that an older release
    /// has left, exports, guest links that a restore has left without a candidate, and all other items in the company's
    /// partition, except its erasure. Returns whether there were any.
    pub async fn erase_company_partition(&self, company: &CompanyId) -> Result<bool> {
        let erasure = keys::company_erasure(company);
        let rows = self.all_items(&partition_of(keys::company(company))).await?;
        let mut left = item::keys_of(&rows)?;
        left.retain(|key| *key != erasure);
        left.push(keys::conversion_queues().key(company));
        let mut found = left.len() > 1;
        let collections = [
            keys::legal_texts(company),
            keys::all_captions(company),
            partition_of(keys::latest_export(company)),
            keys::guest_links(company),
            keys::logos(company),
            keys::waiting_recordings(company),
        ];
        for collection in &collections {
            found |= self.delete_collection(collection).await? > 0;
        }
        self.delete_all(left).await?;
        Ok(found)
    }

    /// Deletes all items of a collection. Returns how many there were.
    pub(in crate::store) async fn delete_collection(&self, collection: &ItemCollection) -> Result<usize> {
        let mut query = Query::of(collection);
        let mut deleted = 0;
        loop {
            let found = self.query(&query).await?;
            let keys = item::keys_of(&found.rows)?;
            deleted += keys.len();
            self.delete_all(keys).await?;
            query.start = found.last;
            if query.start.is_none() {
                return Ok(deleted);
            }
        }
    }

    async fn delete_all(&self, keys: Vec<ItemKey>) -> Result<()> {
        let deletions = keys.into_iter().map(|key| async move { self.delete_alone(&key).await });
        stream::iter(deletions).buffer_unordered(AT_ONCE).try_collect().await
    }
}

/// All items in the partition of the item with this key.
fn partition_of(key: ItemKey) -> ItemCollection {
    ItemCollection { pk: key.pk, prefix: "" }
}
