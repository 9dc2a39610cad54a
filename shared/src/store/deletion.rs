//! Deletions in three steps, since more may refer to a resource than one transaction can change: mark it as inactive, so
//! that nothing new refers to it; detach what does; delete it.
//!
//! The first step notes the deletion as an effect, the last one ends that. The outbox finishes deletions that broke off.

use chrono::{DateTime, Utc};

use super::Store;
use super::company_counts::CompanyCount;
use super::customer::counts;
use super::table::item::{self, StoredEntity, VersionedItem};
use super::table::keys;
use super::table::transaction::Transaction;
use crate::domain::customer::Customer;
use crate::domain::deletion::{DeletionAuthor, ItemDeletion};
use crate::domain::effect::{Effect, EffectTask, FormerCustomer};
use crate::domain::erasure::{ErasedItem, ErasureReason};
use crate::domain::id::CompanyId;
use crate::domain::label::Label;
use crate::domain::project::Project;
use crate::domain::video::Video;
use crate::error::{Error, Result};

impl Store {
    /// Deletes a customer with their roles and shares, and notes the mail that tells them. Fails with
    /// [`Error::Changed`], and with `LAST_OWNER` if no owner would be left.
    pub async fn delete_customer(
        &self,
        customer: &VersionedItem<Customer>,
        by: DeletionAuthor,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let deletion = ItemDeletion::Customer { customer: customer.id, by: by.clone() };
        let effect = Effect::of_deletion(customer.company.clone(), deletion, now);
        let after = Customer::clone(customer).with_access(false);
        let others = |transaction: &mut Transaction, after: &Customer| {
            // In the first step: the deletion of the last owner is refused before anything has changed.
            transaction.company_tally(&after.company, &counts(Some(customer), Some(after)));
            transaction.begin_deletion(effect);
        };
        let customer = self.replace_in(customer, after, others).await?;
        self.finish_customer(&customer, by, now).await
    }

    /// Deletes a label and removes it from all projects. Fails with [`Error::Changed`].
    pub async fn delete_label(&self, label: &VersionedItem<Label>, now: DateTime<Utc>) -> Result<()> {
        let effect = Effect::of_deletion(label.company.clone(), ItemDeletion::Label { label: label.id }, now);
        let after = Label { is_active: false, ..Label::clone(label) };
        let label =
            self.replace_in(label, after, |transaction, _| transaction.begin_deletion(effect)).await?;
        self.finish_label(&label).await
    }

    /// Deletes a video with its objects and removes it from all projects. Fails with [`Error::Changed`].
    pub async fn delete_video(&self, video: &VersionedItem<Video>, now: DateTime<Utc>) -> Result<()> {
        let effect = Effect::of_deletion(video.company.clone(), ItemDeletion::Video { video: video.id }, now);
        let after = Video { is_active: false, ..Video::clone(video) };
        let video =
            self.replace_in(video, after, |transaction, _| transaction.begin_deletion(effect)).await?;
        self.finish_video(&video, now).await
    }

    /// Finishes a deletion that broke off. Returns false if there is nothing left to delete, or the resource was
    /// activated again. Fails with [`Error::Changed`].
    pub async fn finish_deletion(
        &self,
        company: &CompanyId,
        deletion: &ItemDeletion,
        now: DateTime<Utc>,
    ) -> Result<bool> {
        let finished = match deletion {
            ItemDeletion::Customer { customer, by } => match self.customer(company, *customer).await? {
                Some(found) if !found.is_active => self.finish_customer(&found, by.clone(), now).await,
                _ => return Ok(false),
            },
            ItemDeletion::Label { label } => match self.one::<Label>(keys::label(company, *label)).await? {
                Some(found) if !found.is_active => self.finish_label(&found).await,
                _ => return Ok(false),
            },
            ItemDeletion::Video { video } => match self.video(company, *video).await? {
                Some(found) if !found.is_active => self.finish_video(&found, now).await,
                _ => return Ok(false),
            },
        };
        match finished {
            Err(Error::NotFound) => Ok(false),
            outcome => outcome.map(|()| true),
        }
    }

    /// Removes a resource from all projects that have it.
    async fn detach<R>(
        &self,
        company: &CompanyId,
        has: impl Fn(&Project) -> bool,
        remove: impl Fn(&mut Project) -> R,
    ) -> Result<()> {
        // Reads all projects: deletions are rare, and an index would be written with every change of a project.
        for project in self.all_wanted(keys::projects(company), has).await? {
            self.amend_project(project, &remove).await?;
        }
        Ok(())
    }

    /// Removes a customer from all projects and withdraws the shares with them.
    pub(super) async fn detach_customer(&self, customer: &Customer, now: DateTime<Utc>) -> Result<()> {
        tokio::try_join!(
            self.leave_projects(&customer.company, customer.id),
            self.withdraw_shares(&customer.company, customer.id, now),
        )?;
        Ok(())
    }

    async fn finish_customer(
        &self,
        customer: &VersionedItem<Customer>,
        by: DeletionAuthor,
        now: DateTime<Utc>,
    ) -> Result<()> {
        self.detach_customer(customer, now).await?;
        // The mail is sent after the account is gone.
        let was = Box::new(FormerCustomer {
            email: customer.email.clone(),
            first_name: customer.first_name.clone(),
            last_name: customer.last_name.clone(),
            language: customer.preferred_language,
        });
        let mut transaction = self.transaction();
        transaction.customer_gone(customer, ErasureReason::Deleted, now);
        transaction.end_deletion(&ItemDeletion::Customer { customer: customer.id, by: by.clone() });
        let task = EffectTask::CustomerDeleted { was, by };
        transaction.effect(Some(Effect::new(customer.company.clone(), customer.id, task, now)));
        self.commit(transaction).await
    }

    async fn finish_label(&self, label: &VersionedItem<Label>) -> Result<()> {
        let has = |project: &Project| project.settings.labels.contains(&label.id);
        let remove = |project: &mut Project| project.settings.labels.remove(&label.id);
        self.detach(&label.company, has, remove).await?;
        let mut transaction = self.transaction();
        transaction.delete(label);
        transaction.label_text(Some(label), None);
        transaction.end_deletion(&ItemDeletion::Label { label: label.id });
        transaction.company_tally(&label.company, &[(CompanyCount::Labels, -1)]);
        self.commit(transaction).await
    }

    async fn finish_video(&self, video: &VersionedItem<Video>, now: DateTime<Utc>) -> Result<()> {
        let has = |project: &Project| project.settings.shows(video.id);
        let remove =
            |project: &mut Project| project.settings.videos.retain(|placed| placed.video != video.id);
        self.detach(&video.company, has, remove).await?;
        self.detach_from_questions(&video.company, video.id).await?;
        let mut transaction = self.transaction();
        transaction.delete(video);
        transaction.end_deletion(&ItemDeletion::Video { video: video.id });
        transaction.company_tally(&video.company, &[(CompanyCount::Videos, -1)]);
        let erased = ErasedItem::Video { video: video.id };
        transaction.erased(&video.company, erased, ErasureReason::Deleted, now);
        self.commit(transaction).await
    }
}

impl Transaction {
    /// Notes the effect of a deletion. A repeated deletion replaces the effect of the first.
    fn begin_deletion(&mut self, effect: Effect) {
        if let Some(item) = self.or_fault(item::write(&effect, 1)) {
            self.put_derived(effect.key(), item);
        }
    }

    fn end_deletion(&mut self, deletion: &ItemDeletion) {
        self.delete_derived(keys::effect(&Effect::id_of_deletion(deletion)));
    }
}
