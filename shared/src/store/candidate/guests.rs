//! Access patterns of guest links. Their candidate holds when each ends; the rest is an item of its own, since it is read and
//! written by guests.

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

// The history of the candidate tells of its creation and deletion. Only managers learn that a guest has opened the link.
impl StoredEntity for GuestLink {
    // Managers see the times, but a guest who opens a link must not fail its deletion with If-Match.
    const INTERNAL_FIELDS: &'static [&'static str] = &["last_opened_at", "opened_at", "requests"];

    fn key(&self) -> ItemKey {
        keys::guest_link(&self.company, self.project, self.candidate, self.id)
    }
}

impl Store {
    /// Creates a link of a candidate who is `after` with it. Links that `after` has dropped stay until the candidate is deleted, so that
    /// their keys can tell why they open nothing. Fails with [`Error::Changed`] after a concurrent write of the candidate.
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

    /// Withdraws a link of a candidate, which stops working with this write. Fails with [`Error::Changed`] after a concurrent
    /// write of either.
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

    /// Counts a request by a link, and its opening if the request `is_opening` it. Fails with [`Error::Throttled`] beyond so many in
    /// an hour, and with [`Error::NotFound`] if the link was deleted in the meantime.
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
            // Another guest was faster.
            let key = before.key();
            before = self.get([key.clone()]).await?.take(&key)?.ok_or(Error::NotFound)?;
            // The link was deleted in the meantime, and no longer keeps its openings.
            if before.withdrawn_at.is_some() {
                return Ok(before);
            }
        }
        // Requests that conflict so often use up the budget anyway.
        Err(Error::Throttled(TimeDelta::seconds(1)))
    }

    /// The links of a candidate that are listed, oldest first. Costs no call if there are none.
    pub async fn guest_links(
        &self,
        candidate: &Candidate,
        now: DateTime<Utc>,
    ) -> Result<Vec<VersionedItem<GuestLink>>> {
        let Candidate { company, project, id, .. } = candidate;
        let key = |link| keys::guest_link(company, *project, *id, link);
        self.listed(candidate.listed_guest_links(now).map(key).collect()).await
    }

    /// The links that a named token has made, expired ones included.
    // Reads all links of the company: tokens are rarely deleted with what they have made, and links are short.
    pub async fn guest_links_of_token(
        &self,
        company: &CompanyId,
        token: TokenId,
    ) -> Result<Vec<VersionedItem<GuestLink>>> {
        let creator = Some(Creator::NamedToken { token });
        self.all_wanted(keys::guest_links(company), |link: &GuestLink| link.created_by == creator).await
    }

    /// Deletes the links of a candidate who is deleted. Idempotent.
    pub async fn delete_guest_links(
        &self,
        company: &CompanyId,
        project: ProjectId,
        candidate: CandidateId,
    ) -> Result<()> {
        let query = Query::new(TABLE, string(keys::guest_links(company).pk))
            .starting_with(keys::guest_links_of(project, candidate));
        // All that there are: a restored table may hold links that the candidate did not know of.
        for key in item::keys_of(&self.query_rows(query, usize::MAX).await?)? {
            self.delete_alone(&key).await?;
        }
        Ok(())
    }
}
