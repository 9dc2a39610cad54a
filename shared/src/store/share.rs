//! Access patterns of shares: kept with their candidate, and noted with the customer whom they let read it.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use futures_util::{TryStreamExt as _, stream};
use serde::Deserialize;

use super::Store;
use super::item::{self, Item, VERSION, Versioned, number, string};
use super::keys;
use super::page::{Listing, PageRequest};
use super::transaction::Transaction;
use crate::domain::candidate::Candidate;
use crate::domain::id::{CandidateId, CompanyId, CustomerId, ProjectId, ShareId};
use crate::error::{Error, Result};

/// A candidate that is shared with a customer.
#[derive(Debug, Clone, Copy)]
pub struct Shared {
    /// The share.
    pub share: ShareId,
    /// The candidate's project.
    pub project: ProjectId,
    /// The candidate.
    pub candidate: CandidateId,
    /// The customer.
    pub customer: CustomerId,
}

/// What the item with a customer says of a share.
#[derive(Deserialize)]
pub(super) struct Note {
    project: ProjectId,
    candidate: CandidateId,
}

/// How often a candidate is tried again that others change at the same time.
const WITHDRAW_TRIES: usize = 5;
/// How many shares of a customer are withdrawn side by side.
const WITHDRAWN_AT_ONCE: usize = 8;

impl Store {
    /// What is shared with a customer, oldest first.
    pub async fn shared_with(&self, company: &CompanyId, customer: CustomerId) -> Result<Vec<Shared>> {
        let listing = Listing::All(keys::shares(company, customer));
        let all = PageRequest { number: 1, size: u32::MAX - 1, cursor: None };
        let mut found = Vec::new();
        for row in self.page_of_items(&listing, &all).await?.rows {
            let share = listing.id_in(&row)?.parse().map_err(Error::internal)?;
            let note = item::or_skipped(item::value_in::<Note>(&row))?;
            found.extend(note.map(|Note { project, candidate }| Shared {
                share,
                project,
                candidate,
                customer,
            }));
        }
        Ok(found)
    }

    /// Withdraws everything that is shared with a customer.
    ///
    /// # Errors
    /// [`Error::Changed`] when somebody keeps changing one of the candidates.
    pub(super) async fn withdraw_shares(
        &self,
        company: &CompanyId,
        customer: CustomerId,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let shares = self.shared_with(company, customer).await?;
        let key = |shared: &Shared| keys::candidate(company, shared.project, shared.candidate);
        let mut batch = self.get(shares.iter().map(key)).await?;
        let mut found = Vec::with_capacity(shares.len());
        for shared in shares {
            found.extend(batch.take::<Candidate>(&key(&shared))?.map(|candidate| (shared.share, candidate)));
        }
        stream::iter(found.into_iter().map(Ok))
            .try_for_each_concurrent(WITHDRAWN_AT_ONCE, |(share, candidate)| {
                self.withdraw(share, candidate, now)
            })
            .await
    }

    async fn withdraw(
        &self,
        share: ShareId,
        candidate: Versioned<Candidate>,
        now: DateTime<Utc>,
    ) -> Result<()> {
        let mut before = candidate;
        let mut tries = WITHDRAW_TRIES;
        while before.shares.contains_key(&share) {
            let after = Candidate::clone(&before).without_share(share);
            match self.commit(self.change_candidate(&before, &after.into(), now)).await {
                Err(Error::Changed) if tries > 0 => tries -= 1,
                Err(Error::NotFound) => break,
                outcome => return outcome,
            }
            let key = keys::candidate(&before.company, before.project, before.id);
            match self.get([key.clone()]).await?.take(&key)? {
                Some(now) => before = now,
                None => break,
            }
        }
        Ok(())
    }
}

impl Transaction {
    /// Makes what customers are told to be shared with them that which `after` says; whoever gets a share must exist.
    pub(super) fn shares(&mut self, before: Option<&Candidate>, after: Option<&Candidate>) {
        let Some(Candidate { company, project, id, .. }) = after.or(before) else { return };
        let none = BTreeMap::new();
        let old = before.map_or(&none, |candidate| &candidate.shares);
        let new = after.map_or(&none, |candidate| &candidate.shares);
        for (share, customer) in new.iter().filter(|(share, _)| !old.contains_key(share)) {
            let missing = format!("There is no customer {customer} who can log in.");
            self.require_flag(
                keys::customer(company, *customer),
                "is_active",
                Error::field("customer", missing),
            );
            let note = Item::from([
                ("project".to_owned(), string(project.to_string())),
                ("candidate".to_owned(), string(id.to_string())),
                (VERSION.to_owned(), number(1)),
            ]);
            self.put_derived(keys::shares(company, *customer).key(share), note);
        }
        for (share, customer) in old.iter().filter(|(share, _)| !new.contains_key(share)) {
            self.delete_derived(keys::shares(company, *customer).key(share));
        }
    }
}
