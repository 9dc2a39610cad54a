//! Access patterns of erasures. A deletion records its erasure in the same transaction; after a restore of the table,
//! erasures are repeated.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use futures_util::future::try_join_all;
use serde::de::DeserializeOwned;

use super::candidate;
use super::external_id::marker_of_candidate;
use super::staff::customer;
use super::table::handle::Store;
use super::table::item::{self, VersionedItem};
use super::table::keys::{self, ItemKey};
use super::table::retry::RetryPolicy;
use super::table::write::transaction::Transaction;
use crate::domain::candidate::Candidate;
use crate::domain::effect::Effect;
use crate::domain::history::ResourceRef;
use crate::domain::history::erasure::{ErasedItem, ErasureCause, ErasureRecord};
use crate::domain::id::CompanyId;
use crate::domain::staff::customer::Customer;
use crate::error::{Error, Result};

/// How many effects are written concurrently.
const AT_ONCE: usize = 32;

impl Transaction {
    /// Records the effect that erases what the deletions in this transaction leave. Call it after them, because the
    /// effect holds their number.
    pub(super) fn erased(
        &mut self,
        company: &CompanyId,
        erased: ErasedItem,
        cause: ErasureCause,
        now: DateTime<Utc>,
    ) {
        let items = self.deletions();
        self.effect(Some(Effect::of_erasure(company.clone(), erased, cause, items, now)));
    }
}

/// Recorded erasures without duplicates, by whether their subject exists.
#[derive(Debug, Default)]
pub struct FoundErasures {
    /// Erasures whose subject exists, so they must be repeated from the beginning.
    pub undone: Vec<ErasureRecord>,
    /// Erasures whose subject is deleted, so only its remaining data must be erased.
    pub done: Vec<ErasureRecord>,
}

impl Store {
    /// Looks up which subjects of `erasures` exist.
    pub(crate) async fn find_erased(&self, erasures: Vec<ErasureRecord>) -> Result<FoundErasures> {
        let mut batch = self.get(erasures.iter().map(key)).await?;
        let mut found = FoundErasures::default();
        let mut known = HashSet::new();
        for erasure in erasures {
            let key = key(&erasure);
            let exists = batch.take_item(&key).is_some();
            // An erasure may have several records, one per attempt.
            if known.insert((key.pk, key.sk)) {
                let place = if exists { &mut found.undone } else { &mut found.done };
                place.push(erasure);
            }
        }
        Ok(found)
    }

    /// Records effects, so that the outbox erases again the data that a restored table and bucket may hold of deleted subjects.
    pub(crate) async fn erase_rests(&self, erasures: &[ErasureRecord], now: DateTime<Utc>) -> Result<()> {
        for together in erasures.chunks(AT_ONCE) {
            try_join_all(together.iter().map(|erasure| self.erase_rest(erasure, now))).await?;
        }
        Ok(())
    }

    async fn erase_rest(&self, erasure: &ErasureRecord, now: DateTime<Utc>) -> Result<()> {
        if erasure.erased == ErasedItem::Company {
            // The company's erasure continues by itself, or has ended. A new record would outlive the period for which
            // the company's identifier is reserved.
            return Ok(());
        }
        let effect = Effect::of_erasure(erasure.company.clone(), erasure.erased, erasure.cause(), 0, now);
        match self.create_alone(effect).await {
            // The effect exists: the subject has just been deleted again because of another of its records.
            Err(Error::Changed) => Ok(()),
            created => created.map(drop),
        }
    }

    /// Deletes a subject again that was erased before the table was restored. Returns whether it existed. Sends no
    /// mails, and keeps names that now belong to other accounts. Fails with [`Error::Changed`] after too many
    /// conflicts, and with `LAST_OWNER` if no owner would be left.
    pub(crate) async fn erase_again(&self, erasure: &ErasureRecord, now: DateTime<Utc>) -> Result<bool> {
        self.retry_on_conflict(RetryPolicy::CHANGE, || self.erase_once(erasure, now)).await
    }

