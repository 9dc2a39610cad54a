//! Deletions in steps, for resources with more references than one transaction can change: mark the resource as
//! inactive, so that nothing new refers to it; remove the references; delete the resource.
//!
//! The first step records the deletion as an effect, and the last one deletes the effect. The outbox finishes interrupted deletions.

use chrono::{DateTime, Utc};

use super::company::counts::CompanyCount;
use super::staff::customer::counts;
use super::table::handle::Store;
use super::table::item::{self, StoredEntity, VersionedItem};
use super::table::keys;
use super::table::write::transaction::Transaction;
use crate::domain::company::label::Label;
use crate::domain::effect::deletion::{DeletionAuthor, ItemDeletion};
use crate::domain::effect::{Effect, EffectTask, FormerCustomer};
use crate::domain::history::erasure::{ErasedItem, ErasureReason};
use crate::domain::id::CompanyId;
use crate::domain::media::video::Video;
use crate::domain::project::Project;
use crate::domain::staff::customer::Customer;
use crate::error::{Error, Result};

impl Store {
    /// Deletions in steps, as of `now`.
    pub fn stepwise(&self, now: DateTime<Utc>) -> StepwiseDeletion<'_> {
        StepwiseDeletion { store: self, now }
    }

    /// Removes a customer from all projects, and withdraws all shares with them.
    pub(super) async fn detach_customer(&self, customer: &Customer, now: DateTime<Utc>) -> Result<()> {
        tokio::try_join!(
            self.leave_projects(&customer.company, customer.id),
            self.withdraw_shares(&customer.company, customer.id, now),
        )?;
        Ok(())
    }
}

/// Deletes in steps. Its methods commit their transactions themselves, unlike those of [`Store`] that return one.
#[derive(Clone, Copy)]
pub struct StepwiseDeletion<'a> {
    store: &'a Store,
    now: DateTime<Utc>,
}

