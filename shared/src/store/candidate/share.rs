//! Access patterns of shares. A share is an attribute of its candidate and an item in the partition of its customer.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use futures_util::{TryStreamExt as _, stream};
use serde::Deserialize;

use crate::domain::candidate::Candidate;
use crate::domain::id::{CandidateId, CompanyId, CustomerId, ProjectId, ShareId};
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, Item, string};
use crate::store::table::keys::{self, ItemKey};
use crate::store::table::write::condition::IS_ACTIVE;
use crate::store::table::write::transaction::Transaction;

/// A candidate that is shared with a customer.
#[derive(Debug, Clone, Copy)]
pub struct SharedCandidate {
    pub share: ShareId,
    pub project: ProjectId,
    pub candidate: CandidateId,
    pub customer: CustomerId,
}

impl SharedCandidate {
    /// The shares of a candidate, oldest first.
    pub fn all_of(candidate: &Candidate) -> impl Iterator<Item = Self> {
        let Candidate { project, id, shares, .. } = candidate;
        shares.iter().map(|(share, customer)| Self {
            share: *share,
            project: *project,
            candidate: *id,
            customer: *customer,
        })
    }
}

/// A share's item in the customer's partition.
#[derive(Deserialize)]
pub(in crate::store) struct ShareNote {
    project: ProjectId,
    candidate: CandidateId,
}

/// How many of a customer's shares are withdrawn concurrently.
const WITHDRAWN_AT_ONCE: usize = 8;

impl Store {
    /// The candidates that are shared with a customer, oldest share first.
    pub async fn shared_with(
        &self,
        company: &CompanyId,
        customer: CustomerId,
    ) -> Result<Vec<SharedCandidate>> {
        let shares = keys::shares(company, customer);
        let mut found = Vec::new();
        for row in self.all_items(&shares).await? {
            let share = shares.id_in(&row)?.parse().map_err(Error::internal)?;
            let note = item::or_skipped(item::value_in::<ShareNote>(&row))?;
            found.extend(note.map(|ShareNote { project, candidate }| SharedCandidate {
                share,
                project,
                candidate,
                customer,
            }));
        }
        Ok(found)
    }

    pub(in crate::store) async fn withdraw_shares(
        &self,
        company: &CompanyId,
        customer: CustomerId,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let shares = self.shared_with(company, customer).await?;
        let keys: Vec<_> =
            shares.iter().map(|shared| keys::candidate(company, shared.project, shared.candidate)).collect();
        let mut batch = self.get(keys.iter().cloned()).await?;
        let mut found = Vec::with_capacity(shares.len());
        for (shared, key) in shares.iter().zip(&keys) {
            found.extend(batch.take::<Candidate>(key)?.map(|candidate| (shared.share, candidate)));
        }
        stream::iter(found.into_iter().map(Ok))
            // Each share is of another candidate, so these transactions do not conflict.
            .try_for_each_concurrent(WITHDRAWN_AT_ONCE, |(share, candidate)| {
                self.update_with_retry(candidate, move |before| {
                    let is_shared = before.shares.contains_key(&share);
                    let after = is_shared.then(|| Candidate::clone(before).without_share(share))?;
                    Some(self.change_candidate(before, &after.into(), now))
                })
            })
            .await
    }
}

impl Transaction {
    /// Writes and deletes the shares' items in the customers' partitions. Customers of new shares must exist and be active.
    pub(in crate::store) fn shares(&mut self, before: Option<&Candidate>, after: Option<&Candidate>) {
        let Some(Candidate { company, project, id, .. }) = after.or(before) else { return };
        let none = BTreeMap::new();
        let old = before.map_or(&none, |candidate| &candidate.shares);
        let new = after.map_or(&none, |candidate| &candidate.shares);
        for (share, customer) in new.iter().filter(|(share, _)| !old.contains_key(share)) {
            let missing = format!("Customer {customer} does not exist or is inactive.");
            // A customer whose deletion has begun is already inactive, so gets no new shares.
            self.require(keys::customer(company, *customer), IS_ACTIVE, Error::field("customer", missing));
            self.put_derived(keys::shares(company, *customer).key(share), note_of(*project, *id));
        }
        for (share, customer) in old.iter().filter(|(share, _)| !new.contains_key(share)) {
            self.delete_derived(keys::shares(company, *customer).key(share));
        }
    }
}

/// A share's item in the customer's partition, for this candidate.
fn note_of(project: ProjectId, candidate: CandidateId) -> Item {
    let [project, candidate] = [string(project.to_string()), string(candidate.to_string())];
    item::bare([("project", project), ("candidate", candidate)])
}

/// The items of a candidate's shares in the customers' partitions, with their keys.
pub(in crate::store) fn share_notes(candidate: &Candidate) -> impl Iterator<Item = (ItemKey, Item)> {
    SharedCandidate::all_of(candidate).map(|shared| {
        let key = keys::shares(&candidate.company, shared.customer).key(shared.share);
        (key, note_of(shared.project, shared.candidate))
    })
}