    async fn erase_once(&self, erasure: &ErasureRecord, now: DateTime<Utc>) -> Result<bool> {
        let company = &erasure.company;
        let cause = erasure.cause();
        match erasure.erased {
            ErasedItem::Candidate { project, candidate } => {
                let Some(candidate) = self.candidate(company, project, candidate).await? else {
                    return Ok(false);
                };
                self.erase_candidate(&candidate, cause, now).await?;
            }
            ErasedItem::Customer { customer } => {
                let Some(customer) = self.customer(company, customer).await? else { return Ok(false) };
                self.erase_customer(&customer, cause, now).await?;
            }
            ErasedItem::Video { video } => {
                let Some(video) = self.video(company, video).await? else { return Ok(false) };
                self.stepwise(now).delete_video(&video).await?;
            }
            ErasedItem::Company => {
                let Some(found) = self.company(company).await? else { return Ok(false) };
                self.commit(self.begin_company_erasure(&found, now)).await?;
                self.end_access(company).await?;
            }
        }
        Ok(true)
    }

    async fn erase_candidate(
        &self,
        candidate: &VersionedItem<Candidate>,
        cause: ErasureCause,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let account = candidate.account();
        let mut others = self.markers_of_others(candidate::username_of(candidate), account).await?;
        let key = marker_of_candidate(candidate);
        let itself = ResourceRef::Candidate { project: candidate.project, candidate: candidate.id };
        others.extend(self.markers_of_others(key, itself).await?);
        let mut transaction = self.transaction().without_keys(others);
        transaction.candidate_gone(candidate, cause, now)?;
        self.commit(transaction).await
    }

    /// Deletes a customer without a mail, even if a restore has left their items inconsistent. Keeps names that now
    /// belong to other accounts. Fails with `LAST_OWNER` if no owner would be left.
    pub(super) async fn erase_customer(
        &self,
        customer: &VersionedItem<Customer>,
        cause: ErasureCause,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let after = Customer::clone(customer).with_access(false);
        let mut first = self.transaction();
        first.replace(customer, &after);
        first.change_company_counts(&after.company, &customer::counts(Some(customer), Some(&after)));
        self.commit(first).await?;
        let customer = customer.followed_by(after)?;
        self.detach_customer(&customer, now).await?;
        // Delete memberships and shares that the restored projects and candidates do not name.
        for notes in [keys::memberships, keys::shares] {
            for row in self.all_items(&notes(&customer.company, customer.id)).await? {
                self.delete_alone(&item::key_of(&row)?).await?;
            }
        }
        // Keep markers of names that now belong to another account.
        let others = self.markers_of_others(customer::markers_of(&customer, now), customer.account()).await?;
        let mut transaction = self.transaction().without_keys(others);
        transaction.customer_gone(&customer, cause, now);
        self.commit(transaction).await
    }

    /// Returns those of the unique markers that name another owner than `owner`.
    pub(super) async fn markers_of_others<T: DeserializeOwned + PartialEq>(
        &self,
        markers: impl IntoIterator<Item = ItemKey>,
        owner: T,
    ) -> Result<Vec<ItemKey>> {
        let markers: Vec<ItemKey> = markers.into_iter().collect();
        let mut batch = self.get(markers.iter().cloned()).await?;
        let mut others = Vec::new();
        for key in markers {
            let leads_to: Option<T> = batch.take_value(&key)?;
            others.extend(Some(key).filter(|_| leads_to.is_some_and(|holder| holder != owner)));
        }
        Ok(others)
    }
}

fn key(ErasureRecord { company, erased, .. }: &ErasureRecord) -> ItemKey {
    match *erased {
        ErasedItem::Candidate { project, candidate } => keys::candidate(company, project, candidate),
        ErasedItem::Customer { customer } => keys::customer(company, customer),
        ErasedItem::Video { video } => keys::video(company, video),
        ErasedItem::Company => keys::company(company),
    }
}