impl StepwiseDeletion<'_> {
    /// Deletes a customer with their roles and shares, and records the effect of a mail to them. Fails with
    /// [`Error::Changed`] after a concurrent write, and with `LAST_OWNER` if no owner would be left.
    pub async fn delete_customer(
        &self,
        customer: &VersionedItem<Customer>,
        by: DeletionAuthor,
    ) -> Result<()> {
        let after = Customer::clone(customer).with_access(false);
        let mut first = self.store.transaction();
        // Write the customer before the counts, since the first refusal decides: a deletion that lost to another write
        // is then retried instead of refused as that of the last owner.
        first.replace(customer, &after);
        // Change the counts in the first step, so that the deletion of the last owner is refused before anything has changed.
        first.change_company_counts(&customer.company, &counts(Some(customer), Some(&after)));
        first.begin_deletion(&customer.company, deletion_of(customer, &by), self.now);
        self.store.commit(first).await?;
        self.finish_customer(&customer.followed_by(after)?, by).await
    }

    /// Deletes a label and removes it from all projects. Fails with [`Error::Changed`] after a concurrent write.
    pub async fn delete_label(&self, label: &VersionedItem<Label>) -> Result<()> {
        let after = Label { is_active: false, ..Label::clone(label) };
        let mut first = self.store.transaction();
        first.replace(label, &after);
        first.begin_deletion(&label.company, ItemDeletion::Label { label: label.id }, self.now);
        self.store.commit(first).await?;
        self.finish_label(&label.followed_by(after)?).await
    }

    /// Deletes a video with its objects and captions, and removes it from all projects and questions. Fails with
    /// [`Error::Changed`] after a concurrent write.
    pub async fn delete_video(&self, video: &VersionedItem<Video>) -> Result<()> {
        let after = Video { is_active: false, ..Video::clone(video) };
        let mut first = self.store.transaction();
        first.replace(video, &after);
        first.begin_deletion(&video.company, ItemDeletion::Video { video: video.id }, self.now);
        self.store.commit(first).await?;
        self.finish_video(&video.followed_by(after)?).await
    }

    /// Finishes an interrupted deletion. Returns false if the resource is already deleted or was activated again. Fails
    /// with [`Error::Changed`] after a concurrent write.
    pub async fn finish(&self, company: &CompanyId, deletion: &ItemDeletion) -> Result<bool> {
        let finished = match deletion {
            ItemDeletion::Customer { customer, by } => {
                let found = self.store.customer(company, *customer).await?;
                let Some(found) = found.filter(|found| !found.is_active) else { return Ok(false) };
                self.finish_customer(&found, by.clone()).await
            }
            ItemDeletion::Label { label } => {
                let found = self.store.one::<Label>(keys::label(company, *label)).await?;
                let Some(found) = found.filter(|found| !found.is_active) else { return Ok(false) };
                self.finish_label(&found).await
            }
            ItemDeletion::Video { video } => {
                let found = self.store.video(company, *video).await?;
                let Some(found) = found.filter(|found| !found.is_active) else { return Ok(false) };
                self.finish_video(&found).await
            }
        };
        match finished {
            // The request and the outbox may both be finishing the deletion: the later one finds nothing to delete.
            Err(Error::NotFound) => Ok(false),
            result => result.map(|()| true),
        }
    }

    /// Changes all projects of the company for which `has` is true with `remove`.
    async fn detach<R>(
        &self,
        company: &CompanyId,
        has: impl Fn(&Project) -> bool,
        remove: impl Fn(&mut Project) -> R,
    ) -> Result<()> {
        // Reads all projects: deletions are rare, and an index would cost a write with every change of a project.
        for project in self.store.all_wanted(keys::projects(company), has).await? {
            self.store.amend_project(project, &remove).await?;
        }
        Ok(())
    }

    async fn finish_customer(&self, customer: &VersionedItem<Customer>, by: DeletionAuthor) -> Result<()> {
        self.store.detach_customer(customer, self.now).await?;
        let was = Box::new(FormerCustomer {
            email: customer.email.clone(),
            first_name: customer.first_name.clone(),
            last_name: customer.last_name.clone(),
            language: customer.preferred_language,
        });
        let mut last = self.store.transaction();
        last.customer_gone(customer, ErasureReason::Deleted.into(), self.now);
        // Delete the effect after the customer: the erasure of the customer counts only the deletions before it.
        last.end_deletion(&customer.company, &deletion_of(customer, &by));
        let task = EffectTask::CustomerDeleted { was, by };
        // The effect sends the mail once the account is deleted.
        last.effect(Some(Effect::new(customer.company.clone(), customer.id, task, self.now)));
        self.store.commit(last).await
    }

    async fn finish_label(&self, label: &VersionedItem<Label>) -> Result<()> {
        let id = label.id;
        self.detach(
            &label.company,
            |project| project.settings.labels.contains(&id),
            |project| project.settings.labels.remove(&id),
        )
        .await?;
        let mut last = self.store.transaction();
        last.end_deletion(&label.company, &ItemDeletion::Label { label: id });
        last.delete(label);
        last.label_text(Some(label), None);
        last.change_company_counts(&label.company, &[(CompanyCount::Labels, -1)]);
        self.store.commit(last).await
    }

    async fn finish_video(&self, video: &VersionedItem<Video>) -> Result<()> {
        let id = video.id;
        self.detach(
            &video.company,
            |project| project.settings.shows(id),
            |project| project.settings.videos.retain(|placed| placed.video != id),
        )
        .await?;
        self.store.detach_from_questions(&video.company, id).await?;
        let mut last = self.store.transaction();
        last.end_deletion(&video.company, &ItemDeletion::Video { video: id });
        last.delete(video);
        for language in video.captions.keys() {
            last.delete_derived(keys::captions(&video.company, id, *language));
        }
        last.change_company_counts(&video.company, &[(CompanyCount::Videos, -1)]);
        let erased = ErasedItem::Video { video: id };
        let cause = ErasureReason::Deleted.into();
        last.erased(&video.company, erased, cause, self.now);
        self.store.commit(last).await
    }
}

impl Transaction {
    fn begin_deletion(&mut self, company: &CompanyId, deletion: ItemDeletion, now: DateTime<Utc>) {
        let effect = Effect::of_deletion(company.clone(), deletion, now);
        if let Some(item) = self.or_fault(item::write(&effect, 1)) {
            // No condition: an interrupted deletion may be repeated, and then replaces the effect of the first attempt.
            self.put_derived(effect.key(), item);
        }
    }

    fn end_deletion(&mut self, company: &CompanyId, deletion: &ItemDeletion) {
        self.delete_derived(keys::effect(&Effect::id_of_deletion(company, deletion)));
    }
}

fn deletion_of(customer: &Customer, by: &DeletionAuthor) -> ItemDeletion {
    ItemDeletion::Customer { customer: customer.id, by: by.clone() }
}
