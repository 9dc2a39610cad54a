//! Access patterns of guest links. The candidate's item holds when each link ends. The rest is an item of its own,
//! since guests read and write it.

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::account::Creator;
use crate::domain::candidate::{Candidate, GuestLink};
use crate::domain::id::{CandidateId, CompanyId, ProjectId, TokenId};
use crate::error::{Error, Result};
use crate::store::table::handle::Store;
use crate::store::table::item::{self, StoredEntity, VersionedItem, string};
use crate::store::table::keys::{self, ItemKey, TABLE};
use crate::store::table::read::query::Query;
use crate::store::table::retry::RetryPolicy;
use crate::store::table::write::transaction::Transaction;

// No history of its own: the candidate's history records creation and deletion, and only managers learn that a guest has opened the link.
impl StoredEntity for GuestLink {
    // Managers see the times, but a guest who opens a link must not make its deletion with `If-Match` fail.
    const INTERNAL_FIELDS: &'static [&'static str] = &["last_opened_at", "opened_at", "requests"];

    fn key(&self) -> ItemKey {
        keys::guest_link(&self.company, self.project, self.candidate, self.id)
    }
}

impl Store {
    /// Creates a guest link, and replaces its candidate by `after`. Links that `after` has dropped stay in the table
    /// until the candidate is deleted, so that their keys can tell why they open nothing. Fails with [`Error::Changed`]
    /// after a concurrent write of the candidate.
    pub fn create_guest_link(
        &self,
        before: &VersionedItem<Candidate>,
        after: Candidate,
        link: &GuestLink,
        now: DateTime<Utc>,
    ) -> Transaction {
        let mut transaction = self.transaction();
        transaction.change_candidate(before, &after.into(), now);
        transaction.create(link);
        transaction.require_creator(&link.company, link.created_by);
        transaction
    }

    /// Withdraws a guest link, which stops working with this write. Fails with [`Error::Changed`] after a concurrent
    /// write of the candidate or the link.
    pub fn delete_guest_link(
        &self,
        before: &VersionedItem<Candidate>,
        link: &VersionedItem<GuestLink>,
        now: DateTime<Utc>,
    ) -> Transaction {
        let after = Candidate::clone(before).without_guest_link(link.id);
        let mut transaction = self.transaction();
        transaction.change_candidate(before, &after.into(), now);
        transaction.replace(link, &GuestLink::clone(link).withdraw(now));
        transaction
    }

    /// Counts a request by a guest link and, if `is_opening`, notes that the link was opened. Fails with
    /// [`Error::Throttled`] above the hourly limit of requests, and with [`Error::NotFound`] if the link's item was
    /// deleted in the meantime.
    pub(crate) async fn count_guest_request(
        &self,
        link: VersionedItem<GuestLink>,
        is_opening: bool,
        now: DateTime<Utc>,
    ) -> Result<VersionedItem<GuestLink>> {
        let mut before = link;
        for _ in 0..RetryPolicy::CHANGE.attempts {
            let counted = GuestLink::clone(&before).requested(now).map_err(Error::Throttled)?;
            let opened = counted.opened(now).filter(|_| is_opening);
            match self.replace(&before, opened.unwrap_or(counted)).await {
                Err(Error::Changed) => {}
                written => return written,
            }
            // Another guest's request was faster.
            let key = before.key();
            before = self.get([key.clone()]).await?.take(&key)?.ok_or(Error::NotFound)?;
            // The link was withdrawn in the meantime, so its openings are no longer noted.
            if before.withdrawn_at.is_some() {
                return Ok(before);
            }
        }
        // A link with so many concurrent requests would soon reach the hourly limit anyway.
        Err(Error::Throttled(TimeDelta::seconds(1)))
    }

    /// The guest links of a candidate that managers see in the list, oldest first. Makes no call if there are none.
    pub async fn guest_links(
        &self,
        candidate: &Candidate,
        now: DateTime<Utc>,
    ) -> Result<Vec<VersionedItem<GuestLink>>> {
        let Candidate { company, project, id, .. } = candidate;
        let key = |link| keys::guest_link(company, *project, *id, link);
        self.listed(candidate.listed_guest_links(now).map(key).collect()).await
    }

    /// The guest links that a named token has created, including expired ones.
    // Reads all guest links of the company. That is acceptable, because tokens are rarely deleted with what they have
    // created, and links are short.
    pub async fn guest_links_of_token(
        &self,
        company: &CompanyId,
        token: TokenId,
    ) -> Result<Vec<VersionedItem<GuestLink>>> {
        let creator = Some(Creator::NamedToken { token });
        self.all_wanted(keys::guest_links(company), |link: &GuestLink| link.created_by == creator).await
    }

    /// Deletes the guest links of a deleted candidate. Idempotent.
    pub async fn delete_guest_links(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<()> {
        let query = Query::new(TABLE, string(keys::guest_links(company).pk))
            .starting_with(keys::guest_links_of(project, candidate));
        // Delete every link in the table: after a restore, there may be links that the candidate does not name.
        for key in item::keys_of(&self.query_rows(query, usize::MAX).await?)? {
            self.delete_alone(&key).await?;
        }
        Ok(())
    }
}
